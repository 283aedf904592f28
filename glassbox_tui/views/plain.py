"""Note text on its way to a screen: made harmless, measured in cells, cut to fit. Nothing here parses markup."""

from __future__ import annotations

from pathlib import PurePosixPath

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from glassbox_tui.retrieval.reasons import NO_CHUNK, NO_SIGNAL, Say, against, english
from glassbox_tui.retrieval.trace import Grade, Hit
from glassbox_tui.text.normalize import visible

ABSENT = "–"


def line(text: str) -> str:
    """`text` on one line, with everything a terminal could obey made visible."""
    return visible(text, keep_newlines=False)


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
    return set_cell_size(chop_cells(text, room)[0], room).rstrip() + ellipsis


def pad(text: str, cells: int) -> str:
    """`text` clipped or filled with blanks to exactly `cells` terminal cells."""
    short = clip(text, cells)
    return short + " " * (cells - cell_len(short))


def first_line(text: str) -> str:
    """The first line that says something, made harmless: a Markdown heading only if there is nothing else."""
    lines = [line(s.strip()) for s in block(text).splitlines() if s.strip(" #*=_`~|:-\t")]
    return next((s for s in lines if not s.startswith("#")), lines[0] if lines else "")


def location(hit: Hit, cells: int | None = None) -> str:
    """`path:12-31`, or `path p.3:12-31` where the note has pages. In few `cells` the path is cut, the lines stay."""
    first, last = hit.lines
    page = "" if hit.page is None else f" p.{hit.page}"
    tail = f"{page}:{first}" if first == last else f"{page}:{first}-{last}"
    path = line(hit.path)
    if cells is None or cell_len(path + tail) <= cells:
        return path + tail
    room = cells - cell_len(tail)
    return clip(PurePosixPath(path).name or path, room) + tail if room >= 4 else clip(path, cells)


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
    """`.82`, `1.00`, `-.05`; – for None."""
    if value is None:
        return ABSENT
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def reason_words(grade: Grade, say: Say = english) -> list[str]:
    """Why the evidence does not suffice, in the reader's language; a judge of the person's own speaks for itself."""
    translated = {NO_CHUNK: say(NO_CHUNK), NO_SIGNAL: say(NO_SIGNAL)}
    for name, value, limit in signals(grade):
        if limit is not None and (reason := against(name, value, limit)) is not None:
            translated[reason] = against(name, value, limit, say) or reason
    return [translated.get(reason, line(reason)) for reason in grade.reasons]


def signals(grade: Grade) -> list[tuple[str, float | None, float | None]]:
    """(name, value, threshold) of the three signals of a verdict. No threshold: the signal has no say."""
    values = {"coverage": grade.coverage, "dense": grade.top_dense, "rerank": grade.top_rerank}
    return [(name, value, grade.thresholds.get(name)) for name, value in values.items()]
