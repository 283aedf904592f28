"""Reading on: the whole note with the chunk marked, an editor at its line, the close-ups of the evidence panel."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from glassbox_tui.notes.reading import NoteText, note_file
from glassbox_tui.notes.scan import NotesError, kind_of
from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.tui import editor, reading, state
from glassbox_tui.tui.closeup import PLAIN
from glassbox_tui.tui.commands import MAIN, Command
from glassbox_tui.tui.messages import Event, ReadAround, ReadNote, Refresh, Updated
from glassbox_tui.tui.reading import Reading
from glassbox_tui.tui.replay import refusal
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View
from glassbox_tui.tui.target import cited, hit_of, target
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp

READER = "reader"
BOTH = (MAIN, READER)
_tokens = count(1)


def has_target(view: View) -> bool:
    return target(view) is not None


def has_hit(view: View) -> bool:
    return state.selected_hit(view) is not None


def has_sources(view: View) -> bool:
    return cited(view) is not None


# -- the reader --------------------------------------------------------------------------------------------------------


def open_reader(app: GlassboxApp, path: str, hit: Hit | None = None, line: int | None = None) -> None:
    """Show a whole note: at `hit`, at a line of it that an answer cites, or from its beginning."""
    from glassbox_tui.tui.readerscreen import ReaderScreen  # its keys come from the registry, which imports us

    begun = reading.begin(path, next(_tokens), hit, state.shown_round(app.view), line)
    begun = replace(begun, size=(app.size.width, app.size.height))
    if app.view.offline:  # a replay has no notes, but the text of its hits
        begun = reading.loaded(begun, NoteText(path, problem=refusal()), *begun.size)
    else:
        app.send(ReadNote(begun.token, path))
    app.change(replace(app.view, reading=begun))
    app.push_screen(ReaderScreen())


def _read(app: GlassboxApp) -> None:
    found = target(app.view)
    if found is not None and app.view.reading is None:
        open_reader(app, found.path, found.hit, found.line if found.cited else None)


def look_again(app: GlassboxApp, event: Event) -> None:
    """A listener: the folder was gone through, so the note that is open may be another by now, or gone."""
    now = app.view.reading
    if isinstance(event, Updated) and now is not None and now.note is not None and not app.view.offline:
        app.send(ReadNote(now.token, now.path))


def close_reader(app: GlassboxApp) -> None:
    app.pop_screen()
    app.change(replace(app.view, reading=None))


def change_reading(app: GlassboxApp, now: Reading) -> None:
    """Show the reader otherwise; what was told before is read by now."""
    app.change(replace(app.view, reading=now, told=""))


def _by(app: GlassboxApp, step: Callable[[Reading, int, int, int], Reading], by: int) -> None:
    now = app.view.reading
    if now is not None:
        change_reading(app, step(now, by, *now.size))


def scroll(app: GlassboxApp, by: int) -> None:
    _by(app, reading.scroll, by)


def _page(app: GlassboxApp, by: int) -> None:
    _by(app, reading.page, by)


def _end(app: GlassboxApp, by: int) -> None:
    _by(app, reading.to_end, by)


def _chunk(app: GlassboxApp, by: int) -> None:
    _by(app, reading.to_chunk, by)


def _match(app: GlassboxApp, by: int) -> None:
    _by(app, reading.to_match, by)


def _find(app: GlassboxApp) -> None:
    from glassbox_tui.tui.choosing import EditScreen

    def found(words: str | None) -> None:
        now = app.view.reading
        if now is not None:
            change_reading(app, reading.search(now, words or "", *now.size))

    if app.view.reading is not None:
        app.push_screen(EditScreen(say("find in this note"), app.view.reading.find), found)


def _has_chunks(view: View) -> bool:
    return view.reading is not None and len(view.reading.hits) > 1


def _has_found(view: View) -> bool:
    return view.reading is not None and bool(view.reading.found)


# -- an editor ---------------------------------------------------------------------------------------------------------


def _open(app: GlassboxApp) -> None:
    found = target(app.view)
    if found is not None:
        open_editor(app, found.path, found.line)


def open_editor(app: GlassboxApp, path: str, line: int) -> None:
    """Give the terminal to the user's editor, at a line of a note; then look whether the note changed."""
    if app.view.offline:
        app.tell(refusal())
        return
    try:
        file = note_file(Path(app.view.notes), path)
    except NotesError as error:
        app.tell(told(str(error)))
        return
    if kind_of(path) == "pdf":
        app.tell(say("a PDF does not open in an editor: the reader shows its text"))
        return
    found = editor.opener(os.environ, file, line)
    if found.problem:
        app.tell(found.problem)
        return
    before = _stamp(file)
    failed = app.outside(found.command)
    if failed:
        app.tell(failed)
    if _stamp(file) != before:
        app.send(Refresh())
        _read_again(app)


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        info = file.stat()
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size


