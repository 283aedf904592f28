"""What the app asks of an engine, and the real engine behind it.

The Protocol is small on purpose: the tests hand in a scripted backend, and the app cannot reach past it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from glassbox_tui.models.chat import ReadingFn
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.notes.reading import NoteText
from glassbox_tui.notes.watch import Mode
from glassbox_tui.progress import CancelledFn, ProgressFn
from glassbox_tui.retrieval.listing import ChunkInfo, NoteInfo, opening
from glassbox_tui.retrieval.moves import Move, Pause
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.settings import Settings

# An editor may take a note away for a moment to save it: one that is missing for less is not gone.
SAVE_SECONDS = 0.4
BY_HAND = "in use: chosen here, until the end of the session"
STOPPED = "stopped before a word was written: this is an extract"
LOCKED = "another process is indexing this folder; what is indexed so far is searched"

if TYPE_CHECKING:
    from glassbox_tui import Engine
    from glassbox_tui.answer.claims import Claim, ClaimSource
    from glassbox_tui.answer.record import Answer, Citation

# Characters of each chunk, and of a note, that the browser shows.
CHUNK_START, OPENING = 240, 4_000


@dataclass(frozen=True, slots=True)
class Source:
    """One citation of an answer: [number] stands in the text; `where` is path:first-last, as it is shown.

    `uid` is the hit that it stands for, `lines` are 1-based and inclusive. path "": it leads nowhere. Number 0: the
    answer does not cite it, but a sentence of it rests on these lines.
    """

    number: int
    where: str
    uid: str = ""
    path: str = ""
    lines: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence of an answer that its reader should doubt: a claim as `views.answer` reads it. `nearest`: where the
    best there is for it stands; `span` [start, end): where it stands in the answer, empty if that is not known."""

    text: str
    support: float
    verdict: str
    missing: tuple[str, ...] = ()
    cited: tuple[int, ...] = ()
    citation: str = ""
    nearest: str = ""
    source: None = None
    span: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as the app shows it. `mode`: extract, generate or none; `notice` adds to it or explains its absence.

    `checked` sentences were held against the evidence; `doubts` are those that did not stand. Of a generated one:
    `model` wrote it from `prompt`, (role, text) of each message; `dropped` are the hits that are not in it;
    `stopped`: it was ended early.
    """

    mode: str
    text: str
    sources: tuple[Source, ...] = ()
    notice: str = ""
    checked: int = 0
    doubts: tuple[Doubt, ...] = ()
    model: str = ""
    prompt: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Writer:
    """The model that writes answers, "" for none: then they are extracts. `on`: the settings want it asked; `why` is a
    sentence: why it serves, or why none does."""

    name: str
    on: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class ModelList:
    """Every model, by kind. `place`: the folder they are kept in; `notice`: a sentence on what is amiss, or ""."""

    rows: tuple[ModelRow, ...]
    place: str
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an update: what went wrong, a sentence each; how many chunks wait to be embedded.

    `locked`: another process writes this index, and nothing was done.
    """

    problems: tuple[str, ...] = ()
    pending: int = 0
    locked: bool = False


