"""Another folder of notes, without leaving: a prompt with completion, and the folders that were open before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from glassbox_tui.tui import folders, session
from glassbox_tui.tui.commands import BROWSER, MAIN, Command
from glassbox_tui.tui.messages import Event, FolderOpened, Opened, OpenFolder
from glassbox_tui.tui.replay import refusal
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def _ask(app: GlassboxApp) -> None:
    from glassbox_tui.tui.folderscreen import FolderScreen

    if app.view.offline:
        app.tell(refusal())
        return
    known = folders.recent(app.session.recent) if app.session.recent is not None else ()
    here = app.view.notes
    app.push_screen(FolderScreen([path for path in known if path != here]), lambda path: _open(app, path))


def _open(app: GlassboxApp, path: str | None) -> None:
    if path is None or path == app.view.notes:
        return
    session.ended(app.view, app.session)
    app.send(OpenFolder(path))
    app.tell(say("opening {} ...", path))


def heard(app: GlassboxApp, event: Event) -> None:
    """A folder that was opened is remembered, and the question that stands there is asked of it."""
    if isinstance(event, FolderOpened):
        if app.session.moved is not None:
            app.session = app.session.moved(Path(event.path))
        app.tell("")
        app.search(app.view.query, rounds=False)
    if isinstance(event, Opened | FolderOpened) and app.session.recent is not None:
        folders.remember(app.session.recent, app.view.notes)


COMMANDS: tuple[Command, ...] = (
    Command("folder", "D", "open another folder of notes", "notes", _ask, where=(MAIN, BROWSER)),
)
