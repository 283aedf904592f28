"""What `models list` shows: every model, what it is for, whether it is here, and what is in use with its thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glassbox_tui.models.rows import ModelRow
from glassbox_tui.models.speed import Speed
from glassbox_tui.retrieval.reasons import Say, english
from glassbox_tui.views.plain import ABSENT, line, number

_TITLES = {"embedder": "Embedders", "reranker": "Rerankers", "generator": "Generators"}
# Words for the figures of a Speed, in this order; of SHORT the first that there is.
SHORT = {"write_tokens": "{} tokens/s", "query_ms": "{} ms/query", "rerank_ms": "{} ms/8"}
FIGURES = {
    "query_ms": "{} ms a query",
    "passage_ms": "{} ms a passage of about 350 tokens",
    "rerank_ms": "{} ms for 8 short passages",
    "read_tokens": "reads {} tokens a second",
    "write_tokens": "writes {} a second",
    "load_s": "loads in {} s",
}
LITTLE, MEMORY = "memory under 1 MB", "memory {} MB"
MAPPED = "memory {} MB, of which {} are files, mapped: shared, and given back when it runs short"
MEASURED, MEASURED_BUSY = "measured {}", "measured {}, on a busy machine: it is faster at rest"
WORDS = (*SHORT.values(), *FIGURES.values(), LITTLE, MEMORY, MAPPED, MEASURED, MEASURED_BUSY)
_MAPPED, _WORTH = 0.1, 5.0  # least share of the memory, and least MB, that are worth a word
WIDE = 110  # cells from which memory and speed have columns of their own


def models_view(rows: Sequence[ModelRow], models_dir: str, width: int = 80) -> RenderableType:
    """A table a kind, then some lines on each model that is in use, here or damaged."""
    parts: list[RenderableType] = []
    for kind, title in _TITLES.items():
        parts += [_table(title, [row for row in rows if row.entry.kind == kind], width >= WIDE), Text()]
    for row in rows:
        if row.in_use or row.path or row.speed is not None:
            parts += _details(row)
    parts.append(Text(f"models are kept in {line(models_dir)}; * in use, + here, ! trouble", "dim"))
    if any(row.present and row.speed is None for row in rows):
        parts.append(Text("`models list --measure [NAME]` measures speed and memory here", "dim"))
    return Group(*parts)


def short_speed(speed: Speed, say: Say = english) -> str:
    """The figure that matters most of a model, for a column; "" where there is none."""
    for name, words in SHORT.items():
        if (value := getattr(speed, name)) is not None:
            return say(words, _figure(value))
    return ""


def speed_words(speed: Speed, say: Say = english) -> str:
    """All figures of speed in words."""
    found = {name: getattr(speed, name) for name in FIGURES}
    return ", ".join(say(FIGURES[name], _figure(value)) for name, value in found.items() if value)


def memory_words(speed: Speed, say: Say = english) -> str:
    """What it takes of the memory; "" where that is not known."""
    memory, mapped = speed.memory_mb, speed.mapped_mb or 0.0
    if memory is None:
        return ""
    if memory < 1:
        return say(LITTLE)
    if mapped < max(_MAPPED * memory, _WORTH):
        return say(MEMORY, f"{memory:,.0f}")
    return say(MAPPED, f"{memory:,.0f}", f"{mapped:,.0f}")


def measured_words(speed: Speed, say: Say = english) -> str:
    """When that was, to the minute, and whether the machine was at rest."""
    return say(MEASURED_BUSY if speed.busy else MEASURED, line(speed.measured.replace("T", " ")[:16]))


def _figure(value: float) -> str:
    """Two digits that count, or the whole number."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def to_dict(rows: Sequence[ModelRow], models_dir: str) -> dict[str, Any]:
    """The JSON document: null for what a model does not have or nobody knows."""
    return {"models_dir": models_dir, "models": [_as_json(row) for row in rows]}


def _as_json(row: ModelRow) -> dict[str, Any]:
    entry = asdict(row.entry)
    entry["dimension"] = row.entry.dimension or None
    entry["token_limit"] = row.entry.token_limit or None
    entry["rerank_weight"] = row.entry.rerank_weight if row.entry.kind == "reranker" else None
    entry["thresholds"] = dict(row.entry.thresholds)
    speed = None if row.speed is None else asdict(row.speed)
    state = {"present": row.present, "in_use": row.in_use, "broken": row.broken, "why": row.why}
    return entry | state | {"path": row.path or None, "speed": speed}


def _table(title: str, rows: Sequence[ModelRow], wide: bool) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, show_edge=False)
    weighted = any(row.entry.kind == "reranker" for row in rows)
    table.add_column(" ", no_wrap=True)
    table.add_column("name, and what it is for", overflow="fold")
    for title in ("weight",) if weighted else ("dim",):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("MB", justify="right", no_wrap=True)
    if wide:
        table.add_column("memory", justify="right", no_wrap=True)
        table.add_column("speed here", justify="right", no_wrap=True)
    table.add_column("licence", no_wrap=True)
    for row in rows:
        entry, purpose = row.entry, Text(line(row.entry.purpose), "dim")
        table.add_row(
            _sign(row),
            Group(Text(line(entry.name), "bold" if row.in_use else ""), Padding(purpose, (0, 0, 0, 2))),
            f"{entry.rerank_weight:g}" if weighted else str(entry.dimension or ABSENT),
            str(entry.token_limit or ABSENT),
            f"{entry.size_mb:.0f}" if entry.size_mb else ABSENT,
            *(_measured(row) if wide else ()),
            Text(line(entry.licence)),
        )
    return table


def _measured(row: ModelRow) -> tuple[str, str]:
    if row.speed is None:
        return ABSENT, ABSENT
    memory = row.speed.memory_mb
    return ABSENT if memory is None else f"{memory:,.0f}", short_speed(row.speed) or ABSENT


def _sign(row: ModelRow) -> str:
    if row.broken:
        return "!"
    return "*" if row.in_use else "+" if row.present else " "


def _details(row: ModelRow) -> list[RenderableType]:
    entry = row.entry
    lines = [entry.source] if entry.source else []
    if row.speed is not None:
        parts = filter(None, [speed_words(row.speed), memory_words(row.speed)])
        lines.append(f"here: {'; '.join(parts)} ({measured_words(row.speed)})")
    if entry.kind != "generator":
        judged = ", ".join(f"{signal} {number(value)}" for signal, value in entry.thresholds.items())
        lines.append(f"sufficient from: {judged or 'no threshold'} ({entry.calibration})")
    head = Text.assemble((line(entry.name), "bold"), f": {line(row.why)}")
    return [head, *(Padding(Text(line(text)), (0, 0, 0, 2)) for text in lines)]