class Backend(Protocol):
    """An opened index. `search`, `extract`, `answer` and `update` are each called from a thread of their own."""

    def info(self) -> IndexInfo: ...

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn, scope: str = "", rewriter: str = "") -> Trace:
        """One Trace; `rounds` False: somebody types, so it is the first round only, no language model is asked, and
        the last word may be half a word. May raise Cancelled once `cancelled()` is true."""
        ...

    def step(self, move: Move, *, go_on: bool, cancelled: CancelledFn, rewriter: str = "") -> Pause:
        """Make a move in the loop (see `retrieval.stepping.step`). May raise Cancelled."""
        ...

    def writer(self) -> Writer:
        """Who writes answers; takes no time, for nothing is loaded."""
        ...

    def extract(self, trace: Trace) -> Reply:
        """The best sentences of the evidence."""
        ...

    def answer(self, trace: Trace, *, reading: ReadingFn, piece: PieceFn, cancelled: CancelledFn) -> Reply:
        """What the model writes from the evidence. `reading` hears how far the prompt is read, `piece` what is added.

        Ends within two seconds of `cancelled()`, with what there is by then; may raise Cancelled if that is nothing.
        """
        ...

    def update(
        self, *, progress: ProgressFn, cancelled: CancelledFn, changed: Callable[[], None], hold: CancelledFn
    ) -> Outcome:
        """Bring the index up to date with the folder.

        `changed` is called whenever a search would see something new. Raises Cancelled once `cancelled()` is true; once
        `hold()` is, the rest of the embedding is left for another update.
        """
        ...

    def new_embedder(self) -> str:
        """A sentence, where an update would embed a large index anew, for another embedder has embedded it; else ""."""
        ...

    def watch(self, changed: Callable[[], None], mode: Callable[[Mode], None], stop: threading.Event) -> None:
        """Call `changed` whenever the folder may have changed, until `stop` is set; `mode` hears how it is noticed."""
        ...

    def selftest(self, heard: CheckFn) -> None:
        """Check the invariants, telling `heard` of each; what it raises ends the run."""
        ...

    def note_text(self, path: str) -> NoteText:
        """A note for the reader; never raises. May be called while `search` and `update` run."""
        ...

    def text_around(self, uid: str) -> tuple[str, str]:
        """What stands before and after a chunk in its note, as indexed."""
        ...

    def files(self) -> tuple[NoteInfo, ...]:
        """Every file of the folder, with what became of it."""
        ...

    def chunks(self, path: str) -> tuple[tuple[ChunkInfo, ...], str]:
        """The chunks of a note, their texts cut short, and how its text begins."""
        ...

    def models(self) -> ModelList:
        """Every model there is, and which of them serve here."""
        ...

    def measure(self, name: str, progress: ProgressFn, cancelled: CancelledFn) -> str:
        """Measure a model that is here and keep the figures; returns "" or why they could not be kept.

        Called while all else goes on. Raises ModelError; Cancelled once `cancelled()` is true.
        """
        ...

    def use_generator(self, name: str) -> str:
        """Let that model write from now on; a sentence on it. Raises ModelError."""
        ...

    def sibling(self, notes: Path) -> Backend:
        """Another folder of notes, opened with the models that are loaded here."""
        ...

    def close(self) -> None: ...


# (group, name, whether it holds, what was compared, how many are done, of how many)
CheckFn = Callable[[str, str, bool, str, int, int], None]
PieceFn = Callable[[str], None]
OpenBackend = Callable[[ProgressFn], Backend]
OpenAt = Callable[[Path, ProgressFn], Backend]


def opener(notes: Path, settings: Settings) -> OpenBackend:
    """A callable that opens the real engine on `notes`. Nothing heavy is imported before it is called."""

    def open_engine(progress: ProgressFn) -> Backend:
        from glassbox_tui import Engine

        return EngineBackend(Engine.open(notes, settings, progress=progress))

    return open_engine


