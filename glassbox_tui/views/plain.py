"""Note text on its way to a screen: made harmless, measured in cells, cut to fit. Nothing here parses markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from unicodedata import bidirectional

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from glassbox_tui.retrieval.reasons import (
    AGAINST,
    ASKED_DENSE,
    LEVEL_WORDS,
    NO_CHUNK,
    NO_SIGNAL,
    SIGNAL_WORDS,
    TOO_LOW,
    UNKNOWN,
    UNSURE,
    Say,
    against,
    english,
)
from glassbox_tui.retrieval.trace import LEVELS, START, VECTORS_MISSING, Grade, Hit, Round, Signal
from glassbox_tui.text.normalize import visible

ABSENT = "-"  # a dash proper is of ambiguous width

# Terminals disagree on how many cells a sequence of emoji takes, and agree on its parts: joiners, variation selectors,
# skin tones and keycaps go, the letters of a flag become letters.
_UNSTEADY: dict[int, str | None] = {
    **dict.fromkeys((0x200D, 0x20E3, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400)), None),
    **{0x1F1E6 + i: chr(ord("A") + i) for i in range(26)},
}
_unsteady = re.compile("[\u200d\u20e3\ufe00-\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
_rtl = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
# A blank that is strong left-to-right for the bidi algorithm (UAX #9), as the marks made for it are, but a character of
# one cell: some terminals lose what stands after one of none.
_EDGE = "\u2800"


def line(text: str) -> str:
    """`text` on one line, with everything a terminal could obey made visible, as wide in every terminal."""
    return bounded(steady(visible(text, keep_newlines=False)))


def steady(text: str) -> str:
    """`text` without what terminals give different widths: each character takes its own cells, whatever is beside it.

    Character by character, so a text may be cut anywhere before or after.
    """
    return text if text.isascii() else text.translate(_UNSTEADY)


def is_steady(text: str) -> bool:
    """Whether `steady` leaves it as it is."""
    return text.isascii() or _unsteady.search(text) is None


def bounded(text: str) -> str:
    """`text` with a blank at each end where its letters run from right to left.

    A terminal that reorders them then does so inside the text; the numbers in the columns beside it stay there.
    """
    if text.isascii() or not _rtl.search(text):
        return text
    before = "" if _left_to_right(text) else _EDGE
    return before + text + right_edge(text)


def right_edge(text: str) -> str:
    """The blank that must follow `text`, empty if its last letter runs from left to right."""
    return "" if text.isascii() or not _rtl.search(text) or _left_to_right(reversed(text)) else _EDGE


def _left_to_right(text: Iterable[str]) -> bool:
    """Whether the first strong character is one from left to right."""
    return next((kind for kind in map(bidirectional, text) if kind in ("L", "R", "AL")), "L") == "L"


def block(text: str) -> str:
    """`text` with its line breaks, with everything else a terminal could obey made visible."""
    return visible(text, keep_newlines=True)


def styled(text: str, style: str = "") -> Text:
    """One line of foreign text as rich Text: literal, never markup."""
    return Text(line(text), style=style, no_wrap=True, overflow="ellipsis")


def clip(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """`text`, cut to at most `cells` terminal cells; a cut shows as the ellipsis."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return text
    room = cells - cell_len(ellipsis)
    if room <= 0:
        return ellipsis[:cells]
    short = _first_cells(text, room)
    if edge := right_edge(short):
        short = _first_cells(text, room - 1)
    return short + ellipsis + edge


def _first_cells(text: str, cells: int) -> str:
    return set_cell_size(chop_cells(text, cells)[0], cells).rstrip() if cells > 0 else ""


def pad(text: str, cells: int) -> str:
    """`text` clipped or filled with blanks to exactly `cells` terminal cells."""
    short = clip(text, cells)
    return short + " " * (cells - cell_len(short))


def first_line(text: str) -> str:
    """The first line that says something, made harmless: a Markdown heading only if there is nothing else."""
    lines = [line(s.strip()) for s in block(text).splitlines() if s.strip(" #*=_`~|:-\t")]
    return next((s for s in lines if not s.startswith("#")), lines[0] if lines else "")


