"""The state of the notes browser and how keys change it: pure functions, no textual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from glassbox_tui.retrieval.listing import ChunkInfo, NoteInfo
from glassbox_tui.text.normalize import fold
from glassbox_tui.tui import tree
from glassbox_tui.tui.tree import Folder, Row, Standing, standing

AT_ONCE = 40  # a folder of no more files than this shows all of them at first

_folded = lru_cache(maxsize=100_000)(fold)  # every keystroke of the filter reads every path


@dataclass(frozen=True, slots=True)
class Leaf:
    """What is known of the inside of one note: its chunks, their texts cut short, and how its text begins."""

    path: str
    chunks: tuple[ChunkInfo, ...]
    opening: str


@dataclass(frozen=True, slots=True)
class Browser:
    """`notes` are all files; `rows` the lines of the tree, which follow from all that stands before `root`.

    `root` is the tree of the files that pass the filter (`words` and `missing`). Folders are closed but for those in
    `opened`; under a filter they are open but for those in `shut`. `index` is the selected line, `top` the first one on
    screen, `wanted` what to select once the files are there. `inside`: the keys act in the list of the note's chunks,
    of which `chunk` is selected. `leaf` None: not there yet.
    """

    notes: tuple[NoteInfo, ...] = ()
    loaded: bool = False
    failure: str = ""
    words: str = ""
    missing: bool = False
    opened: frozenset[str] = frozenset()
    shut: frozenset[str] = frozenset()
    root: Folder = tree.EMPTY
    rows: tuple[Row, ...] = ()
    index: int = 0
    top: int = 0
    wanted: str = ""
    leaf: Leaf | None = None
    inside: bool = False
    chunk: int = 0

    @property
    def filtered(self) -> bool:
        return bool(self.words.split()) or self.missing

    @property
    def row(self) -> Row | None:
        return self.rows[self.index] if self.rows else None

    @property
    def note(self) -> NoteInfo | None:
        """The selected file; None on a folder."""
        item = self.row.item if self.row is not None else None
        return item if isinstance(item, NoteInfo) else None

    @property
    def chunks(self) -> tuple[ChunkInfo, ...]:
        """Those of the selected note, as far as they are known."""
        return self.leaf.chunks if self.leaf is not None and self.row and self.leaf.path == self.row.path else ()


def listed(browser: Browser, notes: Sequence[NoteInfo]) -> Browser:
    """A (new) list of the files has come. The selection stays on its path, or on the nearest that is left."""
    first = not browser.loaded
    found = replace(browser, notes=tuple(notes), loaded=True, failure="")
    if first and len(found.notes) <= AT_ONCE:
        found = replace(found, opened=tree.folders_of(tree.grown(found.notes)))
    found = _grown(found)
    return revealed(replace(found, wanted=""), found.wanted) if found.wanted else found


def revealed(browser: Browser, path: str) -> Browser:
    """Select `path` and open the folders above it. A filter that hides it goes."""
    if not browser.loaded:
        return replace(browser, wanted=path)
    words = fold(browser.words).split()
    if browser.filtered and not any(n.path == path and passes(n, words, browser.missing) for n in browser.notes):
        browser = replace(browser, words="", missing=False)
    return replace(_grown(_opened(browser, path), path), inside=False)


def narrowed(browser: Browser, words: str) -> Browser:
    """Show the files whose path or title holds every one of the words, in folders that are open."""
    if words.split() == browser.words.split():
        return replace(browser, words=words)
    return _refiltered(browser, words, browser.missing)


def only_missing(browser: Browser) -> Browser:
    """Show only what no search finds, or everything again."""
    return _refiltered(browser, browser.words, not browser.missing)


def _refiltered(browser: Browser, words: str, missing: bool) -> Browser:
    after = replace(browser, words=words, missing=missing, shut=frozenset(), inside=False)
    if after.filtered or browser.row is None:
        return _grown(after)
    return _grown(_opened(after, browser.row.path))  # back among all files: what was selected stays in sight


def _opened(browser: Browser, path: str) -> Browser:
    """With the folders above `path` open."""
    outer = tree.above(path)
    return replace(browser, opened=browser.opened | outer, shut=browser.shut - outer)


def passes(note: NoteInfo, words: Sequence[str], missing: bool) -> bool:
    """Whether the filter shows this file. `words` are folded."""
    if missing and standing(note) is not Standing.MISSING:
        return False
    if not words:
        return True
    named = _folded(f"{note.path}\n{note.title}")
    return all(word in named for word in words)


def moved(browser: Browser, by: int) -> Browser:
    """The selection moves, in the tree or in the list of chunks; it stops at the ends."""
    if browser.inside:
        return replace(browser, chunk=max(0, min(browser.chunk + by, len(browser.chunks) - 1)))
    return _at(browser, browser.index + by)


def turned(browser: Browser) -> Browser:
    """Open the selected folder, or close it."""
    row = browser.row
    if row is None or not isinstance(row.item, Folder):
        return browser
    if browser.filtered:
        return _grown(replace(browser, shut=browser.shut ^ {row.path}))
    return _grown(replace(browser, opened=browser.opened ^ {row.path}))


def deeper(browser: Browser) -> Browser:
    """Open a closed folder, step into an open one, go on to a note's chunks."""
    row = browser.row
    if row is None or browser.inside:
        return browser
    if isinstance(row.item, Folder):
        return _at(browser, browser.index + 1) if row.open else turned(browser)
    return replace(browser, inside=True, chunk=0) if browser.chunks else browser


