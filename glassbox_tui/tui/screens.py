"""The two screens: the glass box itself, and the help that is generated from its bindings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from glassbox_tui.tui import answerlines, evidence, lines, registry, rounds
from glassbox_tui.tui.cells import DIM, KEY, WARN
from glassbox_tui.tui.commands import MAIN
from glassbox_tui.tui.hints import help_lines, hints
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.state import PANELS, View, selected_hit, shown_round, written_here
from glassbox_tui.tui.statusline import status
from glassbox_tui.tui.widgets import HitsTable, Panel, QueryBox
from glassbox_tui.tui.words import say
from glassbox_tui.views.colours import carried
from glassbox_tui.views.plain import clip
from glassbox_tui.views.plain import line as plain
from glassbox_tui.views.rankflow import rank_flow, rich_text

SMALLEST = (60, 16)


def flow(view: View, width: int, height: int) -> Sequence[Text]:
    """The rank flow of the shown round, the selected hit heavy."""
    now, hit = shown_round(view), selected_hit(view)
    if now is None:
        return []
    picture = rank_flow(
        now,
        width=width,
        height=height,
        selected=hit.uid if hit else None,
        only=view.only,
        look=view.look,
        colours=carried(view.colours, now),
    )
    if not picture.chunks:
        return [Text(say("nothing was found"), DIM)]
    return list(rich_text(picture).split("\n", allow_blank=True))


class MainScreen(Screen[None]):
    """All panels. `show` draws a View; how it is laid out follows from the size alone."""

    AUTO_FOCUS = ""  # closing the help must not put the user back into the query box
    # Textual's own would send the whole screen again, 14 kB, when the focus enters or leaves the query box.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    BINDINGS: ClassVar[list[BindingType]] = [*registry.bindings(priority=False)]

    def __init__(self) -> None:
        super().__init__()
        self._cramped = self._alone = False

    def compose(self) -> ComposeResult:
        yield Panel(status, id="status")
        with Horizontal(id="query-row"):
            yield Panel(lambda v, w, h: [_slash(v, w - 1)], id="slash")
            yield QueryBox(id="query", placeholder=say("type a question"))
        yield Panel(lines.verdict, id="verdict")
        yield Panel(lines.notice, id="notice")
        yield Panel(lines.tabs, id="tabs")
        with Horizontal(id="top"):
            with Vertical(id="hits-box", classes="box") as box:
                box.border_title = _title("hits")
                yield HitsTable(id="hits")
            yield Panel(flow, title=_title("flow"), id="flow", classes="box")
        with Horizontal(id="middle"):
            yield Panel(evidence.evidence, title=_title("evidence"), id="evidence", classes="box")
            yield Panel(evidence.scores, title=say("scores"), id="scores", classes="box")
        with Horizontal(id="bottom"):
            yield Panel(rounds.loop, title=_title("loop"), id="loop", classes="box")
            yield Panel(answerlines.answer, title=_title("answer"), id="answer", classes="box")
        yield Panel(hints, id="hints")
        yield Panel(lines.too_small, id="small")

    def on_mount(self) -> None:
        box = self.query_one(QueryBox)
        box.on_enter = partial(self.app.action_do, "run")  # type: ignore[attr-defined]
        box.on_leave = partial(self.app.action_do, "leave")  # type: ignore[attr-defined]
        box.on_typing = self.app.typing_now  # type: ignore[attr-defined]
        box.focus()  # before the first paint: what is typed from then on is not lost

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width < SMALLEST[0] or height < SMALLEST[1], "tiny")
        # All panels at once also take some height.
        self._cramped = width < lines.WIDE or height < 30
        self._arrange()

    def _arrange(self) -> None:
        """One panel at a time where there is no room for all, or where one is wanted alone."""
        self.set_class((self._cramped or self._alone) and not self.has_class("tiny"), "narrow")
        self.set_class(self._alone, "alone")

    def show(self, view: View, before: View | None) -> None:
        """Draw `view`; `before` is what is on screen, so that another text starts at its top."""
        if before is not None and view.language != before.language:
            self._retitle()
        self.set_class(view.loop.stepping or len(view.loop.branches) > 1, "stepping")
        self.set_class(view.trace is not None and len(view.trace.rounds) > 1, "rounds")
        if before is None or before.scope != view.scope:
            self._show_scope(view)
        if view.alone != self._alone:
            self._alone = view.alone
            self._arrange()
        for name in PANELS:
            self.set_class(name == view.panel, name)
        for box in self.query(".box"):
            box.set_class((box.id or "").removesuffix("-box") == view.panel, "active")
        moved = before is None or selected_hit(before) is not selected_hit(view)
        writing, wrote = written_here(view), before is not None and _has_text(before)
        for panel in self.query(Panel):
            if panel.id == "answer":
                # What is being written is followed to its end; once it is whole it is read from its beginning.
                panel.show(view, follow=writing is not None and wrote, rewind=wrote != _has_text(view))
            else:
                panel.show(view, from_top=moved and panel.id in {"evidence", "scores"})
        self.query_one(HitsTable).show(view)

    def _retitle(self) -> None:
        """Say the fixed words anew, in another language."""
        for name in PANELS:
            self.query_one("#hits-box" if name == "hits" else f"#{name}").border_title = _title(name)
        self.query_one("#scores").border_title = say("scores")
        self.query_one(QueryBox).placeholder = say("type a question")

    def _show_scope(self, view: View) -> None:
        """Where the query is typed it stands what it searches."""
        slash = _slash(view, self.size.width // 3)
        self.query_one("#slash", Panel).styles.width = slash.cell_len + 1
        self.query_one(QueryBox).border_title = Content(slash.plain.strip())  # no markup: it names a file


def _has_text(view: View) -> bool:
    writing = written_here(view)
    return writing is not None and bool(writing.text)


def _slash(view: View, room: int) -> Text:
    """The sign before the query, with the folder or note that is searched, in at most `room` cells."""
    scope = clip(" " + say("in {}", plain(view.scope)), room - 2, ellipsis="~") if view.scope else ""
    return Text(scope, WARN).append(f" {key_of('query')}", KEY)


def _title(name: str) -> str:
    word = say("rank flow") if name == "flow" else say(lines.PANEL_WORDS[name])
    return f"{key_of(f'panel_{name}')} {word}"


class HelpScreen(ModalScreen[None]):
    """Every key and what it does, made from the commands themselves, so that it is right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "dismiss", "close", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup,b", "page(-1)", show=False),
        Binding("g,home", "scroll(-9999)", show=False),
        Binding("G,end", "scroll(9999)", show=False),
    ]

    def __init__(self, where: str = MAIN) -> None:
        super().__init__()
        self._where = where

    def compose(self) -> ComposeResult:
        yield Panel(lambda v, w, h: help_lines(w, self._where), title=say("keys"), classes="box")

    def action_scroll(self, by: int) -> None:
        self.query_one(Panel).scroll_by(by)

    def action_page(self, by: int) -> None:
        self.action_scroll(by * (self.query_one(Panel).size.height - 2))
