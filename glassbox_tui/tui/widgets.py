"""The widgets. They draw what they are shown and keep nothing: the app's View is the only state."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import DataTable, Input

from glassbox_tui.retrieval.trace import Round
from glassbox_tui.text.normalize import visible
from glassbox_tui.tui import table
from glassbox_tui.tui.cells import drawn
from glassbox_tui.tui.keys import keys_of
from glassbox_tui.tui.state import View, selected_index, shown_round

Draw = Callable[[View, int, int], Sequence[Text]]


class Panel(Widget):
    """Lines of text drawn by one pure function of (view, width, height); only lines that changed are sent again."""

    ALLOW_SELECT = False

    def __init__(self, draw: Draw, *, title: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._view = View()
        self._lines: tuple[Text, ...] = ()
        self._top = 0
        self.border_title = title

    @property
    def plain(self) -> str:
        """All lines as plain text, those scrolled out of sight included."""
        return "\n".join(line.plain for line in self._lines)

    def show(self, view: View, *, from_top: bool = False, follow: bool = False, rewind: bool = False) -> None:
        """Draw `view`. `follow` keeps the end in sight, `rewind` begins anew, unless somebody has scrolled away."""
        self._view = view
        if not self.size:
            return
        before, top, at_end = self._lines, self._top, self._top == self._last_top()
        self._lines = tuple(map(drawn, self._draw(view, self.size.width, self.size.height)))
        last = self._last_top()
        self._top = 0 if from_top or (rewind and at_end) else last if follow and at_end else min(top, last)
        changed = [
            Region(start, y, end - start, 1)
            for y in range(self.size.height)
            for start, end in self._changed_cells(_line(before, y + top), _line(self._lines, y + self._top))
        ]
        if changed:
            self.refresh(*changed)

    def _changed_cells(self, old: Text | None, new: Text | None) -> list[tuple[int, int]]:
        """Where two lines differ: no span, or the one from the first to the last cell that does."""
        if old == new and (old is None or new is None or old.spans == new.spans):
            return []
        return changed_span(_cells(old, self.app.console), _cells(new, self.app.console), self.size.width)

    def scroll_by(self, lines: int) -> None:
        top = max(0, min(self._top + lines, self._last_top()))
        if top != self._top:
            self._top = top
            self.refresh()

    def reveal(self, line: int) -> None:
        """Scroll as little as brings `line` in sight; a negative one counts from the end."""
        at = line if line >= 0 else len(self._lines) + line
        self.scroll_by(max(at - self.size.height + 1, min(at, self._top)) - self._top)

    def _last_top(self) -> int:
        return max(0, len(self._lines) - self.size.height)

    def on_resize(self) -> None:
        self.show(self._view)
        self.refresh()

    def on_mouse_scroll_down(self) -> None:
        self.scroll_by(3)

    def on_mouse_scroll_up(self) -> None:
        self.scroll_by(-3)

    def render_line(self, y: int) -> Strip:
        line = _line(self._lines, y + self._top)
        # No base style: it would say "default colours" before every segment, and default they are.
        if line is None:
            return Strip.blank(self.size.width)
        return Strip(line.render(self.app.console)).adjust_cell_length(self.size.width)


def _line(lines: Sequence[Text], at: int) -> Text | None:
    return lines[at] if at < len(lines) else None


_Cell = tuple[str, Style | None]
_BLANK: _Cell = (" ", None)


def _cells(line: Text | None, console: Console) -> list[_Cell]:
    """A line cell by cell; the second cell of a wide character is empty."""
    cells: list[_Cell] = []
    for text, style, _ in line.render(console) if line is not None else ():
        for char in text:
            width = cell_len(char)
            if width:
                cells.extend([(char, style), ("", style)][:width])
            elif cells:
                cells[-1] = (cells[-1][0] + char, style)
    return cells


def changed_span(old: list[_Cell], new: list[_Cell], width: int) -> list[tuple[int, int]]:
    """[(start, end)] of the cells in 0..width that differ, widened so that no wide character is cut; or []."""
    a, b = ((cells + [_BLANK] * width)[:width] for cells in (old, new))
    differ = [i for i in range(width) if a[i] != b[i]]
    if not differ:
        return []
    start, end = differ[0], differ[-1] + 1
    while start > 0 and not (a[start][0] and b[start][0]):
        start -= 1
    while end < width and not (a[end][0] and b[end][0]):
        end += 1
    return [(start, end)]


class HitsTable(DataTable[Text]):
    """One row per hit. Rows are keyed by place and only cells that changed are set again."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(
            id=id,
            classes=classes,
            cursor_type="row",
            zebra_stripes=False,
            cell_padding=0,
            cursor_foreground_priority="css",
        )
        self.can_focus = False  # the keys belong to the screen: moving is a change of the View
        self._view = View()
        self._shape: tuple[table.Column, ...] = ()
        self._shown: list[tuple[Text, ...]] = []
        # What the rows were made from: an arrow key must not make a thousand of them again.
        self._round: Round | None = None
        self._source: tuple[object, ...] = ()

    def show(self, view: View) -> None:
        self._view = view
        if not self.size:
            return
        # Moving the cursor from here is not the user's doing: nobody needs to hear of it.
        with self.prevent(DataTable.RowHighlighted):
            source = (view.columns, view.sort, view.look, view.colours, view.language, self.size.width)
            if shown_round(view) is not self._round or source != self._source:
                self._round, self._source = shown_round(view), source
                self._reshape(table.columns(view, self.size.width))
                self._set_rows(table.rows(view, self._shape))
            if self._shown:
                self.move_cursor(row=selected_index(view), animate=False)

    def _reshape(self, shape: tuple[table.Column, ...]) -> None:
        if shape == self._shape:
            return
        self._shape, self._shown = shape, []
        self.clear(columns=True)
        for column in shape:
            width = column.width + (0 if column is shape[-1] else table.GAP)
            self.add_column(table.label(column), key=column.key, width=width)

    def _set_rows(self, rows: list[tuple[Text, ...]]) -> None:
        before, self._shown = self._shown, rows
        for at in range(len(rows), len(before)):
            self.remove_row(str(at))
        for at, row in enumerate(rows):
            if at >= len(before):
                self.add_row(*row, key=str(at))
                continue
            for column, old, new in zip(self._shape, before[at], row, strict=True):
                if old != new or old.style != new.style:  # equal texts may differ in the style of the whole
                    self.update_cell(str(at), column.key, new)

    def on_resize(self, event: events.Resize) -> None:
        self.show(self._view)


