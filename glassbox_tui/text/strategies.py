"""The ways to cut a note into chunks, by name.

    sentences   whole sentences packed up to the chunk size, whole sentences shared (`text/packing.py`; the default)
    headings    a window of 500 characters slides over what stands under each heading, 50 shared
    recursive   at paragraphs, else lines, else 。, else ；, else spaces; nothing shared: the chunks join to the note
    fixed       windows of the chunk size over the whole note, the overlap shared, wherever words and sentences end

Only `sentences` knows tables and repeats their headers. All keep to the chunk size and the token limit, and cut through
no character as a reader sees it, unless it is larger than a chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from glassbox_tui.text.cuts import best_cut, in_character
from glassbox_tui.text.markdown import Section
from glassbox_tui.text.packing import TokenShare, context_line, pack, token_share, what_fits

if TYPE_CHECKING:
    from glassbox_tui.text.chunks import ChunkOptions

# (start, end, index_text, heading path), by rising start.
Piece = tuple[int, int, str, tuple[str, ...]]
# (text, where it begins, its sections, options, title) -> its pieces
Strategy = Callable[[str, int, Sequence[Section], "ChunkOptions", str], Iterator[Piece]]

HEADING_WINDOW = 500  # characters, or the chunk size if that is less
HEADING_OVERLAP = 50  # characters, or the overlap if that is less
SEPARATORS = tuple(re.compile(pattern) for pattern in (r"\n{2,}", r"\n", "。", "；", " +"))

# [start, end) -> its index_text and how many times the token limit that is; 0: so short that it was not counted.
_Read = Callable[[int, int], tuple[str, float]]


def _sentences(text: str, begin: int, parts: Sequence[Section], options: ChunkOptions, title: str) -> Iterator[Piece]:
    for part in parts:
        for start, end, index_text in pack(text, part, options, title):
            yield start, end, index_text, part.path_of(start, end)


def _headings(text: str, begin: int, parts: Sequence[Section], options: ChunkOptions, title: str) -> Iterator[Piece]:
    size, overlap = min(options.chars, HEADING_WINDOW), min(options.overlap, HEADING_OVERLAP)
    share = token_share(options)
    for part in parts:
        if part.units:
            read = _reader(text, _locator([part]), options, title, share)
            for start, end, index_text in _windows(text, part.units[0].start, part.units[-1].end, size, overlap, read):
                yield start, end, what_fits(index_text, share), part.path_of(start, end)


def _fixed(text: str, begin: int, parts: Sequence[Section], options: ChunkOptions, title: str) -> Iterator[Piece]:
    share, section_at = token_share(options), _locator(parts)
    read = _reader(text, section_at, options, title, share)
    for start, end, index_text in _windows(text, begin, len(text), options.chars, options.overlap, read):
        yield start, end, what_fits(index_text, share), section_at(start).path_of(start, end)


def _recursive(text: str, begin: int, parts: Sequence[Section], options: ChunkOptions, title: str) -> Iterator[Piece]:
    """An exact partition of text[begin:]: white space belongs to the piece before it, nothing is trimmed."""
    if not text[begin:].strip():
        return
    share, section_at = token_share(options), _locator(parts)
    read = _reader(text, section_at, options, title, share)
    waiting = [*partition(text, begin, len(text), options.chars)][::-1]
    while waiting:
        start, end = waiting.pop()
        index_text, excess = read(start, end)
        if excess > 1 and end - start > 1:
            waiting += [*partition(text, start, end, max(1, int((end - start) / excess * 0.9)))][::-1]
        else:
            yield start, end, what_fits(index_text, share), section_at(start).path_of(start, end)


def partition(text: str, start: int, end: int, limit: int, separator: int = 0) -> Iterator[tuple[int, int]]:
    """[start, end) in adjoining pieces of at most `limit` characters, each as long as its separators let it be.

    Separators stay at the end of the piece before them. What has none left is cut between words or characters.
    """
    if end - start <= limit:
        yield start, end
        return
    if separator == len(SEPARATORS):
        while end - start > limit:
            stop = best_cut(text, start, start + limit)
            yield start, stop
            start = stop
        yield start, end
        return
    stops = [match.end() for match in SEPARATORS[separator].finditer(text, start, end)]
    done = start  # where the piece that is being put together ends so far
    for stop in [*(stop for stop in stops if stop < end and not in_character(text, stop)), end]:
        if stop - start > limit:
            if done > start:
                yield start, done
                start = done
            if stop - start > limit:
                yield from partition(text, start, stop, limit, separator + 1)
                start = stop
        done = stop
    if done > start:
        yield start, done


def _windows(text: str, start: int, end: int, size: int, overlap: int, read: _Read) -> Iterator[tuple[int, int, str]]:
    """Windows over [start, end); starts and ends rise strictly. One over the token limit is made shorter."""
    done = start
    while start < end:
        stop = _before(text, start, min(start + size, end))
        index_text, excess = read(start, stop)
        while excess > 1 and stop - start > 1:
            stop = _before(text, start, start + max(1, int((stop - start) / excess * 0.9)))
            index_text, excess = read(start, stop)
        if stop <= done and start < done:  # too short to hold more than is shared: share half of it
            start = _after(text, start + (done - start + 1) // 2, done)
            continue
        if text[start:stop].strip():
            yield start, stop, index_text
        if stop == end:
            return
        start, done = _after(text, stop - min(overlap, (stop - start) // 2), stop), stop


def _before(text: str, start: int, stop: int) -> int:
    """`stop`, or if that is within a character the end of the one before; at least start + 1."""
    at = stop
    while at > start + 1 and in_character(text, at):
        at -= 1
    return stop if in_character(text, at) else at


def _after(text: str, at: int, stop: int) -> int:
    """`at`, or if that is within a character where the next one begins; at most `stop`."""
    while at < stop and in_character(text, at):
        at += 1
    return at


def _locator(parts: Sequence[Section]) -> Callable[[int], Section]:
    """Where a character stands -> the section that holds it."""
    held = [part for part in parts if part.units] or [Section((), (), ())]
    begins = [part.units[0].start for part in held[1:]]
    return lambda at: held[bisect_right(begins, at)]


def _reader(
    text: str, section_at: Callable[[int], Section], options: ChunkOptions, title: str, share: TokenShare
) -> _Read:
    def read(start: int, end: int) -> tuple[str, float]:
        context = context_line(text, section_at(start), title, start, options)
        if context and share(context, 0.5) > 0.5:  # the chunk itself comes first
            context = ""
        index_text = context + text[start:end]
        return index_text, share(index_text, 1.0)

    return read


STRATEGIES: Mapping[str, Strategy] = {
    "sentences": _sentences,
    "headings": _headings,
    "recursive": _recursive,
    "fixed": _fixed,
}
