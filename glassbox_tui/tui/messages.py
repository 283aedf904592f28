"""What the app asks of the workers, and what they tell it: frozen values that can cross a pipe.

A request that has a result carries a number (`run`), and so does the result: the app drops what it no longer waits for.
"""

from __future__ import annotations

from dataclasses import dataclass

from glassbox_tui.models.rows import ModelRow
from glassbox_tui.notes.reading import NoteText
from glassbox_tui.notes.watch import Mode
from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.listing import ChunkInfo, NoteInfo
from glassbox_tui.retrieval.moves import Move, Pause
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.tui.backend import Reply, Writer

# -- requests ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Search:
    """Search for this next; it takes the place of a search that waits and cancels the one that runs.

    `rounds` asks for rewrite rounds and an answer; `scope` names the folder or note to search in, "" all of them.
    `by_model`: whether a model, if one serves, writes the answer; None: as the settings say.
    `rewriter` is one of `settings.REWRITERS`, "" what the settings say.
    """

    run: int
    query: str
    rounds: bool
    scope: str = ""
    by_model: bool | None = None
    rewriter: str = ""


@dataclass(frozen=True, slots=True)
class MakeStep:
    """Make a move in the loop, from round `kept` of branch `branch`; None: it is a first round.

    `go_on` asks for a proposal after it; where none comes, the loop has ended and the answer follows, written
    `by_model` or not. `rewriter`: as in Search.
    """

    run: int
    move: Move
    go_on: bool = True
    branch: int | None = None
    kept: int = 0
    by_model: bool | None = None
    rewriter: str = ""


@dataclass(frozen=True, slots=True)
class MakeExtract:
    """Quote the evidence of `trace`; `by_model` asks for an answer of the model's after it."""

    run: int
    trace: Trace
    by_model: bool | None = None


@dataclass(frozen=True, slots=True)
class MakeAnswer:
    """Have the model answer from the evidence of `trace`. It takes the place of one that waits and ends one that runs.

    So does every search, step and answer with a higher run: nobody would see what is written for a lower one.
    """

    run: int
    trace: Trace


@dataclass(frozen=True, slots=True)
class StopAnswer:
    """End the model's answers of runs up to this one; what is written by then is the answer."""

    run: int


@dataclass(frozen=True, slots=True)
class Refresh:
    """Read the folder again as soon as no update runs. `quiet`: nobody asked, so only what takes long is told."""

    quiet: bool = False


@dataclass(frozen=True, slots=True)
class PauseEmbedding:
    """Leave what is to be embedded for later (`on`), or go on with it."""

    on: bool


@dataclass(frozen=True, slots=True)
class RunSelftest:
    """Check the invariants, in a lane of its own; `run` tags what comes of it."""

    run: int


@dataclass(frozen=True, slots=True)
class ReadNote:
    """Read a note's text for the reader; `token` comes back with it."""

    token: int
    path: str


@dataclass(frozen=True, slots=True)
class ListNotes:
    """Say what became of every file of the folder."""


@dataclass(frozen=True, slots=True)
class ListChunks:
    """Say what is inside one note."""

    path: str


@dataclass(frozen=True, slots=True)
class ReadAround:
    """Fetch what stands around a chunk in its note."""

    uid: str


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """Go on with another folder of notes, given by its absolute path. An update that runs is stopped for it."""

    path: str


@dataclass(frozen=True, slots=True)
class ListModels:
    """Say which models there are, and which of them serve."""


@dataclass(frozen=True, slots=True)
class MeasureModel:
    """Measure how fast that model is here, in a lane of its own."""

    name: str


@dataclass(frozen=True, slots=True)
class StopMeasuring:
    """End the measurement that runs."""


@dataclass(frozen=True, slots=True)
class UseModel:
    """Let that generator write, until the end of the session."""

    name: str


Request = (
    Search
    | MakeStep
    | MakeExtract
    | MakeAnswer
    | StopAnswer
    | Refresh
    | PauseEmbedding
    | RunSelftest
    | ReadNote
    | ReadAround
    | ListNotes
    | ListChunks
    | OpenFolder
    | ListModels
    | MeasureModel
    | StopMeasuring
    | UseModel
)


# -- events ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """The index is open: searches can run."""

    info: IndexInfo


