"""What `models list` shows: every model, what it is for, whether it is here, and what is in use with its thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glassbox_tui.models.listing import ModelRow
from glassbox_tui.views.plain import ABSENT, line, number

_TITLES = {"embedder": "Embedders", "reranker": "Rerankers", "generator": "Generators"}


def models_view(rows: Sequence[ModelRow], models_dir: str) -> RenderableType:
    """A table a kind, then a line or two on each model that is in use, here or damaged."""
    parts: list[RenderableType] = []
    for kind, title in _TITLES.items():
        parts += [_table(title, [row for row in rows if row.entry.kind == kind]), Text()]
    for row in rows:
        if row.in_use or row.path:
            parts += _details(row)
    parts.append(Text(f"models are kept in {line(models_dir)}; * in use, + here, ! damaged", "dim"))
    return Group(*parts)


def to_dict(rows: Sequence[ModelRow], models_dir: str) -> dict[str, Any]:
    """The JSON document: null for what a model does not have or nobody knows."""
    return {"models_dir": models_dir, "models": [_as_json(row) for row in rows]}


def _as_json(row: ModelRow) -> dict[str, Any]:
    entry = asdict(row.entry)
    entry["dimension"] = row.entry.dimension or None
    entry["token_limit"] = row.entry.token_limit or None
    entry["rerank_weight"] = row.entry.rerank_weight if row.entry.kind == "reranker" else None
    entry["thresholds"] = dict(row.entry.thresholds)
    return entry | {"present": row.present, "in_use": row.in_use, "why": row.why, "path": row.path or None}


def _table(title: str, rows: Sequence[ModelRow]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, show_edge=False)
    weighted = any(row.entry.kind == "reranker" for row in rows)
    table.add_column(" ", no_wrap=True)
    table.add_column("name, and what it is for", overflow="fold")
    for title in ("weight",) if weighted else ("dim",):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("MB", justify="right", no_wrap=True)
    table.add_column("licence", no_wrap=True)
    for row in rows:
        entry, purpose = row.entry, Text(line(row.entry.purpose), "dim")
        table.add_row(
            _sign(row),
            Group(Text(line(entry.name), "bold" if row.in_use else ""), Padding(purpose, (0, 0, 0, 2))),
            f"{entry.rerank_weight:g}" if weighted else str(entry.dimension or ABSENT),
            str(entry.token_limit or ABSENT),
            f"{entry.size_mb:.0f}" if entry.size_mb else ABSENT,
            Text(line(entry.licence)),
        )
    return table


def _sign(row: ModelRow) -> str:
    if row.why.startswith("damaged"):
        return "!"
    return "*" if row.in_use else "+" if row.present else " "


def _details(row: ModelRow) -> list[Text]:
    entry = row.entry
    lines = [Text.assemble((line(entry.name), "bold"), f": {line(row.why)}")]
    if entry.source:
        lines.append(Text(f"  {line(entry.source)}"))
    judged = ", ".join(f"{signal} {number(value)}" for signal, value in entry.thresholds.items())
    lines.append(Text(f"  sufficient from: {judged or 'no threshold'} ({line(entry.calibration)})"))
    return lines
