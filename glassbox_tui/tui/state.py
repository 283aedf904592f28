"""The one state of the app, and how events and keys change it: pure functions, no textual.

`View` is what is on screen. Widgets draw it and hold nothing of their own; the app replaces it and nobody else does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile

from glassbox_tui.notes.reading import NoteText
from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.moves import Pause
from glassbox_tui.retrieval.trace import Hit, IndexInfo, Round, Trace
from glassbox_tui.tui import branches, browsing, modelstate, sentences, writing
from glassbox_tui.tui.backend import Reply, Writer
from glassbox_tui.tui.branches import NO_BRANCHES, Branch, Loop
from glassbox_tui.tui.browsing import Browser, Leaf
from glassbox_tui.tui.checks import NEVER_RUN, Selftest, heard
from glassbox_tui.tui.closeup import PLAIN, Around, CloseUp
from glassbox_tui.tui.living import Living
from glassbox_tui.tui.messages import (
    AnswerDone,
    AnswerPiece,
    AnswerReading,
    AnswerStays,
    AnswerWaits,
    AroundRead,
    Changed,
    Checked,
    ChunksListed,
    Event,
    FolderFailed,
    FolderOpened,
    ListFailed,
    Measured,
    MeasureMoved,
    ModelsFailed,
    ModelsListed,
    ModelUsed,
    NoteRead,
    NotesListed,
    Opened,
    OpenFailed,
    Progressed,
    Refused,
    SearchDone,
    SearchFailed,
    SelftestDone,
    StepDone,
    StepFailed,
    Updated,
    UpdateFailed,
    WorkersGone,
)
from glassbox_tui.tui.modelstate import NO_MODELS, Models
from glassbox_tui.tui.reading import Reading, loaded, read_again
from glassbox_tui.tui.writing import Answers, Writing
from glassbox_tui.views.colours import Colours, carried
from glassbox_tui.views.look import Look
from glassbox_tui.views.ranks import in_order_of, ran

PANELS = ("hits", "flow", "evidence", "loop", "answer")
COLUMNS = ("rank", "score", "both")


OPENING = Progress("open", 0, 0)


@dataclass(frozen=True, slots=True)
class View:
    """Everything the screen shows.

    `run` is the newest search asked for; `shown` the one whose Trace is here. `round` None: the last. `selected` is
    (uid, content hash) of the hit the user moved to; None: whatever is on top. `told` is what the app says of the last
    command, until the next key. `first_time`: nobody has seen the welcome yet. `offline`: a saved Trace is replayed,
    there is no engine. `language` and `theme` are here so that a change of them is a change of the View. `loop` holds
    the branches of the query; `trace` is the one on screen. `reading`: the note in the reader, while that is open.
    `look`: what the terminal can draw. `sort` is the stage whose order the table has; `only` leaves the selected
    chunk's line alone in the rank flow; `colours` are those of the chunks on show.
    `scope` is the folder or note that is searched, "" for all; `rewriter`: how queries are rewritten in this
    session, one of `settings.REWRITERS` ("": as the settings say). `alone`: the panel has the whole screen. `typing`:
    the query box has the keys, so that letters are text. `answers`: who answers, and the answer that is being written.
    """

    notes: str = ""
    look: Look = "unicode"
    info: IndexInfo | None = None
    progress: Progress | None = OPENING
    problem: str = ""
    query: str = ""
    run: int = 0
    shown: int = 0
    rounds: bool = False
    trace: Trace | None = None
    failure: str = ""
    reply: Reply | None = None
    round: int | None = None
    selected: tuple[str, str] | None = None
    columns: str = "rank"
    sort: str = "final"
    only: bool = False
    colours: Colours = field(default_factory=Colours)
    panel: str = "hits"
    alone: bool = False
    typing: bool = False
    told: str = ""
    first_time: bool = False
    offline: bool = False
    language: str = "en"
    theme: str = "terminal"
    selftest: Selftest = NEVER_RUN
    loop: Loop = NO_BRANCHES
    closeup: CloseUp = PLAIN
    reading: Reading | None = None
    scope: str = ""
    rewriter: str = ""
    browser: Browser = field(default_factory=Browser)
    living: Living = field(default_factory=Living)
    models: Models = NO_MODELS
    answers: Answers = field(default_factory=Answers)

    @property
    def ascii(self) -> bool:
        """Whether our own drawing keeps to ASCII."""
        return self.look == "ascii"


def shown_round(view: View) -> Round | None:
    """The round every panel shows, or None when there is no Trace."""
    if view.trace is None:
        return None
    last = len(view.trace.rounds) - 1
    return view.trace.rounds[last if view.round is None else min(view.round, last)]


def listed_hits(view: View) -> tuple[Hit, ...]:
    """The hits of the shown round in the order of the table."""
    now, stage = shown_round(view), sorted_by(view)
    if now is None:
        return ()
    return now.hits if stage == "final" else in_order_of(stage, now.hits)


def sorted_by(view: View) -> str:
    """The stage whose order the table has: `view.sort`, unless that stage did not run."""
    now = shown_round(view)
    return view.sort if now is not None and view.sort in ran(now) else "final"


def selected_index(view: View) -> int:
    """0-based row of the selected hit in the table: the same chunk, else the same content, else the top."""
    if view.selected is None:
        return 0
    uid, content = view.selected
    hits = listed_hits(view)
    for same in (lambda h: (h.uid, h.content) == (uid, content), lambda h: h.content == content):
        for index, hit in enumerate(hits):
            if same(hit):
                return index
    return 0


def selected_hit(view: View) -> Hit | None:
    hits = listed_hits(view)
    return hits[selected_index(view)] if hits else None


def asks_again(view: View) -> bool:
    """Whether a change of the index is a reason to search again.

    A full run stays as it is, for its rounds are being read; unless it found the index still empty.
    """
    return bool(view.query.strip()) and (not view.rounds or _found_it_empty(view))


def came_too_early(view: View) -> bool:
    """Whether the search on screen began before anything was indexed, and something is by now."""
    filled = view.info is not None and view.info.chunks > 0
    return filled and bool(view.query.strip()) and not view.offline and _found_it_empty(view)


def _found_it_empty(view: View) -> bool:
    return view.run == view.shown and view.trace is not None and view.trace.index.chunks == 0


def ask(view: View, query: str, *, rounds: bool) -> View:
    """A new search is on its way (or, for a blank query, everything found so far is taken off the screen)."""
    asked = replace(view, query=query, run=view.run + 1, rounds=rounds, failure="")
    if query.strip():
        # While a question is being worded the chunk stays selected; another question begins at its first hit.
        return asked if _still(view.query, query) else replace(asked, selected=None)
    nothing = branches.trunk(view.loop, None)
    return replace(asked, shown=asked.run, trace=None, reply=None, round=None, selected=None, loop=nothing)


def _still(before: str, now: str) -> bool:
    """Whether `now` is the question `before`, worded on: at least half of it stands yet at its beginning and end."""
    head = _alike(before, now)
    return 2 * (head + _alike(before[head:][::-1], now[head:][::-1])) >= len(before)


def _alike(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def replayed(view: View, trace: Trace) -> View:
    """A saved Trace takes the place of what was searched last; a search that still runs is stale now."""
    run = view.run + 1
    fresh = replace(view, query=trace.query, run=run, shown=run, rounds=True)
    return replace(_on_branch(fresh, branches.trunk(view.loop, trace)), selected=None)


def select(view: View, index: int) -> View:
    """Select the hit in row `index` of the table, clamped to the list."""
    hits = listed_hits(view)
    if not hits:
        return view
    hit = hits[max(0, min(index, len(hits) - 1))]
    return replace(view, selected=(hit.uid, hit.content))


def step_sort(view: View, by: int) -> View:
    """Sort the table by the stage beside the present one (no further than the ends); the same chunk stays selected."""
    now = shown_round(view)
    if now is None:
        return view
    stages = ran(now)
    at = max(0, min(stages.index(sorted_by(view)) + by, len(stages) - 1))
    return replace(select(view, selected_index(view)), sort=stages[at])


def painted(view: View) -> View:
    """The view with a colour for each leading chunk of the shown round: who had one keeps it."""
    now = shown_round(view)
    colours = view.colours if now is None else carried(view.colours, now)
    return view if colours == view.colours else replace(view, colours=colours)


def step_round(view: View, by: int) -> View:
    now = shown_round(view)
    if view.trace is None or now is None:
        return view
    at = view.trace.rounds.index(now) + by
    return replace(view, round=max(0, min(at, len(view.trace.rounds) - 1)))


def next_columns(view: View) -> View:
    return replace(view, columns=COLUMNS[(COLUMNS.index(view.columns) + 1) % len(COLUMNS)])


def applied(view: View, event: Event) -> View:
    """The view after `event`. A result whose run is not the newest one is stale and changes nothing."""
    match event:
        case Opened(info):
            return replace(view, info=info)
        case Changed(info):  # what stood around a chunk may be other text now
            return replace(view, info=info, closeup=replace(view.closeup, around=None))
        case OpenFailed(reason):
            return replace(view, progress=None, problem=reason)
        case WorkersGone(reason):
            answers = writing.over(view.answers)
            gone = replace(view, info=None, progress=None, problem=reason, shown=view.run, answers=answers)
            if gone.reading is None or gone.reading.note is not None:
                return gone
            note = NoteText(gone.reading.path, problem=reason)
            return replace(gone, reading=loaded(gone.reading, note, *gone.reading.size))
        case Checked() | SelftestDone():
            return replace(view, selftest=heard(view.selftest, event))
        case Refused(reason):
            return replace(view, told=reason)
        case Progressed(progress):
            return replace(view, progress=progress)
        case Updated(info, problems):
            return replace(view, info=info, progress=None, problem=problems[0] if problems else "")
        case UpdateFailed(reason):
            return replace(view, progress=None, problem=reason)
        case SearchDone(run, trace, _) if run == view.run:
            # What changed while it ran has been told, and is newer than what it began with.
            info = view.info if view.info is not None else trace.index
            return replace(_on_branch(view, branches.trunk(view.loop, trace)), shown=run, info=info)
        case SearchFailed(run, reason) if run == view.run:
            return replace(_on_branch(view, branches.trunk(view.loop, None)), shown=run, failure=reason)
        case StepDone(run, pause, branch, kept) if run == view.run:
            if branch is None:
                loop = branches.first_step(view.loop, pause)
            else:
                loop = branches.stepped(view.loop, branch, kept, pause)
            return replace(_on_branch(view, loop), shown=run)
        case StepFailed(run, reason) if run == view.run:
            return replace(view, shown=run, told=sentences.told(reason))
        case Writer():
            return replace(view, answers=replace(view.answers, writer=event))
        case AnswerWaits(run) | AnswerReading(run) | AnswerPiece(run) if run == view.run:
            return replace(view, answers=writing.moved_on(view.answers, event, view.loop.answering))
        case AnswerDone(run, reply) if run == view.run:
            loop = branches.answered(view.loop, reply, by_model=being_written(view) is not None)
            return _answered(view, loop)
        case AnswerStays(run, reason) if run == view.run:
            return _answered(view, branches.noticed(view.loop, reason))
        case NoteRead(token, note) if view.reading is not None and token == view.reading.token:
            now, told = read_again(view.reading, note)
            return replace(view, reading=now, told=told or view.told)
        case AroundRead(uid, before, after):
            return replace(view, closeup=replace(view.closeup, around=Around(uid, before, after)))
        case NotesListed(notes):
            return replace(view, browser=browsing.listed(view.browser, notes))
        case ListFailed(reason):
            return replace(view, browser=replace(view.browser, failure=reason))
        case ChunksListed(path, chunks, opening):
            return replace(view, browser=browsing.looked_into(view.browser, Leaf(path, chunks, opening)))
        case ModelsListed(rows, place, notice):
            shown = replace(view, models=modelstate.listed(view.models, rows, place))
            return replace(shown, told=sentences.told(notice)) if notice else shown
        case ModelsFailed(reason):
            return replace(view, models=replace(view.models, failure=reason))
        case MeasureMoved(name, step):
            return replace(view, models=modelstate.stepped(view.models, name, step))
        case Measured(name, failure, _, notice):
            ended = replace(view, models=modelstate.ended(view.models, name, failure))
            return replace(ended, told=sentences.told(notice)) if notice else ended
        case ModelUsed(sentence):
            return replace(view, told=sentences.told(sentence))
        case FolderOpened(path, info):
            return elsewhere(view, path, info)
        case FolderFailed(reason):
            return replace(view, told=reason)
        case _:
            return view


def finished(view: View, event: Event) -> Trace | None:
    """The Trace of the run on screen, if `event` was the end of all its rounds."""
    match event:
        case SearchDone(run, trace, True) if run == view.run:
            return trace
        case StepDone(run, Pause(trace, None)) if run == view.run:
            return trace
        case _:
            return None


def _on_branch(view: View, loop: Loop) -> View:
    """The branch that `loop` has on screen, its last round."""
    branch = loop.branch
    trace = branch.trace if branch is not None else None
    reply, closeup = _reply(branch, view.answers), replace(view.closeup, source=0)
    return replace(view, loop=loop, trace=trace, reply=reply, round=None, failure="", closeup=closeup)


def _reply(branch: Branch | None, answers: Answers) -> Reply | None:
    """The branch's answer: the model's, or the one that quotes, as the person likes it."""
    if branch is None:
        return None
    return branch.reply if answers.by_model else branch.extract or branch.reply


def _answered(view: View, loop: Loop) -> View:
    """The answer that was being made is there, or will not come."""
    reply, closeup = _reply(loop.branch, view.answers), replace(view.closeup, source=0)
    return replace(view, reply=reply, loop=loop, closeup=closeup, answers=writing.over(view.answers))


def being_written(view: View) -> Writing | None:
    """The answer that the model is at work on, for whichever branch."""
    now = view.answers.writing
    return now if now is not None and now.run == view.run else None


def written_here(view: View) -> Writing | None:
    """The answer that takes the place of the one on screen."""
    now = being_written(view)
    return now if now is not None and now.branch == view.loop.current and view.answers.by_model else None


def shown_reply(view: View) -> Reply | None:
    """The answer as it is on screen: also one of which only a part is written."""
    now = written_here(view)
    return Reply("generate", now.text, stopped=True) if now is not None and now.text else view.reply


def ask_model(view: View) -> View:
    """The model is to answer from the evidence on screen, again or for the first time."""
    run = view.run + 1
    answers = replace(view.answers, chosen=True, writing=Writing(run, view.loop.current))
    loop = replace(view.loop, answering=view.loop.current)
    return replace(view, run=run, shown=run, answers=answers, loop=loop)


def answers_by_model(view: View, on: bool) -> View:
    """Show the model's answers, or the extracts that came before them."""
    answers = replace(view.answers, chosen=on)
    return replace(
        view, answers=answers, reply=_reply(view.loop.branch, answers), closeup=replace(view.closeup, source=0)
    )


def switch_branch(view: View, by: int) -> View:
    """The next branch, or one before; nothing where there is only one, or while a step is being made."""
    if len(view.loop.branches) < 2 or view.run != view.shown:
        return view
    return _on_branch(view, branches.switched(view.loop, by))


def ask_step(view: View) -> View:
    """A step is on its way."""
    return replace(view, run=view.run + 1, rounds=True, failure="")


def elsewhere(view: View, path: str, info: IndexInfo) -> View:
    """Another folder: nothing of the one before is shown any more, the question stays to be asked of the new one."""
    return replace(
        view,
        notes=path,
        info=info,
        progress=Progress("scan", 0, 0),
        problem="",
        run=view.run + 1,
        shown=view.run + 1,
        trace=None,
        failure="",
        reply=None,
        round=None,
        selected=None,
        loop=NO_BRANCHES,
        closeup=PLAIN,
        scope="",
        browser=Browser(),
        living=Living(paused=view.living.paused),
    )


def within(view: View, scope: str) -> View:
    """Search only in `scope` from now on."""
    return replace(view, scope=scope)


def on_panel(view: View, name: str) -> View:
    return replace(view, panel=name)


def toggle_alone(view: View) -> View:
    return replace(view, alone=not view.alone)