def shallower(browser: Browser) -> Browser:
    """From the chunks back to the tree; close an open folder; else up to the folder that holds the row."""
    row = browser.row
    if browser.inside:
        return replace(browser, inside=False)
    if row is None:
        return browser
    if row.open:
        return turned(browser)
    outer = tree.parent(row.path)
    return next((_at(browser, i) for i, r in enumerate(browser.rows) if outer and r.path == outer), browser)


def looked_into(browser: Browser, leaf: Leaf) -> Browser:
    """A note's chunks have come; of a note that is no longer selected they are of no use."""
    if browser.row is None or browser.row.path != leaf.path:
        return browser
    chunk = max(0, min(browser.chunk, len(leaf.chunks) - 1))
    return replace(browser, leaf=leaf, chunk=chunk, inside=browser.inside and bool(leaf.chunks))


def scrolled(browser: Browser, height: int) -> Browser:
    """The window of `height` lines moved as little as brings the selected one into it."""
    return replace(browser, top=first_line(browser.top, browser.index, len(browser.rows), height))


def first_line(top: int, at: int, total: int, height: int) -> int:
    """Where a window of `height` of `total` lines starts that was at `top`, so that line `at` is inside."""
    top = min(max(top, at - height + 1), at)
    return max(0, min(top, total - height))


def _at(browser: Browser, index: int) -> Browser:
    index = max(0, min(index, len(browser.rows) - 1))
    return browser if index == browser.index else replace(browser, index=index, inside=False, chunk=0)


def _grown(browser: Browser, at: str | None = None) -> Browser:
    """The tree and its rows after a change of files, filter or folders; `at`: what to select, if not what was."""
    words = fold(browser.words).split()
    notes = browser.notes
    if browser.filtered:
        notes = tuple(note for note in notes if passes(note, words, browser.missing))
    root = tree.grown(notes)
    opened = tree.folders_of(root) - browser.shut if browser.filtered else browser.opened
    rows = tree.rows_of(root, opened)
    if at is None:
        at = browser.row.path if browser.row is not None else ""
    index = _nearest(rows, at, browser.index)
    same = bool(rows) and rows[index].path == at
    return replace(
        browser,
        root=root,
        rows=rows,
        index=index,
        inside=browser.inside and same,
        chunk=browser.chunk if same else 0,
    )


def _nearest(rows: Sequence[Row], path: str, index: int) -> int:
    """Where `path` is among the rows; else the innermost folder above it that is there; else the same line."""
    where = {row.path: i for i, row in enumerate(rows)}
    while path:
        if path in where:
            return where[path]
        path = tree.parent(path)
    return max(0, min(index, len(rows) - 1))
