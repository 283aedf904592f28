"""The reader's state and how keys change it: one note, where its chunks stand in it, what part is in sight.

Pure functions: the screen (features/reader.py) calls them with the size it has.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rich.text import Text

from glassbox_tui.notes.lines import page_of
from glassbox_tui.notes.reading import NoteText
from glassbox_tui.notes.refind import find_again
from glassbox_tui.retrieval.trace import Hit, Round
from glassbox_tui.text.normalize import visible
from glassbox_tui.tui.cells import DIM, HEAD, KEY, MARK, WARN, cut, ends, wrap
from glassbox_tui.tui.layout import Layout, Row, last_top, lay_out, line_at, line_start, rows_from, scrolled
from glassbox_tui.tui.sentences import told as in_words
from glassbox_tui.tui.words import say
from glassbox_tui.views.matching import Span, matched_spans, strongest_spans
from glassbox_tui.views.plain import line as plain

MOST_FOUND = 10_000  # places of a search in the note that are kept
ABOVE = 3  # rows of the note that stay in sight above the place that was jumped to
_WARNING_ROWS = 2
EMPTY = lay_out("")


@dataclass(frozen=True, slots=True)
class Reading:
    """`hits` are this note's among the round's, in the order of the text; `at` is the one looked at (-1: none).

    `line`: the cited line that was asked for, if one was. `note` None: it is being loaded. `places[i]` is where hit i
    stands in the text now, None if it is not there any more. `top` is the offset of the first row in sight; `found`
    are the places of `find`, `match` the one looked at. `size` is the screen's: width and height in cells.
    """

    path: str
    token: int
    hits: tuple[Hit, ...]
    at: int
    now: Round | None = None
    line: int | None = None
    note: NoteText | None = None
    layout: Layout = EMPTY
    places: tuple[Span | None, ...] = ()
    terms: tuple[Span, ...] = ()
    strong: tuple[Span, ...] = ()
    top: int = 0
    find: str = ""
    found: tuple[Span, ...] = ()
    match: int = 0
    size: tuple[int, int] = (80, 24)


def begin(path: str, token: int, hit: Hit | None, now: Round | None, line: int | None = None) -> Reading:
    """Reading of a note, at `hit` (or at a line that an answer cites in it), before its text is there."""
    own = [h for h in now.hits if h.path == path] if now is not None else []
    hits = tuple(sorted({h.uid: h for h in [*([hit] if hit else []), *own]}.values(), key=lambda h: (h.start, h.uid)))
    at = next((i for i, h in enumerate(hits) if hit is not None and h.uid == hit.uid), -1)
    return Reading(path, token, hits, at, now, line)


def loaded(reading: Reading, note: NoteText, width: int, height: int) -> Reading:
    """The note's text is there: the chunks are found in it, and the one that was asked for is brought in sight.

    Where the file is gone and the index holds nothing of it either, the hits' own text stands in.
    """
    text = note.text if note.text or not note.problem else "\n\n".join(h.text for h in reading.hits)
    places = tuple(find_again(text, h.text, h.start) for h in reading.hits)
    terms, strong = [], []
    for hit, place in zip(reading.hits, places, strict=True):
        # What matched is marked only where the chunk stands as it was when it was searched.
        if reading.now is not None and place is not None and text[slice(*place)] == hit.text:
            terms += [(place[0] + a, place[0] + b) for a, b in matched_spans(hit, reading.now)]
            strong += [(place[0] + a, place[0] + b) for a, b in strongest_spans(hit, reading.now)]
    there = replace(
        reading,
        note=note,
        layout=lay_out(text),
        places=places,
        terms=tuple(sorted(terms)),
        strong=tuple(sorted(strong)),
    )
    exact = not note.changed and not note.problem
    if reading.line is not None and exact:
        return _seen(there, line_start(there.layout, reading.line), width, height)
    place = places[reading.at] if reading.at >= 0 else None
    if place is None and reading.at >= 0 and not note.problem:  # not there any more: where it once was
        return _seen(there, min(reading.hits[reading.at].start, len(text)), width, height)
    return _seen(there, place[0] if place else 0, width, height)


def read_again(reading: Reading, note: NoteText) -> tuple[Reading, str]:
    """The note was read once more while it is open: what is shown from now on, and what to say of it ("": the same).

    The place in the text stays. A note that is gone stays on screen as it was.
    """
    if reading.note is None:
        return loaded(reading, note, *reading.size), ""
    if note.problem:
        return reading, say("this note cannot be read any more: this is its text as it was")
    if note.text == reading.note.text:
        return replace(reading, note=note), ""
    there = replace(loaded(reading, note, *reading.size), top=min(reading.top, len(note.text)), found=(), match=0)
    now = scroll(there, 0, *reading.size)
    return now, say("this note has changed meanwhile: this is its text now")


def resized(reading: Reading, width: int, height: int) -> Reading:
    """On a screen of another size, from the same place in the text on."""
    there = replace(reading, size=(width, height))
    return there if reading.note is None else scroll(there, 0, width, height)


def scroll(reading: Reading, by: int, width: int, height: int) -> Reading:
    """`by` rows down, or up; the last row of the text stays at the bottom at least."""
    inner = text_width(reading, width)
    body = body_height(reading, width, height)
    top = scrolled(reading.layout, reading.top, inner, by)
    return replace(reading, top=min(top, last_top(reading.layout, inner, body)))


def page(reading: Reading, direction: int, width: int, height: int) -> Reading:
    return scroll(reading, direction * max(1, body_height(reading, width, height) - 2), width, height)


def to_end(reading: Reading, direction: int, width: int, height: int) -> Reading:
    """To the first row, or to the last."""
    inner, body = text_width(reading, width), body_height(reading, width, height)
    return replace(reading, top=0 if direction < 0 else last_top(reading.layout, inner, body))


def to_chunk(reading: Reading, by: int, width: int, height: int) -> Reading:
    """To the next chunk of this note among the hits, or the one before; round at the ends."""
    there = [i for i, place in enumerate(reading.places) if place is not None]
    if not there:
        return reading
    at = (bisect_left(there, reading.at) + (by if reading.at in there or by < 0 else 0)) % len(there)
    place = reading.places[there[at]]
    moved = replace(reading, at=there[at], line=None)
    return moved if place is None else _seen(moved, place[0], width, height)


def search(reading: Reading, words: str, width: int, height: int) -> Reading:
    """Find `words` in the note, in either case, and go to the first place from the rows in sight on."""
    found: list[Span] = []
    if words:
        every = re.finditer(re.escape(words), reading.layout.text, re.IGNORECASE)
        found = [place.span() for place in islice(every, MOST_FOUND)]
    match = bisect_left(found, (reading.top, 0)) % len(found) if found else 0
    there = replace(reading, find=words, found=tuple(found), match=match)
    return _seen(there, found[match][0], width, height) if found else there


def to_match(reading: Reading, by: int, width: int, height: int) -> Reading:
    """To the next place of what was searched, or the one before; round at the ends."""
    if not reading.found:
        return reading
    match = (reading.match + by) % len(reading.found)
    return _seen(replace(reading, match=match), reading.found[match][0], width, height)


def line_in_sight(reading: Reading, width: int, height: int) -> int:
    """The line an editor should open at: the cited one or the chunk's while it is in sight, else the first row's."""
    rows = rows_from(reading.layout, reading.top, text_width(reading, width), body_height(reading, width, height))
    place = reading.places[reading.at] if 0 <= reading.at < len(reading.places) else None
    spot = place[0] if place is not None else -1
    if reading.line is not None:
        spot = line_start(reading.layout, reading.line)
    in_sight = bool(rows) and reading.top <= spot <= rows[-1].end
    return line_at(reading.layout, spot if in_sight else reading.top)


def _seen(reading: Reading, offset: int, width: int, height: int) -> Reading:
    """With `offset` a few rows below the top."""
    top = scrolled(reading.layout, offset, text_width(reading, width), -ABOVE)
    return scroll(replace(reading, top=top), 0, width, height)


# -- drawing -----------------------------------------------------------------------------------------------------------


def gutter(reading: Reading) -> int:
    """Cells for line numbers and the mark beside them. Lines of a text that is no file have no numbers."""
    return len(str(len(reading.layout.lines))) + 3 if _numbered(reading) else 2


def text_width(reading: Reading, width: int) -> int:
    return max(2, width - gutter(reading))


def body_height(reading: Reading, width: int, height: int) -> int:
    return max(1, height - 2 - len(_warnings(reading, width)))


def draw(
    reading: Reading,
    width: int,
    height: int,
    *,
    ascii: bool,
    told: str = "",
    hints: Callable[[int], Text] = lambda width: Text(),
) -> list[Text]:
    """Where we are, what to beware of, the rows in sight, and a line below: `told`, what was searched, `hints`.

    `hints` makes as many of them as fit a width.
    """
    lines = [_head(reading, width), *_warnings(reading, width)]
    room = body_height(reading, width, height)
    if reading.note is None:
        rows = [Text(say("reading {} ...", plain(reading.path)), DIM)]
    else:
        found = rows_from(reading.layout, reading.top, text_width(reading, width), room)
        rows = [_row(reading, row, width, ascii) for row in found]
    rows += [Text()] * (room - len(rows))
    return [*lines, *rows, _foot(reading, width, told, hints)][:height]


def _foot(reading: Reading, width: int, told: str, hints: Callable[[int], Text]) -> Text:
    if told:
        return cut(Text(" " + plain(told), HEAD), width)
    if not reading.find:
        return cut(hints(width), width)
    count = say("{} of {} found", reading.match + 1, len(reading.found)) if reading.found else say("not found")
    said = Text(f" {count}: {plain(reading.find)}", HEAD if reading.found else WARN)
    said = cut(said.append("  "), width)
    return cut(said.append_text(hints(width - said.cell_len)), width)


def _head(reading: Reading, width: int) -> Text:
    line = Text(plain(reading.path), KEY)
    note = reading.note
    if note is None:
        return cut(line, width)
    page = page_of(note.pages, reading.top + 1)
    if page is not None:
        line.append("  " + say("page {} of {}", page, len(note.pages)))
    if note.encoding and note.kind != "pdf":
        line.append("  " + plain(note.encoding), DIM)
    if 0 <= reading.at < len(reading.hits):
        first, last = reading.hits[reading.at].lines
        told = say("chunk {} of {} here: lines {}-{}", reading.at + 1, len(reading.hits), first, last)
        line.append("  " + told, HEAD)
    right = Text(say("line {} of {}", line_at(reading.layout, reading.top), len(reading.layout.lines)), DIM)
    return ends(line, right, width)


def _warnings(reading: Reading, width: int) -> list[Text]:
    note = reading.note
    if note is None:
        return []
    said = []
    if note.problem:
        said.append(say("{}; this is what was indexed of it", plain(in_words(note.problem))))
    elif note.changed:
        said.append(say("this file changed since it was indexed; lines may be off"))
    if not note.problem and 0 <= reading.at < len(reading.places):
        place, hit = reading.places[reading.at], reading.hits[reading.at]
        if place is None:
            said.append(say("the chunk is not in it any more"))
        elif reading.layout.text[slice(*place)] != hit.text:
            said.append(say("the chunk was edited: this is the line of it that is left"))
    return wrap(Text("; ".join(said), WARN), width)[:_WARNING_ROWS] if said else []


def _numbered(reading: Reading) -> bool:
    return reading.note is not None and not reading.note.problem


def _row(reading: Reading, row: Row, width: int, ascii: bool) -> Text:
    line = Text()
    if _numbered(reading):
        digits = gutter(reading) - 3
        cited = row.line is not None and row.line == reading.line
        line.append(f"{row.line or '':>{digits}} ", MARK if cited else DIM)
    line.append_text(_side_mark(reading, row, ascii))
    number = _page_begun(reading, row)
    if number is not None and reading.note is not None:
        return cut(line.append(f"-- {say('page {} of {}', number, len(reading.note.pages))} --", DIM), width)
    text = Text(visible(reading.layout.text[row.start : row.end], keep_newlines=False))
    for spans, style in ((reading.terms, MARK), (reading.strong, "underline"), (reading.found, "reverse")):
        for start, end in _within(spans, row):
            text.stylize(style, max(0, start - row.start), end - row.start)
    if reading.found and reading.found[reading.match][0] < row.end:
        start, end = reading.found[reading.match]
        text.stylize("reverse bold", max(0, start - row.start), max(0, end - row.start))
    room = width - line.cell_len
    if text.cell_len > room:
        text.rstrip()
    return line.append_text(cut(text, room))


def _side_mark(reading: Reading, row: Row, ascii: bool) -> Text:
    """One cell beside a row of the chunk that is looked at, another beside those of other hits; and a blank."""
    here = [i for i, place in enumerate(reading.places) if place and _touch(place, row)]
    if reading.at in here:
        return Text("> " if ascii else "\u28ff ", MARK)
    return Text(("| " if ascii else "\u2847 "), KEY) if here else Text("  ")


def _touch(place: Span, row: Row) -> bool:
    return (place[0] < row.end and row.start < place[1]) or place[0] <= row.start == row.end < place[1]


def _within(spans: Sequence[Span], row: Row) -> list[Span]:
    """The spans that touch a row; they are in order and hardly ever overlap."""
    first = max(0, bisect_left(spans, (row.start, 0)) - 1)
    out = []
    for span in spans[first:]:
        if span[0] >= row.end:
            break
        if span[1] > row.start:
            out.append(span)
    return out


def _page_begun(reading: Reading, row: Row) -> int | None:
    """The page (from 2 on) that begins after this row, which is the empty line before it."""
    pages = reading.note.pages if reading.note is not None else ()
    if row.start != row.end or not pages:
        return None
    at = bisect_left(pages, row.start + 1)
    return at + 1 if 0 < at < len(pages) and pages[at] == row.start + 1 else None
