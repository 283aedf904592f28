"""The notes browser: the folder as a tree, what became of each file, a note's chunks; and where to search."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from glassbox_tui.retrieval.listing import SKIPPED, NoteInfo
from glassbox_tui.tui import browsing, state
from glassbox_tui.tui.browsing import Browser
from glassbox_tui.tui.commands import BROWSER, MAIN, Command
from glassbox_tui.tui.features.reader import open_editor, open_reader
from glassbox_tui.tui.messages import Changed, Event, FolderOpened, ListChunks, ListNotes, NotesListed, Updated
from glassbox_tui.tui.replay import refusal
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View, selected_hit
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp
    from glassbox_tui.tui.browserscreen import BrowserScreen


def _open(app: GlassboxApp) -> None:
    """The browser where it was left; with a hit selected, at its note."""
    from glassbox_tui.tui.browserscreen import BrowserScreen

    if app.view.offline:
        app.tell(refusal())
        return
    app.leave_query()
    app.send(ListNotes())
    app.push_screen(BrowserScreen())
    hit = selected_hit(app.view)
    if hit is not None:
        _change(app, partial(browsing.revealed, path=hit.path))


def screen_of(app: GlassboxApp) -> BrowserScreen | None:
    """The browser, if it is open, be it under another screen."""
    from glassbox_tui.tui.browserscreen import BrowserScreen

    return next((screen for screen in app.screen_stack if isinstance(screen, BrowserScreen)), None)


def heard(app: GlassboxApp, event: Event) -> None:
    """While the browser is open it follows the index."""
    screen = screen_of(app)
    if screen is not None and isinstance(event, FolderOpened):
        screen.leave_filter()
        screen.put_filter("")
    if screen is not None and isinstance(event, Changed | Updated | FolderOpened):
        app.send(ListNotes())
    elif isinstance(event, NotesListed):
        _look_inside(app, again=True)


def narrow(app: GlassboxApp, words: str) -> None:
    """What is typed into the filter."""
    if words != app.view.browser.words:
        _change(app, partial(browsing.narrowed, words=words))


def _change(app: GlassboxApp, how: Callable[[Browser], Browser]) -> None:
    """Change the browser, keep the selected line in sight, and ask for what is inside it."""
    screen, after = screen_of(app), how(app.view.browser)
    if screen is not None and screen.is_mounted and screen.size:
        after = browsing.scrolled(after, screen.page)
    app.change(replace(app.view, browser=after))
    _look_inside(app)


def _look_inside(app: GlassboxApp, *, again: bool = False) -> None:
    """Ask for the chunks of the selected note, unless they are here (`again`: they may be others now)."""
    note, leaf = app.view.browser.note, app.view.browser.leaf
    if note is not None and note.status == "ok" and (again or leaf is None or leaf.path != note.path):
        app.send(ListChunks(note.path))


def _move(app: GlassboxApp, by: int) -> None:
    _change(app, partial(browsing.moved, by=by))


def _page(app: GlassboxApp, direction: int) -> None:
    screen = screen_of(app)
    _move(app, direction * (screen.page if screen is not None else 1))


def _enter(app: GlassboxApp) -> None:
    """On a folder: open or close it. On a note: read it; on a chunk: read it there."""
    browser = app.view.browser
    if browser.note is None:
        _change(app, browsing.turned)
    elif _is_there(app, browser.note):
        open_reader(app, browser.note.path, line=_line(browser) if browser.inside else None)


def _edit(app: GlassboxApp) -> None:
    browser = app.view.browser
    if browser.note is not None and _is_there(app, browser.note):
        open_editor(app, browser.note.path, _line(browser))


def _line(browser: Browser) -> int:
    """Where the selected chunk begins, while the keys act in the list of chunks; else the note's first line."""
    return browser.chunks[browser.chunk].lines[0] if browser.inside else 1


def _is_there(app: GlassboxApp, note: NoteInfo) -> bool:
    """What is left out at the scan was never opened, and is not opened here either: it says why."""
    if note.status == SKIPPED:
        app.tell(f"{note.path}: {told(note.reason)}")
    return note.status != SKIPPED


def _filter(app: GlassboxApp) -> None:
    if (screen := screen_of(app)) is not None:
        screen.enter_filter()


