"""What `eval` measured, as Markdown tables: readable in a terminal, ready for a README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.views.plain import line, number

DIGITS = 3


def report_view(document: Mapping[str, Any], caption: str) -> RenderableType:
    """A row for each config, and for each kind of question below, of the document of `eval --json`.

    success@k has a table of its own: in 80 cells all columns would not fit.
    """
    groups = {"": document, **document.get("kinds", {})}
    metrics = list(next(iter(document["configs"].values())))
    tables = []
    for chosen in ([m for m in metrics if "success" not in m], [m for m in metrics if "success" in m]):
        table = _table(["stage", *chosen])
        for kind, group in groups.items():
            for config, values in group["configs"].items():
                _add(table, f"{kind} · {config}" if kind else config, [values[m] for m in chosen])
        tables += [table] if chosen else []
    kinds = ", ".join(f"{group['queries']} {kind}" for kind, group in groups.items() if kind)
    told = [f"{caption}; {document['queries']} questions" + (f" ({kinds})" if kinds else "")]
    hits = {kind: group["extract_hit"] for kind, group in groups.items() if group["extract_hit"] is not None}
    if hits:
        shares = ", ".join(f"{number(hit, DIGITS)}{f' {kind}' if kind else ''}" for kind, hit in hits.items())
        told.append(f"the extract holds an answer: {shares}{_sizes(document.get('extract'))}")
    verdicts = {kind: group["verdict"] for kind, group in groups.items() if "verdict" in group}
    below = [_verdicts(verdicts)] if verdicts else []
    return Group(*tables, *(Text(line(sentence)) for sentence in told), *below)


def _verdicts(verdicts: Mapping[str, Mapping[str, Any]]) -> Table:
    """How the verdict did, by kind of question: of those with an answer in the notes, and of the others."""
    metrics = ("questions", "auroc", "answered_of_answerable", "answered_of_others", "ece")
    table = _table(["verdict", *(metric.replace("_", " ") for metric in metrics)])
    for kind, found in verdicts.items():
        _add(table, kind or "all", [found[metric] for metric in metrics])
    return table


def _sizes(extract: Mapping[str, float] | None) -> str:
    if extract is None:
        return ""
    sentences, chars = number(extract["sentences"], 1), number(extract["median_chars"], 0)
    return f"; {sentences} sentences an answer, a quote has {chars} characters (median)"


def comparison_view(document: Mapping[str, Any], caption: str) -> RenderableType:
    """A row for each variant of the document of `eval --compare --json`."""
    rows: Sequence[Mapping[str, Any]] = document["rows"]
    metrics = list(dict.fromkeys(key for row in rows for key in row if key != "name"))
    first = ", ".join(document[key] for key in ("compare", "metric") if key in document)
    table = _table([first, *metrics])
    for row in rows:
        _add(table, row["name"], [row.get(m) for m in metrics])
    return Group(table, Text(line(f"{caption}; {document['queries']} questions")))


def claims_view(document: Mapping[str, Any]) -> RenderableType:
    """A row for each kind of claim and each way of being true or false, of the document of `eval --claims --json`."""
    metrics = ("claims", "supported", "weak", "unsupported", "auroc")
    table = _table(["claims", "n", *metrics[1:]])
    for kind, rows in document["kinds"].items():
        for label, row in rows.items():
            _add(table, f"{kind} · {label}", [row.get(metric) for metric in metrics])
    return Group(table, Text(line(f"{document['notes']}; {document['embedder']}; auroc: true against this row")))


def _table(columns: Sequence[str]) -> Table:
    table = Table(box=box.MARKDOWN)
    for i, name in enumerate(columns):
        table.add_column(Text(line(name)), justify="right" if i else "left", overflow="fold")
    return table


def _add(table: Table, name: str, values: Sequence[float | None]) -> None:
    shown = [str(v) if isinstance(v, int) else number(v, DIGITS) for v in values]
    table.add_row(Text(line(name)), *(Text(s) for s in shown))
