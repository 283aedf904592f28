"""Packing the units of one section into chunks."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from glassbox_tui.text.cuts import cut
from glassbox_tui.text.markdown import Kind, Section, Unit

if TYPE_CHECKING:
    from glassbox_tui.text.chunks import ChunkOptions

TokenShare = Callable[[str, float], float]

LONGEST_CONTEXT = 160  # characters of the heading-path line
SMALLEST_PIECE = 20  # characters; below this a unit is not cut for the sake of its heading


def pack(text: str, section: Section, options: ChunkOptions, title: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, index_text) of each chunk of `section`; starts and ends rise strictly."""
    units = [piece for unit in section.units for piece in _pieces(text, unit, options)]
    share = token_share(options)
    previous = -1  # the first unit of the chunk before
    new = 0  # the first unit that no chunk holds yet
    while new < len(units):
        first = _overlap_start(units, previous, new, options)
        # The shortest chunk worth having: headings and one unit that is none.
        least = new + 1
        while (
            least < len(units)
            and units[least - 1].kind is Kind.HEADING
            and units[least].start - units[new].start < options.chars
        ):
            least += 1
        while first < new and _size(units, first, least, options) > options.chars:
            first += 1
        room = options.chars - (units[least - 1].start - units[first].start)
        if room < units[least - 1].end - units[least - 1].start:
            if room >= SMALLEST_PIECE:
                units[least - 1 : least] = cut(text, units[least - 1], room)
            else:
                least = new + 1
        last = least
        while last < len(units) and _size(units, first, last + 1, options) <= options.chars:
            last += 1
        last = _without_crumbs(units, first, least, last, previous, options)
        while True:
            index_text = _index_text(text, section, title, units, first, last, options, share)
            excess = share(index_text, 1.0)
            if excess <= 1:
                break
            if last > least:
                last = _shorter(units, first, least, last, excess)
            elif first < new:
                first += 1
            else:
                unit = units[last - 1]
                pieces = list(cut(text, unit, max(1, int((unit.end - unit.start) / excess * 0.9))))
                if len(pieces) > 1:
                    units[last - 1 : last] = pieces
                elif last > new + 1:
                    last = least = last - 1
                else:
                    index_text = what_fits(text[unit.start : unit.end], share)
                    break
        yield units[first].start, units[last - 1].end, index_text
        previous, new = first, last


def _pieces(text: str, unit: Unit, options: ChunkOptions) -> Iterator[Unit]:
    """`unit` as it is, or, if it is longer than a chunk, in pieces."""
    length = unit.end - unit.start
    if length <= options.chars:
        yield unit
    elif unit.kind is Kind.TABLE and unit.header is not None:
        header = unit.header[1] - unit.header[0] + 1
        yield from cut(text, unit, max(options.chars - header, options.chars // 2, 1))
    elif unit.kind is Kind.CODE:
        yield from cut(text, unit, options.chars)
    else:
        # Pieces short enough to be shared: what a cut tears apart stays together in one of the two neighbours.
        yield from cut(text, unit, max(options.overlap, options.chars // 4, 1))


def _size(units: list[Unit], first: int, last: int, options: ChunkOptions) -> int:
    """Characters of the chunk units[first:last], with the table header that it has to repeat."""
    size = units[last - 1].end - units[first].start
    header = _missing_header(units[first])
    return size + (min(header[1] - header[0] + 1, options.chars // 2) if header else 0)


def _missing_header(unit: Unit) -> tuple[int, int] | None:
    return unit.header if unit.header is not None and unit.start > unit.header[0] else None


def _overlap_start(units: list[Unit], previous: int, new: int, options: ChunkOptions) -> int:
    """The first of the whole sentences before `new` that the next chunk repeats."""
    first = new
    while (
        first - 1 > previous
        and units[first - 1].kind is Kind.SENTENCE
        and units[new - 1].end - units[first - 1].start <= options.overlap
    ):
        first -= 1
    return first


def _without_crumbs(units: list[Unit], first: int, least: int, last: int, previous: int, options: ChunkOptions) -> int:
    """`last`, or less if that would leave a tail too short to stand alone: then the rest is halved."""
    if last == len(units) or units[-1].end - units[last].start >= options.chars // 4:
        return last
    if _overlap_start(units, first, last, options) < last:
        return last
    middle = (units[first].start + units[-1].end) // 2
    while last > least and units[last - 1].start >= middle:
        last -= 1
    return last


def _shorter(units: list[Unit], first: int, least: int, last: int, excess: float) -> int:
    """A smaller `last` that should meet the token limit which units[first:last] exceeds by the factor `excess`."""
    goal = units[first].start + (units[last - 1].end - units[first].start) / excess
    last -= 1
    while last > least and units[last - 1].end > goal:
        last -= 1
    return last


def _index_text(
    text: str,
    section: Section,
    title: str,
    units: list[Unit],
    first: int,
    last: int,
    options: ChunkOptions,
    share: TokenShare,
) -> str:
    start, end = units[first].start, units[last - 1].end
    context = context_line(text, section, title, start, options)
    header = _missing_header(units[first])
    repeated = text[header[0] : header[1]].rstrip() + "\n" if header else ""
    if len(repeated) > options.chars:
        repeated = ""
    # The chunk itself comes first: what stands before it may take half of the tokens.
    if context and share(context + repeated, 0.5) > 0.5:
        context = ""
    if repeated and share(repeated, 0.5) > 0.5:
        repeated = ""
    return context + repeated + text[start:end]


def context_line(text: str, section: Section, title: str, start: int, options: ChunkOptions) -> str:
    """The line "title > heading > heading" of what the chunk at `start` does not hold itself; may be empty."""
    path = [name for name, at in zip(section.path, section.starts, strict=True) if at < start and name]
    title = " ".join(title.split())
    if title and (not section.path or section.path[0] != title) and not text.startswith(title, start):
        path.insert(0, title)
    line = " > ".join(path)
    longest = min(LONGEST_CONTEXT, options.chars // 2)
    if len(line) > longest:
        line = line[: max(longest - 1, 0)].rstrip() + "…"
    return line + "\n" if path else ""


def token_share(options: ChunkOptions) -> TokenShare:
    """A function (text, most) -> tokens of text / limit; 0 where the text is so short that it cannot exceed `most`."""
    limit, count = options.token_limit, options.count_tokens
    if limit is None or count is None:
        return lambda text, most: 0.0

    def share(text: str, most: float) -> float:
        normal = unicodedata.normalize("NFKC", text)
        bound = max(len(form.encode("utf-8", "surrogatepass")) for form in (text, normal)) + len(normal.split())
        return 0.0 if bound <= most * limit else count(text) / limit

    return share


def what_fits(text: str, share: TokenShare) -> str:
    """The beginning of a text that is over the limit and cannot be cut."""
    while text and share(text, 1.0) > 1:
        text = text[:-1]
    return text
