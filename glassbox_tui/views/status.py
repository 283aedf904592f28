"""What `status` and `index` say: where things are, how far the index is, which files are not searchable and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.index.indexer import UpdateReport
from glassbox_tui.retrieval.trace import IndexInfo
from glassbox_tui.views.plain import line

SHOWN = 20  # files named one by one; the rest are counted


@dataclass(frozen=True, slots=True)
class NotSearchable:
    """A file of the notes folder that no search can find. `status` is empty for files that were never opened."""

    path: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A searchable note in which something was mended or guessed."""

    path: str
    warning: str


@dataclass(frozen=True, slots=True)
class Read:
    """A searchable note, and how its bytes were read."""

    path: str
    encoding: str
    chunks: int


@dataclass(frozen=True, slots=True)
class IndexFile:
    """The index on disk: bytes of its folder, version of its schema, who writes it now."""

    size: int
    schema: int
    writer: str | None


@dataclass(frozen=True, slots=True)
class Status:
    """A folder's index as it stands. `index` None: this folder was not indexed yet.

    `encodings` counts the searchable notes by encoding.
    """

    version: str
    data_dir: str
    notes_dir: str
    index_file: str
    index: IndexInfo | None
    not_searchable: tuple[NotSearchable, ...]
    warnings: tuple[Warned, ...] = ()
    notices: tuple[str, ...] = ()
    file: IndexFile | None = None
    encodings: Mapping[str, int] = field(default_factory=dict)
    searchable: tuple[Read, ...] = ()


def status_view(status: Status) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")

    def row(name: str, value: str) -> None:
        table.add_row(name, Text(line(value)))

    row("version", status.version)
    row("notes", status.notes_dir)
    row("data", status.data_dir)
    if status.index is None:
        row("index", "none yet: any retrieve, ask or index command makes it")
    else:
        row("index", status.index_file)
        if status.file is not None:
            row("on disk", f"{status.file.size / 1e6:,.1f} MB, schema {status.file.schema}")
            row("written by", status.file.writer or "no process now")
        row("holds", f"{status.index.notes:,} searchable notes, {status.index.chunks:,} chunks")
        row("dense", f"{status.index.dense_coverage:.0%} of the chunks have a vector")
        row("embedder", status.index.embedder)
        row("reranker", status.index.reranker or "none")
        row("encodings", ", ".join(f"{name} {count:,}" for name, count in status.encodings.items()) or "none")
    notices = [Text(line(n), "yellow") for n in status.notices]
    odd = [note for note in status.searchable if note.encoding not in {"utf-8", "pdf"}]
    read = [Text(f"{line(note.path)}: read as {line(note.encoding)}", "dim") for note in odd[:SHOWN]]
    if len(odd) > SHOWN:
        read.append(Text(f"and {len(odd) - SHOWN} more that are not UTF-8 (--json lists all)", "dim"))
    missing = not_searchable_lines(status.not_searchable, len(status.not_searchable))
    return Group(table, *notices, *missing, *warned_lines(status.warnings), *read)


def report_view(report: UpdateReport, notes_dir: str) -> RenderableType:
    """One line of counts, then the files that are not searchable."""
    if report.locked:
        return Text("another process is indexing this folder: nothing was changed here", "yellow")
    counts = (
        f"{report.added} added, {report.changed} changed, {report.removed} removed, {report.unchanged} unchanged; "
        f"{report.chunks} chunks cut, {report.embedded} embedded, {report.seconds:.1f} s"
    )
    files = [NotSearchable(s.path, "", s.reason) for s in report.skipped]
    files += [NotSearchable(path, "", reason) for path, reason in report.problems]
    warned = [Warned(path, warning) for path, warning in report.warnings]
    return Group(Text(line(notes_dir), "bold"), Text(counts), *not_searchable_lines(files), *warned_lines(warned))


def warned_lines(warned: Sequence[Warned]) -> list[Text]:
    """What was mended or guessed, the first notes by name."""
    lines = [Text(f"{line(w.path)}: {line(w.warning)}", "yellow") for w in warned[:SHOWN]]
    if len(warned) > SHOWN:
        lines.append(Text(f"and {len(warned) - SHOWN} more warnings (--json lists all)", "dim"))
    return lines


def not_searchable_lines(files: Sequence[NotSearchable], shown: int = SHOWN) -> list[Text]:
    """A count per reason, and the first files by name."""
    if not files:
        return []
    reasons = Counter(f.reason or f.status for f in files)
    summary = ", ".join(f"{count} {line(reason)}" for reason, count in reasons.most_common())
    lines = [Text(f"not searchable: {summary}", "yellow")]
    lines += [Text(f"  {line(f.path)}: {line(f.reason or f.status)}", "dim") for f in files[:shown]]
    if len(files) > shown:
        lines.append(Text(f"  and {len(files) - shown} more (`status` lists all)", "dim"))
    return lines