@dataclass(frozen=True, slots=True)
class OpenFailed:
    """There is no index to search; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """Opening or indexing moved on."""

    progress: Progress


@dataclass(frozen=True, slots=True)
class Changed:
    """While indexing goes on: a search would now see something new. `edited`: because notes changed under our eyes."""

    info: IndexInfo
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Updated:
    """The index is as the folder is; `problems` is a sentence each. `pending` chunks wait to be embedded."""

    info: IndexInfo
    problems: tuple[str, ...] = ()
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """How changes of the folder are noticed from now on."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class EmbeddingHeld:
    """Another embedder would embed a large index anew: it waits until the person says so. `plan` is a sentence."""

    plan: str


@dataclass(frozen=True, slots=True)
class UpdateFailed:
    """Indexing stopped; what was there before is still searched."""

    reason: str


@dataclass(frozen=True, slots=True)
class SearchDone:
    """Run number `run` is finished. `rounds`: it was a full run, not one of those made while typing."""

    run: int
    trace: Trace
    rounds: bool


@dataclass(frozen=True, slots=True)
class SearchFailed:
    run: int
    reason: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """The step is made: there are more rounds now, a proposal, or an end. `branch` and `kept` as they were asked."""

    run: int
    pause: Pause
    branch: int | None = None
    kept: int = 0


@dataclass(frozen=True, slots=True)
class StepFailed:
    """The step could not be made; what was there before stands."""

    run: int
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The extract; where a model serves, its answer takes the extract's place later."""

    run: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class AnswerWaits:
    """The model's answer is next: the one before is being stopped."""

    run: int


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """The model has read `done` of the `total` tokens of its prompt; 0 of 0: it begins."""

    run: int
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """What the model has written so far."""

    run: int
    text: str


@dataclass(frozen=True, slots=True)
class AnswerStays:
    """The model wrote nothing: the answer that is there stays. `reason` is one sentence."""

    run: int
    reason: str


@dataclass(frozen=True, slots=True)
class NoteRead:
    token: int
    note: NoteText


@dataclass(frozen=True, slots=True)
class AroundRead:
    uid: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NotesListed:
    """Every file of the folder, by path."""

    notes: tuple[NoteInfo, ...]


@dataclass(frozen=True, slots=True)
class ListFailed:
    """The files could not be listed; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class ChunksListed:
    """The chunks of a note, their texts cut short, and how its text begins."""

    path: str
    chunks: tuple[ChunkInfo, ...]
    opening: str


@dataclass(frozen=True, slots=True)
class FolderOpened:
    """Everything that is told from now on is of this folder, and so is what is asked."""

    path: str
    info: IndexInfo


@dataclass(frozen=True, slots=True)
class FolderFailed:
    """The other folder could not be opened, the one before is still there; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkersGone:
    """The process behind the app ended; `reason` is one sentence. A refresh starts another."""

    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """An invariant of the selftest was checked: the `done`th of `total`."""

    run: int
    group: str
    name: str
    ok: bool
    detail: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SelftestDone:
    """The selftest ended; `failure` is a sentence if it could not go on."""

    run: int
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """Every model, by kind. `place`: the folder they are kept in; `notice`: a sentence, or ""."""

    rows: tuple[ModelRow, ...]
    place: str
    notice: str = ""


@dataclass(frozen=True, slots=True)
class ModelsFailed:
    """The models could not be listed; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class MeasureMoved:
    """The measurement of a model moved on."""

    name: str
    step: Progress


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of a model is over: done, `stopped`, or it failed. `notice`: the figures could not be kept."""

    name: str
    failure: str = ""
    stopped: bool = False
    notice: str = ""


@dataclass(frozen=True, slots=True)
class ModelUsed:
    """Another model writes from now on; or `sentence` says why it cannot."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Whatever was asked last cannot be had here; `reason` is one sentence."""

    reason: str


Event = (
    Watched
    | EmbeddingHeld
    | Opened
    | OpenFailed
    | Progressed
    | Changed
    | Updated
    | UpdateFailed
    | SearchDone
    | SearchFailed
    | StepDone
    | StepFailed
    | Writer
    | AnswerDone
    | AnswerWaits
    | AnswerReading
    | AnswerPiece
    | AnswerStays
    | NoteRead
    | AroundRead
    | NotesListed
    | ListFailed
    | ChunksListed
    | FolderOpened
    | FolderFailed
    | WorkersGone
    | Checked
    | SelftestDone
    | ModelsListed
    | ModelsFailed
    | MeasureMoved
    | Measured
    | ModelUsed
    | Refused
)