def _read_again(app: GlassboxApp) -> None:
    now = app.view.reading
    if now is not None:
        again = replace(now, token=next(_tokens))
        app.change(replace(app.view, reading=again))
        app.send(ReadNote(again.token, again.path))


# -- close-ups of the evidence panel, citations of the answer ----------------------------------------------------------


def _tokens_list(app: GlassboxApp) -> None:
    closeup = app.view.closeup
    app.change(replace(app.view, closeup=replace(closeup, tokens=not closeup.tokens)))


def _around(app: GlassboxApp) -> None:
    if app.view.offline:
        app.tell(refusal())
        return
    closeup = app.view.closeup
    app.change(replace(app.view, closeup=replace(closeup, wide=not closeup.wide, tokens=False)))
    fetch_around(app, replace(app.view, closeup=PLAIN))


def fetch_around(app: GlassboxApp, before: View) -> None:
    """Ask for the text around the selected chunk, if it is wanted, not here, and was not asked for in `before`."""
    view, hit = app.view, state.selected_hit(app.view)
    if not view.closeup.wide or hit is None:
        return
    there = view.closeup.around
    wanted_anew = state.selected_hit(before) != hit or not before.closeup.wide
    went_stale = there is None and before.closeup.around is not None
    if (there is None or there.uid != hit.uid) and (wanted_anew or went_stale):
        app.send(ReadAround(hit.uid))


def step_source(app: GlassboxApp, by: int) -> bool:
    """Move over the answer's citations, if that is what the keys act on; the hit that is cited is selected, too."""
    view = app.view
    if cited(view) is None or view.reply is None:
        return False
    at = max(0, min(view.closeup.source + by, len(view.reply.sources) - 1))
    moved = replace(view, closeup=replace(view.closeup, source=at))
    hit = hit_of(view.trace, view.reply.sources[at].uid)
    app.change(moved if hit is None else replace(moved, selected=(hit.uid, hit.content)))
    app.reveal("answer", at - len(view.reply.sources))  # the sources are its last lines
    return True


COMMANDS: tuple[Command, ...] = (
    Command("read", "R", "read the whole note, the chunk marked", "note", _read, "read", has_target,
            urgent=lambda view: "source" if has_sources(view) else "read" if view.panel == "evidence" else ""),
    Command("open", "o", "open the note in $EDITOR at that line", "note", _open, "open", has_target, where=BOTH),
    Command("tokens", "t", "what each word of the question met in the chunk, and how strongly", "note", _tokens_list,
            "tokens", has_hit),
    Command("around", "a", "show what stands around the chunk in its note", "note", _around, when=has_hit),
    Command("reader_down", "j,down", "scroll a row down", "reader", partial(scroll, by=1), where=(READER,)),
    Command("reader_up", "k,up", "scroll a row up", "reader", partial(scroll, by=-1), where=(READER,)),
    Command("reader_page_down", "pagedown,space", "scroll a page down", "reader", partial(_page, by=1),
            where=(READER,)),
    Command("reader_page_up", "pageup,b", "scroll a page up", "reader", partial(_page, by=-1), where=(READER,)),
    Command("reader_top", "g,home", "the first row", "reader", partial(_end, by=-1), where=(READER,)),
    Command("reader_bottom", "G,end", "the last row", "reader", partial(_end, by=1), where=(READER,)),
    Command("find", "slash", "find words in the note", "reader", _find, "find", where=(READER,)),
    Command("next_found", "n", "next place of what was searched", "reader", partial(_match, by=1), "next",
            _has_found, where=(READER,)),
    Command("found_before", "N", "the place before", "reader", partial(_match, by=-1), when=_has_found,
            where=(READER,)),
    Command("next_chunk", "J", "next chunk of this note among the hits", "reader", partial(_chunk, by=1), "chunks",
            _has_chunks, where=(READER,)),
    Command("chunk_before", "K", "the chunk before", "reader", partial(_chunk, by=-1), when=_has_chunks,
            where=(READER,)),
    Command("reader_leave", "escape,q,R", "back to the results", "reader", close_reader, where=(READER,)),
)  # fmt: skip