class EngineBackend:
    """The Python door (`glassbox_tui.Engine`) seen through the Protocol."""

    def __init__(self, engine: Engine, *, by_hand: bool = False) -> None:
        self._engine = engine
        self._by_hand = by_hand  # the generator was chosen by the person, for this session

    def info(self) -> IndexInfo:
        return self._engine.info()

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn, scope: str = "", rewriter: str = "") -> Trace:
        return self._engine.search(
            query,
            max_rewrites=None if rounds else 0,
            cancelled=cancelled,
            scope=scope,
            hurried=not rounds,
            typing=not rounds,
            rewriter=rewriter or self._engine.settings.rewriter,
        )

    def step(self, move: Move, *, go_on: bool, cancelled: CancelledFn, rewriter: str = "") -> Pause:
        from glassbox_tui.retrieval.stepping import step

        return step(self._engine, move, go_on=go_on, cancelled=cancelled, rewriter=rewriter or None)

    def writer(self) -> Writer:
        from glassbox_tui.models.generators import choose

        settings = self._engine.settings
        chosen = choose(settings)
        name = chosen.entry.name if chosen.entry is not None else chosen.server
        return Writer(name, settings.answers == "auto", chosen.why)

    def extract(self, trace: Trace) -> Reply:
        from glassbox_tui.answer.answers import answer

        return _reply(answer(trace, self._engine, by_model=False))

    def answer(self, trace: Trace, *, reading: ReadingFn, piece: PieceFn, cancelled: CancelledFn) -> Reply:
        from glassbox_tui.answer.answers import answer

        found = answer(trace, self._engine, by_model=True, reading=reading, piece=piece, cancelled=cancelled)
        return _reply(found)

    def update(
        self, *, progress: ProgressFn, cancelled: CancelledFn, changed: Callable[[], None], hold: CancelledFn
    ) -> Outcome:
        report = self._engine.update(progress, cancelled, changed, hold, SAVE_SECONDS)
        if report.locked:
            return Outcome((LOCKED,), locked=True)
        problems = (*map(str, report.kept), *(f"{path}: {reason}" for path, reason in report.problems))
        return Outcome(problems, report.pending)

    def new_embedder(self) -> str:
        return str(self._engine.new_embedder() or "")

    def watch(self, changed: Callable[[], None], mode: Callable[[Mode], None], stop: threading.Event) -> None:
        from glassbox_tui.notes.ignore import rules_of
        from glassbox_tui.notes.watch import watch

        if self._engine.root is not None:
            watch(self._engine.root, changed, mode, stop, rules_of(self._engine.settings))

    def selftest(self, heard: CheckFn) -> None:
        from glassbox_tui.selftest.run import invariants, run

        total, done = len(invariants()), count(1)
        run(self._engine.settings, None, lambda c: heard(c.group, c.name, c.ok, c.detail, next(done), total))

    def note_text(self, path: str) -> NoteText:
        return self._engine.note_text(path)

    def text_around(self, uid: str) -> tuple[str, str]:
        return self._engine.text_around(uid)

    def files(self) -> tuple[NoteInfo, ...]:
        return tuple(self._engine.files())

    def chunks(self, path: str) -> tuple[tuple[ChunkInfo, ...], str]:
        found = self._engine.chunks(path)
        return tuple(replace(chunk, text=chunk.text[:CHUNK_START]) for chunk in found), opening(found, OPENING)

    def models(self) -> ModelList:
        from glassbox_tui.models.listing import model_rows
        from glassbox_tui.models.speed import read

        settings = self._engine.settings
        rows = model_rows(settings)
        if self._by_hand:
            rows = [replace(r, why=BY_HAND) if r.in_use and r.entry.kind == "generator" else r for r in rows]
        _, fault = read(settings.models_dir)
        return ModelList(tuple(rows), str(settings.models_dir), fault)

    def measure(self, name: str, progress: ProgressFn, cancelled: CancelledFn) -> str:
        from glassbox_tui.models.measuring import measure_here

        _, notice = measure_here(name, self._engine.settings, progress, cancelled)
        return notice

    def use_generator(self, name: str) -> str:
        from glassbox_tui.models.listing import model_rows, row_of

        row = row_of(name, model_rows(self._engine.settings))
        if not row.present:
            raise ModelError(row.why)
        self._engine.use_model(row.path)
        self._by_hand = True
        return f"{row.entry.name} writes from now on, until the end of the session"

    def sibling(self, notes: Path) -> Backend:
        return EngineBackend(self._engine.sibling(notes), by_hand=self._by_hand)

    def close(self) -> None:
        self._engine.close()


def _reply(found: Answer) -> Reply:
    from glassbox_tui.tui.marks import spans
    from glassbox_tui.views.answer import is_doubtful

    doubtful = [claim for claim in found.claims if is_doubtful(claim)]
    return Reply(
        mode=found.mode,
        text=found.text,
        sources=(*map(_source, found.citations), *_uncited(found)),
        notice=found.notice,
        checked=len(found.claims),
        doubts=tuple(map(_doubt, doubtful, spans(found.text, [claim.text for claim in doubtful]))),
        model=found.model,
        prompt=tuple((message.role, message.text) for message in found.prompt),
        dropped=found.dropped,
        stopped=found.stopped,
    )


def _doubt(claim: Claim, span: tuple[int, int]) -> Doubt:
    from glassbox_tui.views.answer import nearest

    where = nearest(claim.source) if claim.source else ""
    return Doubt(claim.text, claim.support, claim.verdict, claim.missing, claim.cited, claim.citation, where, span=span)


def _uncited(found: Answer) -> Iterator[Source]:
    """What sentences of a generated answer rest on though they do not cite it: each place once."""
    seen = set[tuple[str, tuple[int, int]]]()
    for claim in found.claims if found.mode == "generate" else ():
        at = claim.source
        if at is not None and claim.citation == "missing" and (at.path, at.lines) not in seen:
            seen.add((at.path, at.lines))
            yield replace(_source(at), number=0)


def _source(place: Citation | ClaimSource) -> Source:
    first, last = place.lines
    page = "" if place.page is None else f" p.{place.page}"
    where = f"{place.path}{page}:{first}" + ("" if first == last else f"-{last}")
    return Source(place.number or 0, where, place.uid, place.path, place.lines)
