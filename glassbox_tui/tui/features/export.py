"""Export: the Trace as JSON, a report in Markdown, the screen as a picture; each a new file under the data folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len

from glassbox_tui.tui.choosing import Choice
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.conditions import middle
from glassbox_tui.tui.features.copy import short_path
from glassbox_tui.tui.features.reader import BOTH
from glassbox_tui.tui.outbox import new_file, stem_of
from glassbox_tui.tui.state import View, shown_reply
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp

FOLDER = "exports"


def markdown(view: View, made: str) -> str:
    """The report of what is shown. There must be a Trace."""
    from glassbox_tui.views.report import ReportAnswer, report

    if view.trace is None:
        raise ValueError("a report needs a Trace")
    reply = shown_reply(view)
    answer = None
    if reply is not None:
        sources = tuple(f"[{s.number or '~'}] {s.where}" for s in reply.sources)
        answer = ReportAnswer(reply.mode, reply.text, sources, reply.notice)
    return report(view.trace, answer=answer, made=made)


def _menu(app: GlassboxApp) -> None:
    from glassbox_tui.tui.menu import MenuScreen

    choices = [Choice("svg", say("the screen as a picture (SVG)"), "", "s")]
    if app.view.trace is not None:
        choices = [
            Choice("md", say("the search as a report (Markdown)"), "", "m"),
            Choice("json", say("the whole Trace (JSON), to be opened again"), "", "j"),
            *choices,
        ]

    def chosen(kind: str | None) -> None:
        if kind is not None:
            # The menu is to be gone from the picture.
            app.call_after_refresh(lambda: export(app, kind))

    app.push_screen(MenuScreen(say("export"), choices), chosen)


def export(app: GlassboxApp, kind: str, now: Callable[[], datetime] = datetime.now) -> None:
    """Write one export and say where it is."""
    from glassbox_tui.retrieval.trace_json import to_json

    view, at = app.view, now()
    if kind == "json" and view.trace is not None:
        text = to_json(view.trace, indent=1) + "\n"
    elif kind == "md" and view.trace is not None:
        text = markdown(view, f"{at:%Y-%m-%d %H:%M:%S}")
    else:
        text = without_fonts(app.export_screenshot(title="glassbox-tui"))
    stem = stem_of(view.trace.query if view.trace is not None else "", at)
    try:
        path = new_file(app.data / FOLDER, stem, kind, text)
    except OSError as error:
        app.tell(say("{} cannot be written: {}", short_path(app.data / FOLDER), error.strerror or error))
        return
    room = app.size.width - cell_len(say("written: {}", "")) - 2
    app.tell(say("written: {}", middle(short_path(path), room)))  # the end tells which file it is


def without_fonts(svg: str) -> str:
    """The picture without the fonts that it would fetch from the web when somebody looks at it."""
    return re.sub(r"@font-face\s*{[^}]*}", "", svg)


COMMANDS: tuple[Command, ...] = (
    Command("export", "E", "export: JSON, a Markdown report, a picture", "app", _menu, "export", where=BOTH),
)