def location(hit: Hit, cells: int | None = None, *, ellipsis: str = "…") -> str:
    """`path:12-31`, or `path p.3:12-31` where the note has pages. In few `cells` the path is cut, the lines stay."""
    first, last = hit.lines
    page = "" if hit.page is None else f" p.{hit.page}"
    tail = f"{page}:{first}" if first == last else f"{page}:{first}-{last}"
    path = line(hit.path)
    if cells is None or cell_len(path + tail) <= cells:
        return path + tail
    room = cells - cell_len(tail)
    name = PurePosixPath(path).name or path
    return clip(name, room, ellipsis=ellipsis) + tail if room >= 4 else clip(path, cells, ellipsis=ellipsis)


def heading(hit: Hit) -> str:
    return " > ".join(line(h) for h in hit.heading)


def short_name(uid: str, cells: int, *, ellipsis: str = "…") -> str:
    """A chunk's uid in at most `cells` cells: the folder goes first, then the end of the file name; #number stays."""
    path, mark, ordinal = line(uid).rpartition("#")
    if not mark:
        path, ordinal = ordinal, ""
    full = f"{path}{mark}{ordinal}"
    if cell_len(full) <= cells:
        return full
    name = PurePosixPath(path).name or path
    tail = f"{mark}{ordinal}"
    room = cells - cell_len(tail)
    return clip(name, room, ellipsis=ellipsis) + tail if room >= 4 else clip(name, cells, ellipsis=ellipsis)


def number(value: float | None, digits: int = 2) -> str:
    """`.82`, `1.00`, `-.05`; - for None."""
    if value is None:
        return ABSENT
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def reason_words(grade: Grade, say: Say = english) -> list[str]:
    """Why the evidence does not suffice, for people; a judge of the person's own speaks for itself."""
    told = {reason: say(reason) for reason in (NO_CHUNK, NO_SIGNAL, VECTORS_MISSING, UNSURE, *AGAINST.values())}
    for name, value, limit in signals(grade):
        if limit is not None and (reason := against(name, value, limit)) is not None:
            told[reason] = say("no {} score for the evidence", name) if value is None else say(TOO_LOW[name])
    return [told.get(reason, line(reason)) for reason in grade.reasons]


def signals(grade: Grade) -> list[tuple[str, float | None, float | None]]:
    """(name, value, threshold) of the three signals of a verdict. No threshold: the signal has no say."""
    values = {"coverage": grade.coverage, "dense": grade.top_dense, "rerank": grade.top_rerank}
    return [(name, value, grade.thresholds.get(name)) for name, value in values.items()]


def asked_dense(r: Round, say: Say = english) -> str:
    """Why the verdict's dense value is not the best one in the table, where the two are shown and differ; else "".

    A round's query vector is moved towards its hits and would flatter them; the verdict holds to what was asked.
    """
    found = [place.score for hit in r.hits if (place := hit.stages.get("dense")) is not None]
    if not r.number or not found or r.grade.top_dense is None:
        return ""
    own, best = number(r.grade.top_dense), number(max(found))
    return "" if own == best else say(ASKED_DENSE, own, best)


def by_probability(grade: Grade) -> bool:
    """Whether a probability makes this verdict, or would if it could be told; else thresholds do."""
    return bool(grade.level) or grade.unknown


def verdict_words(grade: Grade, say: Say = english) -> str:
    """`answered here 93%`, `related 41%`, `nothing 6%`, `not known yet`; of thresholds `sufficient`, `insufficient`."""
    if grade.unknown:
        return say(UNKNOWN)
    if grade.level not in LEVELS:
        return say("sufficient") if grade.sufficient else say("insufficient")
    return level_words(grade.level, grade.probability, say)


def level_words(level: str, probability: float | None, say: Say = english) -> str:
    """`related 41%`; without a probability the level alone."""
    return say(LEVEL_WORDS[level]) + ("" if probability is None else f" {percent(probability)}")


def percent(probability: float) -> str:
    """A probability as people read it; what is not quite certain is never called so."""
    return f"{min(99, max(1, round(100 * probability)))}%"


def shares(grade: Grade, most: int | None = None) -> list[Signal]:
    """The signals that speak for or against an answer, the weightiest first, `most` of them."""
    return sorted((s for s in grade.signals if s.name != START), key=lambda s: -abs(s.share))[:most]


def share_words(signal: Signal, say: Say = english) -> str:
    """`stands out +2.1`: a signal of a verdict, and what it adds to the log-odds."""
    return f"{say(SIGNAL_WORDS.get(signal.name, line(signal.name)))} {signed(signal.share)}"


def signed(value: float, digits: int = 1) -> str:
    """`+1.2`, `-.4`, `+.0`."""
    text = f"{value:+.{digits}f}"
    return text.replace("0.", ".", 1) if text[1:].startswith("0.") else text
