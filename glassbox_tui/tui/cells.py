"""Text for a grid of terminal cells: hostile characters shown and never obeyed, wide ones counted as two.

Everything drawn goes through `views.plain` or `visible`; nothing here parses markup. No character of
ambiguous East Asian width stands where a column must hold: bars are braille (neutral), cuts are marked with "~".
"""

from __future__ import annotations

from functools import lru_cache
from io import StringIO
from itertools import accumulate

from rich.cells import cell_len
from rich.console import Console
from rich.text import Span, Text

from glassbox_tui.views.plain import clip, is_steady, right_edge, steady

DIM = "dim"
GOOD = "green"
BAD = "bold red"
WARN = "yellow"
HEAD = "bold"
KEY = "bold cyan"
MARK = "bold yellow"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text` (already harmless) in exactly `width` cells: cut with a "~" where it is too long, else padded."""
    short = clip(text, width, ellipsis="~")
    blanks = " " * (width - cell_len(short))
    return blanks + short if right else short + blanks


def ends(left: Text, right: Text, width: int) -> Text:
    """One line with `left` at its left end and `right` at its right; `left` is cut where both do not fit."""
    room = width - right.cell_len
    if room < 8:
        return cut(left, width)
    line = cut(left, room - 1) if left.cell_len >= room else left.copy()
    line.append(" " * (width - line.cell_len - right.cell_len))
    return line.append_text(right)


def cut(line: Text, width: int) -> Text:
    """`line` in at most `width` cells."""
    if line.cell_len <= width:
        return line
    short = line.copy()
    short.truncate(max(0, width - 1), overflow="crop")
    return short.append("~") if width > 0 else Text()


def drawn(line: Text) -> Text:
    """`line` as every terminal draws it in as many cells, and as none reorders what stands after it.

    Its own style becomes a span: rich leaves it out where a text has no other.
    """
    if line.style:
        spans = [Span(0, len(line.plain), line.style), *line.spans]
        line = Text(line.plain, no_wrap=line.no_wrap, overflow=line.overflow, spans=spans)
    if line.plain.isascii():
        return line
    if not is_steady(line.plain):
        kept = [steady(char) for char in line.plain]
        at = list(accumulate(map(len, kept), initial=0))
        spans = [Span(at[s.start], at[s.end], s.style) for s in line.spans]
        line = Text("".join(kept), line.style, no_wrap=line.no_wrap, overflow=line.overflow, spans=spans)
    edge = right_edge(line.plain)
    return line.copy().append(edge) if edge else line


def wrap(text: Text, width: int, indent: int = 0) -> list[Text]:
    """`text` as lines of at most `width` cells; the lines after the first start `indent` cells in."""
    lines = list(text.wrap(_console(), max(2, width - indent), tab_size=4))
    if not indent:
        return lines
    return [line if i == 0 else Text(" " * indent).append_text(line) for i, line in enumerate(lines)]


@lru_cache(maxsize=1)
def _console() -> Console:
    # `Text.wrap` asks for one; it decides nothing about the result but the width it is given.
    return Console(file=StringIO(), width=80, force_terminal=False)


def number(value: float | None) -> str:
    """A score with the digits that tell it apart, in about five cells: .912, 12.41, .0328; "-" where there is none."""
    if value is None:
        return "-"
    size = abs(value)
    digits = 0 if size >= 1000 else 2 if size >= 1 else 4 if 0 < size < 0.1 else 3
    return short_zero(f"{value:.{digits}f}")


def short_zero(text: str) -> str:
    """A decimal without its leading zero: 0.82 is .82, -0.1 is -.1."""
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def bar(share: float, width: int, *, ascii: bool) -> str:
    """A share of 1 as a bar of exactly `width` cells, in half cells."""
    halves = round(max(0.0, min(1.0, share)) * width * 2)
    full, half = divmod(halves, 2)
    if ascii:
        return ("#" * full + "+" * half).ljust(width, "-")
    return ("\u28ff" * full + "\u2847" * half).ljust(width, "\u28c0")
