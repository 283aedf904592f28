"""The checks as a list for people: by group, a mark each, what was compared in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.selftest.check import NOT_RUN, Check
from glassbox_tui.views.plain import line


def report(checks: Sequence[Check], *, ascii: bool = False) -> RenderableType:
    """Every check under its group, then how many passed. Details are shown as text, never as markup."""
    blocks: list[RenderableType] = []
    for group, members in groupby(checks, key=lambda c: c.group):
        blocks += [Text(group, style="bold"), _rows(list(members), ascii), Text()]
    failed = [c for c in checks if not c.ok]
    absent = sum(c.ok and c.detail.startswith(NOT_RUN) for c in checks)
    summary = f"{len(checks) - len(failed)} of {len(checks)} hold" + (f", {absent} of them not run" if absent else "")
    blocks.append(Text(summary, style="bold red" if failed else "bold green"))
    blocks += [Text(f"fallen: {line(c.group)}: {line(c.name)}", style="red") for c in failed]
    return Lines(*blocks)


def _rows(checks: Sequence[Check], ascii: bool) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(width=4 if ascii else 1)
    table.add_column(ratio=2, overflow="fold")
    table.add_column(ratio=3, overflow="fold")
    for check in checks:
        mark, style = _mark(check, ascii)
        table.add_row(
            Text(mark, style=style),
            Text(line(check.name)),
            Text(line(check.detail), style="dim" if check.ok else style),
        )
    return table


def _mark(check: Check, ascii: bool) -> tuple[str, str]:
    if not check.ok:
        return ("FAIL" if ascii else "✗"), "red"
    if check.detail.startswith(NOT_RUN):
        return "-" if ascii else "–", "yellow"
    return ("ok" if ascii else "✓"), "green"
