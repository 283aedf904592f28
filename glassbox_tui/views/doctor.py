"""What `doctor` found: a line each, with what is wrong and what a repair does or did."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.index.check import CURES, Finding
from glassbox_tui.views.look import Look
from glassbox_tui.views.plain import line


def doctor_view(found: Sequence[Finding], left: Sequence[Finding] | None, look: Look) -> RenderableType:
    """The findings, and after a repair (`left`, else None) whether each that was wrong is right now."""
    now = {one.name: one for one in (found if left is None else left)}
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in found:
        mended = left is not None and not one.ok and one.name in now and now[one.name].ok
        mark, style = ("ok", "green") if one.ok else ("mended", "yellow") if mended else ("WRONG", "red")
        told = one if one.ok or left is None else now.get(one.name, one)
        detail = f"{one.detail}; now: {told.detail}" if mended else told.detail
        if not one.ok and left is None:
            detail += f"; --repair {CURES[one.cure]}" if one.cure else "; --repair cannot mend it"
        table.add_row(Text(mark, style), Text(line(one.name)), Text(line(detail), "dim" if one.ok else style))
    wrong = sum(not one.ok for one in now.values())
    summary = "nothing is wrong" if not wrong else f"{wrong} of {len(now)} checks fell"
    return Group(table, Text(summary, "bold red" if wrong else "bold green"))