class QueryBox(Input):
    """One line to type in. What is pasted arrives whole: line breaks and tabs become blanks.

    `on_enter` and `on_leave` run on Enter (in place of the Submitted message) and on the key that leaves the box,
    `on_typing` hears whether the keys are text now; they are set where the box is the query's.
    """

    def __init__(self, value: str = "", *, id: str | None = None, placeholder: str = "") -> None:
        super().__init__(value, id=id, placeholder=placeholder, select_on_focus=False)
        self.cursor_blink = False
        self.on_enter: Callable[[], None] | None = None
        self.on_leave: Callable[[], None] | None = None
        self.on_typing: Callable[[bool], None] | None = None

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        if self.on_typing is not None:
            self.on_typing(has_focus)

    async def _on_key(self, event: events.Key) -> None:
        # Keys may come in one packet. What one of them does happens at once and not by a message, and where it led out
        # of the box the keys behind it are not typed any more.
        if self.screen.focused is not self or self.app.screen is not self.screen:
            event.prevent_default()
            event.stop()
            self.app.post_message(events.Key(event.key, event.character))
            return
        # "/" leads into this box; pressed by one who is in it already, it must not become the query's first letter.
        if event.character == "/" and not self.value and self.on_enter is not None:
            event.prevent_default()
            event.stop()
            return
        act = (
            self.on_enter
            if event.key == "enter"
            else self.on_leave
            if event.key in keys_of("leave").split(",")
            else None
        )
        if act is not None:
            event.prevent_default()
            event.stop()
            act()
            return
        # Keys that write nothing (ctrl+u, left, tab, enter) would go up to the app, past the letters behind them.
        if not event.is_printable and await self.app._check_bindings(event.key):
            event.prevent_default()
            event.stop()
            return
        await super()._on_key(event)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()  # Input would keep the first line only
        event.stop()
        self.replace(one_line(event.text), *self.selection)


def one_line(text: str) -> str:
    """`text` as a query: runs of line breaks and tabs become a blank, other control characters are left out."""
    blanks = re.sub(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+", " ", text)
    return "".join(c for c in blanks if visible(c) == c)