def _missing(app: GlassboxApp) -> None:
    _change(app, browsing.only_missing)


def _leave(app: GlassboxApp) -> None:
    """One step back: out of the filter, which goes; out of the chunks; out of the browser."""
    screen = screen_of(app)
    if screen is None:
        return
    if screen.filtering or app.view.browser.words:
        screen.leave_filter()
        screen.put_filter("")
        narrow(app, "")
    elif app.view.browser.inside:
        _change(app, browsing.shallower)
    else:
        screen.dismiss()


def _quit(app: GlassboxApp) -> None:
    if (screen := screen_of(app)) is not None:
        screen.dismiss()


# -- where to search ---------------------------------------------------------------------------------------------------


def _here(app: GlassboxApp) -> None:
    """Search only in the selected folder or note; where that is so already, everywhere again."""
    row = app.view.browser.row
    if row is None:
        return
    if isinstance(row.item, NoteInfo) and row.item.status != "ok":
        app.tell(say("nothing in {} can be searched", row.path))
        return
    _search_in(app, "" if app.view.scope == row.path else row.path)


def _hit_only(app: GlassboxApp) -> None:
    hit = selected_hit(app.view)
    if hit is not None:
        _search_in(app, hit.path)


def _everywhere(app: GlassboxApp) -> None:
    _search_in(app, "")


def _search_in(app: GlassboxApp, scope: str) -> None:
    app.change(state.within(app.view, scope))
    app.tell(say("searching only in {}", scope) if scope else say("searching all notes"))
    app.search(app.view.query, rounds=False)


def _scoped(view: View) -> bool:
    return bool(view.scope)


def _has_hit(view: View) -> bool:
    return selected_hit(view) is not None


_HERE = (BROWSER,)
_GROUP = "notes browser"

COMMANDS: tuple[Command, ...] = (
    Command("notes", "n", "browse the notes: what is indexed, what waits, what is left out and why", "notes", _open,
            "notes"),
    Command("search_everywhere", "N", "search all notes again", "notes", _everywhere, "all notes", _scoped,
            where=(MAIN, BROWSER)),
    Command("search_hit", "m", "search only in the selected hit's note", "notes", _hit_only, when=_has_hit),
    Command("browser_down", "j,down", "next line", _GROUP, partial(_move, by=1), where=_HERE),
    Command("browser_up", "k,up", "line before", _GROUP, partial(_move, by=-1), where=_HERE),
    Command("browser_top", "g,home", "first line", _GROUP, partial(_move, by=-sys.maxsize), where=_HERE),
    Command("browser_bottom", "G,end", "last line", _GROUP, partial(_move, by=sys.maxsize), where=_HERE),
    Command("browser_page_down", "pagedown,space", "a page down", _GROUP, partial(_page, direction=1), where=_HERE),
    Command("browser_page_up", "pageup,b", "a page up", _GROUP, partial(_page, direction=-1), where=_HERE),
    Command("browser_enter", "enter", "open or close the folder; read the note, or the chunk in it", _GROUP, _enter,
            "read", where=_HERE),
    Command("browser_edit", "o", "open the note in $EDITOR, at the chunk's line", _GROUP, _edit, "edit", where=_HERE),
    Command("browser_in", "l,right", "open the folder, or step into it; the chunks of a note", _GROUP,
            partial(_change, how=browsing.deeper), "chunks", where=_HERE),
    Command("browser_out", "h,left", "close the folder, or up to the one around; from the chunks back", _GROUP,
            partial(_change, how=browsing.shallower), where=_HERE),
    Command("browser_filter", "slash", "narrow the list by typing; esc shows all again", _GROUP, _filter, "filter",
            where=_HERE),
    Command("browser_missing", "u", "only what is not searchable, and back", _GROUP, _missing, "missing",
            where=_HERE),
    Command("browser_here", "s", "search only in this folder or note, and back", _GROUP, _here, "only here",
            where=_HERE),
    Command("browser_back", "escape", "one step back", _GROUP, _leave, where=_HERE),
    Command("browser_leave", "q,n", "back to the search", _GROUP, _quit, "back", where=_HERE),
)  # fmt: skip
