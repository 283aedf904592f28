"""What `bench` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def bench_view(document: Mapping[str, Any]) -> RenderableType:
    """The document of `bench --json` for people."""
    table = Table.grid(padding=(0, 2))
    table.add_row("search, one round", Text(f"{document['search_ms']:.1f} ms"))
    if document["encode_ms"] is not None:
        table.add_row("  the query's vector", Text(f"{document['encode_ms']:.1f} ms"))
    for name, ms in document["stages_ms"].items():
        table.add_row(f"  {name}", Text(f"{ms:.2f} ms"))
    for v in document["versus"]:
        words = f"{v['ours_ms']:.3f} ms; {v['other']}: {v['other_ms']:.3f} ms, {v['ratio']:.1f} times as long"
        table.add_row(v["name"], Text(words))
    counts = f"{document['notes']:,} notes, {document['chunks']:,} chunks, {document['queries']} questions"
    return Group(Text(f"{counts}; medians, warm", "bold"), table)
