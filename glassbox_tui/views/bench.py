"""What `bench` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.views.plain import line


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


def threads_view(document: Mapping[str, Any]) -> RenderableType:
    """The document of `bench --threads --json` for people."""
    d = document
    table = Table.grid(padding=(0, 3))
    for _ in range(3):
        table.add_column(justify="right")
    table.add_row("threads", "reading, tokens/s", "writing, tokens/s")
    for row in d["rows"]:
        mark = "automatic" if row["automatic"] else ""
        table.add_row(str(row["threads"]), f"{row['reading']:.1f}", f"{row['writing']:.1f}", Text(mark, "dim"))
    cpus = "1 CPU" if d["cpus"] == 1 else f"{d['cpus']} CPUs"
    head = f"{line(d['model'])}; {cpus} allowed; {d['tokens']} tokens read and written, best of {d['tries']}"
    return Group(Text(head, "bold"), table)


def edits_view(document: Mapping[str, Any]) -> RenderableType:
    """The document of `bench --edits --json` for people."""
    d = document
    table = Table.grid(padding=(0, 2))
    rows = {
        "an edit, until keyword search finds it": f"{d['bm25_ms']:.0f} ms (slowest {d['bm25_worst_ms']:.0f})",
        "an edit, until its vectors are there too": f"{d['vectors_ms']:.0f} ms (slowest {d['vectors_worst_ms']:.0f})",
        "the whole folder anew": f"{d['rebuild_ms'] / 1000:.1f} s, {d['ratio']:,.0f} times an edit",
        "  of it until keyword search has it": f"{d['rebuild_text_ms'] / 1000:.1f} s",
        "  a chunk": f"{d['chunk_ms']:.0f} ms",
        "a search while nothing is embedded": f"{d['idle_ms']:.0f} ms",
    }
    if d["busy_ms"] is not None:
        rows["a search during the embedding"] = f"{d['busy_ms']:.0f} ms (slowest {d['busy_worst_ms']:.0f})"
    for name, words in rows.items():
        table.add_row(name, Text(words))
    counts = f"{d['notes']:,} notes, {d['chunks']:,} chunks, {d['edits']} edits"
    return Group(Text(f"{counts}; medians, from the end of the write", "bold"), table)
