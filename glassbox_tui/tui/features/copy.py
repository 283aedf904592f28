"""Copying: to the terminal's clipboard (OSC 52), and to a file, for not every terminal obeys."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from glassbox_tui.tui.choosing import Choice
from glassbox_tui.tui.clipboard import LIMIT_BYTES, in_tmux, osc52
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.features.reader import BOTH
from glassbox_tui.tui.outbox import replace_file
from glassbox_tui.tui.state import View, shown_reply
from glassbox_tui.tui.target import target
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import first_line

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp

FILE = "copied.txt"


def copies(view: View) -> dict[str, tuple[str, str]]:
    """What can be copied now: key -> (what it is, the text itself, as it is in the note)."""
    found = target(view)
    texts: dict[str, tuple[str, str]] = {}
    if found is not None:
        if found.hit is not None:
            texts["c"] = (say("the chunk's text"), found.hit.text)
        texts["l"] = (say("path:line"), f"{found.path}:{found.line}")
        texts["f"] = (say("the full path:line"), f"{Path(view.notes).absolute() / found.path}:{found.line}")
    if view.query.strip():
        texts["q"] = (say("the query"), view.query)
    reply = shown_reply(view)
    if reply is not None and reply.text:
        sources = "\n".join(f"[{s.number or '~'}] {s.where}" for s in reply.sources)
        texts["a"] = (say("the answer with its sources"), f"{reply.text}\n\n{sources}".strip())
    return texts


def _menu(app: GlassboxApp) -> None:
    from glassbox_tui.tui.menu import MenuScreen

    texts = copies(app.view)
    choices = [Choice(key, name, first_line(text)[:200], key) for key, (name, text) in texts.items()]

    def chosen(key: str | None) -> None:
        if key is not None:
            copy_text(app, *texts[key])

    if choices:
        app.push_screen(MenuScreen(say("copy"), choices), chosen)


def copy_text(app: GlassboxApp, what: str, text: str) -> None:
    """Send `text` to the clipboard and write it to the file; what became of it stands in the notice row."""
    tmux = in_tmux(os.environ)
    sequence, cut = osc52(text, tmux=tmux)
    app.write_raw(sequence)
    path = app.data / FILE
    try:
        replace_file(path, text)
        there = say("also in {}", short_path(path))
    except OSError as error:
        there = say("no file has it ({}: {})", short_path(path), error.strerror or error)
    said = [say("copied {}", what)]
    if cut:
        said.append(say("the clipboard gets the first {} kB only, the file all of it", LIMIT_BYTES // 1000))
    said.append(there)
    if tmux:
        said.append(say("tmux passes it on with set-clipboard on"))
    app.tell("; ".join(said))


def short_path(path: Path) -> str:
    """A path with ~ for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _anything(view: View) -> bool:
    return bool(view.query.strip()) or target(view) is not None


COMMANDS: tuple[Command, ...] = (
    Command("copy", "y", "copy the chunk, its place, the query or the answer", "note", _menu, "copy", _anything,
            where=BOTH),
)  # fmt: skip
