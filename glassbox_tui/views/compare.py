"""Two rankings side by side: what entered, what left, who moved. For branches of the loop, and for edits of the notes.

A chunk is the same one in both if uid and content agree; else if the content does (another chunk was put in before it,
the note was renamed); else if the uid does (its text was edited).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from glassbox_tui.retrieval.trace import Hit, Round
from glassbox_tui.views.plain import short_name

Say = Callable[..., str]  # ("English with {}", *values) -> the text in the reader's language
NAME_CELLS = 32
_GAP = 3
_STYLES = {"in": "green", "up": "green", "down": "red", "out": "red"}


@dataclass(frozen=True, slots=True)
class Change:
    """One chunk in both rankings: 1-based ranks, None where it is not among the hits.

    `uid` is its newest name, `was` the one it had before; they differ after a rename or an insertion above it.
    `edited`: the same place with another text. `elsewhere`: the rank beyond the hits of the ranking that lacks it,
    where that is known (see `compare`).
    """

    uid: str
    was: str
    before: int | None
    after: int | None
    edited: bool = False
    elsewhere: int | None = None

    @property
    def kind(self) -> str:
        """in, out, up, down, edited or same."""
        if self.before is None or self.after is None:
            return "in" if self.before is None else "out"
        if self.before != self.after:
            return "up" if self.after < self.before else "down"
        return "edited" if self.edited else "same"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`entered`, `moved` and `stayed` stand in the new order, `left` in the old one. `stayed` kept their rank."""

    entered: tuple[Change, ...]
    left: tuple[Change, ...]
    moved: tuple[Change, ...]
    stayed: tuple[Change, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """All that is worth telling: who entered, moved, was edited, and left."""
        return (*self.entered, *self.moved, *(c for c in self.stayed if c.edited), *self.left)


def compare(before: Round | Sequence[Hit], after: Round | Sequence[Hit], *, same_notes: bool = False) -> Comparison:
    """What became of the hits of `before` in `after`.

    With `same_notes` both rankings were made from the same state of the notes (two branches of one search): then a
    uid names the same chunk also beyond the hits, and who entered or left carries its rank in the other final list.
    """
    old, new = _hits(before), _hits(after)
    pairs = _matched(old, new)
    elsewhere_old, elsewhere_new = (_final_ranks(r) if same_notes else {} for r in (before, after))
    entered: list[Change] = []
    moved: list[Change] = []
    stayed: list[Change] = []
    for j, hit in enumerate(new):
        i = pairs.get(j)
        if i is None:
            entered.append(Change(hit.uid, hit.uid, None, j + 1, elsewhere=elsewhere_old.get(hit.uid)))
            continue
        change = Change(hit.uid, old[i].uid, i + 1, j + 1, edited=hit.content != old[i].content)
        (stayed if i == j else moved).append(change)
    kept = set(pairs.values())
    left = [
        Change(hit.uid, hit.uid, i + 1, None, elsewhere=elsewhere_new.get(hit.uid))
        for i, hit in enumerate(old)
        if i not in kept
    ]
    return Comparison(tuple(entered), tuple(left), tuple(moved), tuple(stayed))


def _hits(ranking: Round | Sequence[Hit]) -> Sequence[Hit]:
    return ranking.hits if isinstance(ranking, Round) else ranking


def _final_ranks(ranking: Round | Sequence[Hit]) -> dict[str, int]:
    final = ranking.stage("final") if isinstance(ranking, Round) else None
    return {c.uid: c.rank for c in final.candidates} if final else {}


def _matched(old: Sequence[Hit], new: Sequence[Hit]) -> dict[int, int]:
    """Places in `new` -> places in `old`, each used once; the surest ways to know a chunk again come first."""
    keys: tuple[Callable[[Hit], object], ...] = (
        lambda h: (h.uid, h.content),
        lambda h: (h.path, h.content),
        lambda h: h.content,
        lambda h: h.uid,
    )
    pairs: dict[int, int] = {}
    for key in keys:
        free: dict[object, list[int]] = {}
        for i, hit in enumerate(old):
            if i not in pairs.values():
                free.setdefault(key(hit), []).append(i)
        for j, hit in enumerate(new):
            if j not in pairs and free.get(key(hit)):
                pairs[j] = free[key(hit)].pop(0)
    return pairs


def english(text: str, *values: object) -> str:
    return text.format(*values)


def change_words(change: Change, *, say: Say = english, cells: int = NAME_CELLS) -> str:
    """`in lock.md#0 (new at 1)`, `up clock.md#1 5->2`, `out tea.md#0`: one chunk, its name in at most `cells` cells."""
    name = short_name(change.uid, cells, ellipsis="~")
    match change.kind:
        case "in" if change.elsewhere is not None:
            words = say("in {} {}->{}", name, change.elsewhere, change.after)
        case "in":
            words = say("in {} (new at {})", name, change.after)
        case "out" if change.elsewhere is not None:
            words = say("out {} {}->{}", name, change.before, change.elsewhere)
        case "out":
            words = say("out {} (was {})", name, change.before)
        case "up":
            words = say("up {} {}->{}", name, change.before, change.after)
        case "down":
            words = say("down {} {}->{}", name, change.before, change.after)
        case "edited":
            return say("edited {} (still {})", name, change.after)
        case _:
            return say("stays {} {}", name, change.after)
    if change.edited:
        words += say(" (edited)")
    elif change.was != change.uid:
        words += say(" (was {})", short_name(change.was, cells, ellipsis="~"))
    return words


def summary(comparison: Comparison, *, say: Say = english) -> str:
    """`1 in, 1 out, 2 moved, 5 stayed`, or that the ranking is the same."""
    edited = sum(c.edited for c in (*comparison.moved, *comparison.stayed))
    if not (comparison.entered or comparison.left or comparison.moved):
        return say("the same ranking ({} edited)", edited) if edited else say("the same ranking")
    counts = (
        (say("{} in", len(comparison.entered)), comparison.entered),
        (say("{} out", len(comparison.left)), comparison.left),
        (say("{} moved", len(comparison.moved)), comparison.moved),
        (say("{} stayed", len(comparison.stayed)), comparison.stayed),
    )
    return ", ".join(words for words, some in counts if some)


def comparison_lines(comparison: Comparison, width: int, *, say: Say = english) -> list[Text]:
    """All changes, as many to a line of `width` cells as fit; each stays whole, too long a one is cut."""
    told = (Text(change_words(c, say=say), _STYLES.get(c.kind, "")) for c in comparison.changes)
    lines = _packed(told, width)
    return lines or [Text(say("the same ranking"), "dim")]


def _packed(items: Iterable[Text], width: int) -> list[Text]:
    lines: list[Text] = []
    for item in items:
        if item.cell_len > width:
            item.truncate(max(0, width - 1), overflow="crop")
            item.append("~"[:width])
        if lines and cell_len(lines[-1].plain) + _GAP + item.cell_len <= width:
            lines[-1].append(" " * _GAP).append_text(item)
        else:
            lines.append(Text().append_text(item))
    return lines
