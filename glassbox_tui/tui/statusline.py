"""The first line: what is searched, with which models, how far indexing is, how long the last search took."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.text import Text

from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.trace import IndexInfo
from glassbox_tui.tui.answerlines import status_words
from glassbox_tui.tui.cells import DIM, HEAD, KEY, WARN, ends
from glassbox_tui.tui.conditions import home, middle
from glassbox_tui.tui.estimate import duration
from glassbox_tui.tui.living import mode_words
from glassbox_tui.tui.state import View, shown_round
from glassbox_tui.tui.words import later, say
from glassbox_tui.views.plain import clip
from glassbox_tui.views.plain import line as plain

_PATH = 12  # cells that the path keeps while anything less telling can yield
_SCOPE = 26  # cells of "only in folder/"
_MODEL = 24  # cells of a model's name
_PHASES = {
    "open": later("opening"),
    "scan": later("looking for notes"),
    "text": later("reading"),
    "embed": later("embedding"),
    "plan": later("embedding"),
    "model": later("preparing the model"),
}
_TIMED = ("bm25", "dense", "rerank")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the line. Where not all fit, the one with the largest `yields` goes first; 0 stays."""

    text: Text
    yields: int = 0
    right: bool = False
    name: bool = False  # it stands before the path


def status(view: View, width: int, height: int) -> list[Text]:
    """One line of `width` cells. A long path is shortened in the middle; it never pushes the counts out."""
    pieces = _pieces(view)
    path = home(view.notes)
    wanted = min(_PATH, cell_len(plain(path)))
    while (room := _room(pieces, width)) < wanted and any(p.yields for p in pieces):
        pieces.remove(max(pieces, key=lambda p: p.yields))
    place = [Piece(Text("  " + middle(path, room), KEY))] if room > 0 else []
    named = sum(p.name for p in pieces)
    left = [p.text for p in (*pieces[:named], *place, *pieces[named:]) if not p.right]
    return [ends(Text().join(left), Text().join(p.text for p in pieces if p.right), width)]


def _room(pieces: list[Piece], width: int) -> int:
    """Cells that are left for the path, with two blanks before it and one before what stands at the right end."""
    return width - 3 - sum(p.text.cell_len for p in pieces)


def progress_words(progress: Progress) -> str:
    """ "reading 120/1,067": how far the work is, in as few words as possible."""
    words = say(_PHASES.get(progress.phase, plain(progress.phase)))
    if progress.total:
        left = f", {duration(progress.left)}" if progress.left is not None else ""
        return f"{words} {progress.done:,}/{progress.total:,}{left}"
    return f"{words} {progress.done:,}" if progress.done else f"{words} ..."


def _index(info: IndexInfo) -> list[Piece]:
    whole = info.dense_coverage >= 1 or not info.chunks
    embedder = clip(plain(info.embedder), _MODEL, ellipsis="~") or say("no embedder")
    reranker = clip(plain(info.reranker), _MODEL, ellipsis="~") or say("rerank off")
    return [
        Piece(Text("  " + say("{} notes", f"{info.notes:,}"))),
        Piece(Text("  " + say("{} chunks", f"{info.chunks:,}")), 4),
        Piece(Text(f"  dense {info.dense_coverage:.0%}", "" if whole else WARN)),
        Piece(Text("  " + embedder, DIM), 6),
        Piece(Text("  " + reranker, DIM), 5),
    ]


def _pieces(view: View) -> list[Piece]:
    name = Piece(Text(" glassbox", HEAD), 3, name=True)
    index = [] if view.info is None else _index(view.info)
    scope = (
        [Piece(Text("  " + clip(say("only in {}", plain(view.scope)), _SCOPE, ellipsis="~"), WARN))]
        if view.scope
        else []
    )
    # Where it is not "watching" a notice says so, too.
    watch = [Piece(Text("  " + mode_words(view.living.mode), DIM), 4)] if view.living.mode is not None else []
    doing = view.progress
    now = _timings(view) if doing is None or doing.phase == "done" else _working(doing)  # what is over tells nothing
    return [name, *scope, *index, *watch, *now]


def _working(progress: Progress) -> list[Piece]:
    bare = progress_words(replace(progress, left=None))
    estimate = progress_words(progress).removeprefix(bare)
    return [
        Piece(Text(bare, WARN), right=True),
        Piece(Text(estimate, WARN), 2, right=True),
        Piece(Text(" "), right=True),
    ]


def _timings(view: View) -> list[Piece]:
    if words := status_words(view):
        return [Piece(Text(words + " ", WARN), right=True)]
    if view.run != view.shown and view.rounds:
        return [Piece(Text(say("running the rounds ...") + " ", WARN), right=True)]
    now = shown_round(view)
    if view.trace is None or now is None:
        return []
    total = view.trace.timings_ms.get("total")
    stages = "".join(f"  {s.name} {s.ms:.0f}" for s in now.stages if s.name in _TIMED)
    whole = [] if total is None else [Piece(Text(f"{total:.0f} ms "), right=True)]
    return [*whole, Piece(Text(f" {stages} ", DIM), 7, right=True)]
