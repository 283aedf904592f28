"""A partial update begins where the change does, and not at the left edge of the widget it is in."""

from __future__ import annotations

from rich.console import Console
from rich.segment import Segment
from textual import _compositor
from textual.strip import Strip

from glassbox_tui.tui.partial import FromTheChange, redraw_from_the_change

CONSOLE = Console(color_system=None, force_terminal=True, legacy_windows=False)


def test_only_the_changed_cells_are_sent() -> None:
    left, right = Strip([Segment("│ abcdef │")]), Strip([Segment("│ 中文gh │")])
    update = FromTheChange([{0: left, 10: right}, {0: left, 10: None}], [(0, 4, 14), (1, 2, 3)], [[10, 20], [10, 20]])
    assert update.render_segments(CONSOLE) == "\x1b[1;5Hcdef │\x1b[1;11H│ 中\x1b[2;3Ha"


def test_it_is_what_the_app_uses() -> None:
    was = _compositor.ChopsUpdate
    try:
        redraw_from_the_change()
        assert _compositor.ChopsUpdate is FromTheChange
    finally:
        _compositor.ChopsUpdate = was  # type: ignore[misc]
