"""The notes browser as lines: pure functions of its state and the size. Only the lines in sight are made."""

from __future__ import annotations

from collections import Counter

from rich.text import Text

from glassbox_tui.retrieval.listing import UNREAD, ChunkInfo, NoteInfo
from glassbox_tui.tui.browsing import Browser, first_line
from glassbox_tui.tui.cells import BAD, DIM, HEAD, KEY, WARN, cut, ends, fit, wrap
from glassbox_tui.tui.conditions import middle
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.tree import Counts, Folder, Row, Standing, standing
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import block
from glassbox_tui.views.plain import first_line as first_sentence
from glassbox_tui.views.plain import line as plain

_NOTES, _CHUNKS = 6, 7  # cells of the two columns of numbers
_PATH = 12  # cells of the folder's path, at least
REASONS = 6  # reasons that a folder's preview lists


def heading(browser: Browser, place: str, scope: str, width: int) -> list[Text]:
    """One line: which folder, what is in it, and what of it is searched. A long path yields."""
    counts = Text()
    for word in _counted(browser.root.counts) if browser.loaded else ():
        counts.append("  ").append_text(word)
    right = Text(f"{say('searching only in {}', plain(scope))} ", WARN) if scope else Text()
    right = cut(right, width // 2)
    left = Text().append(" " + say("notes"), HEAD)
    room = width - left.cell_len - counts.cell_len - right.cell_len - 3
    left.append("  " + middle(place, max(_PATH, room)), KEY)
    return [ends(left.append_text(counts), right, width)]


def _counted(counts: Counts) -> list[Text]:
    notes = say("1 note") if counts.notes == 1 else say("{} notes", f"{counts.notes:,}")
    return [Text(notes), Text(_many_chunks(counts.chunks)), *_troubles(counts)]


def _many_chunks(count: int) -> str:
    return say("1 chunk") if count == 1 else say("{} chunks", f"{count:,}")


def _troubles(counts: Counts) -> list[Text]:
    words = []
    if counts.waiting:
        words.append(Text(say("{} waiting", f"{counts.waiting:,}"), WARN))
    if counts.missing:
        words.append(Text(say("{} not searchable", f"{counts.missing:,}"), DIM))
    return words


def tree(browser: Browser, scope: str, width: int, height: int, *, ascii: bool, trouble: str = "") -> list[Text]:
    """The head of the columns and the part of the tree that fits; `trouble` is why there may be none yet."""
    if not browser.rows:
        return wrap(Text(plain(trouble), BAD) if trouble and not browser.loaded else _nothing(browser), width)
    state = min(30, max(14, 3 * width // 10))
    head = fit("", _name_width(width, state))
    head += " " + fit(say("notes"), _NOTES, right=True) + " " + fit(say("chunks"), _CHUNKS, right=True)
    shown = max(1, height - 1)
    top = first_line(browser.top, browser.index, len(browser.rows), shown)
    lines = [Text(fit(head, width), DIM)]
    for at, row in enumerate(browser.rows[top : top + shown], top):
        line = _row(row, scope, width, state, ascii)
        if at == browser.index:
            line = Text(line.plain, "bold" if browser.inside else "reverse")
        lines.append(line)
    return lines


def _name_width(width: int, state: int) -> int:
    return max(8, width - _NOTES - _CHUNKS - state - 4)


def _nothing(browser: Browser) -> Text:
    if browser.failure:
        return Text(plain(browser.failure), BAD)
    if not browser.loaded:
        return Text(say("listing the notes ..."), DIM)
    if browser.missing and not browser.words:
        return Text(say("every file here can be searched"), DIM)
    if browser.filtered:
        return Text(say("no file matches {}", plain(browser.words)), DIM)
    return Text(say("this folder holds no note: .md, .txt and .pdf files are notes"), DIM)


def _row(row: Row, scope: str, width: int, state: int, ascii: bool) -> Text:
    room = _name_width(width, state)
    mark = "*" if scope and row.path == scope else " "
    indent = " " * min(2 * row.depth, room // 2)
    item = row.item
    if isinstance(item, Folder):
        glyph = ("-" if row.open else "+") if ascii else ("\u25be" if row.open else "\u25b8")
        line = Text().append(fit(f"{mark}{indent}{glyph} {plain(row.name)}/", room), KEY)
        numbers = (f"{item.counts.notes:,}", f"{item.counts.chunks:,}")
        said = Text("  ").join(_troubles(item.counts))
    else:
        look, said = _state(item)
        line = Text().append(fit(f"{mark}{indent}{_mark(item)} {plain(row.name)}", room), look)
        numbers = ("", f"{item.chunks:,}" if item.status == "ok" else "")
    line.append(" " + fit(numbers[0], _NOTES, right=True) + " " + fit(numbers[1], _CHUNKS, right=True) + "  ")
    line.append_text(cut(said, width - line.cell_len))
    return line.append(" " * max(0, width - line.cell_len))


def _mark(note: NoteInfo) -> str:
    match standing(note):
        case Standing.MISSING:
            return "x"
        case Standing.WAITING:
            return "~"
        case _:
            return "!" if note.warnings else " "


def _state(note: NoteInfo) -> tuple[str, Text]:
    """How the name looks, and what stands at the right of a file."""
    match standing(note):
        case Standing.MISSING:
            return DIM, Text(plain(told(note.reason) or note.status), DIM)
        case Standing.WAITING:
            return "", Text(waiting(note), WARN)
        case _:
            return "", Text(plain(told(note.warnings[0])) if note.warnings else "", DIM)


def waiting(note: NoteInfo) -> str:
    """What a file waits for; "" for one that waits for nothing."""
    if note.status == UNREAD:
        return say("waits to be read")
    if note.status == "ok" and note.vectors < note.chunks:
        return say("waits for {} of {} vectors", note.chunks - note.vectors, note.chunks)
    return ""


def preview(browser: Browser, width: int, height: int) -> list[Text]:
    """What the selected row is: a folder's counts and reasons, a note's facts and text, or its chunks to choose of."""
    row = browser.row
    if row is None:
        return []
    if isinstance(row.item, Folder):
        return _folder(browser, row.item, width)[:height]
    note = row.item
    lines = [cut(Text(plain(note.title or row.name), HEAD), width), cut(Text(_facts(note), DIM), width)]
    if standing(note) is Standing.MISSING:
        return (lines + wrap(Text(plain(told(note.reason) or note.status), WARN), width))[:height]
    if waiting(note):
        lines += wrap(Text(waiting(note), WARN), width)
    for warning in note.warnings:
        lines += wrap(Text(plain(told(warning)), WARN), width)
    if browser.inside:
        return lines + _chunks(browser, width, height - len(lines))
    if browser.leaf is None or browser.leaf.path != row.path:
        return lines[:height]
    lines.append(Text())
    for paragraph in block(browser.leaf.opening).split("\n"):
        if len(lines) >= height:
            break
        lines += wrap(Text(plain(paragraph)), width) if paragraph.strip() else [Text()]
    return lines[:height]


def _facts(note: NoteInfo) -> str:
    chunks = _many_chunks(note.chunks) if note.status == "ok" else ""
    return "  ".join(plain(word) for word in (note.kind, note.encoding, _size(note.size), chunks) if word)


def _size(size: int) -> str:
    if not size:
        return ""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _folder(browser: Browser, folder: Folder, width: int) -> list[Text]:
    lines = [cut(Text(plain(folder.path) + "/", HEAD), width)]
    lines += [cut(word, width) for word in _counted(folder.counts)]
    below = folder.path + "/"
    reasons = Counter(
        note.reason or note.status
        for note in browser.notes
        if note.path.startswith(below) and standing(note) is Standing.MISSING
    )
    lines += [
        cut(Text(f"{count:>5,}  {plain(told(reason))}", DIM), width) for reason, count in reasons.most_common(REASONS)
    ]
    return lines


def _chunks(browser: Browser, width: int, height: int) -> list[Text]:
    shown = max(1, height)
    top = first_line(0, browser.chunk, len(browser.chunks), shown)
    lines = []
    for at, chunk in enumerate(browser.chunks[top : top + shown], top):
        line = _chunk(chunk, width)
        lines.append(Text(line.plain, "reverse") if at == browser.chunk else line)
    return lines


def _chunk(chunk: ChunkInfo, width: int) -> Text:
    """Where it stands, its heading, how it begins."""
    first, last = chunk.lines
    page = "" if chunk.page is None else f"p.{chunk.page} "
    line = Text().append(f"{f'{page}{first}-{last}':>9}  ", KEY)
    name = plain(chunk.heading[-1]) if chunk.heading else ""
    start = first_sentence(chunk.text)
    line.append(name, HEAD).append("  " if name and start else "").append("" if start == name else start)
    line = ends(line, Text(say("no vector yet"), WARN) if not chunk.embedded else Text(), width)
    return line.append(" " * max(0, width - line.cell_len))
