"""Notes that are not files: a docs.jsonl of {"id", "title", "text"}, one document a line."""

from __future__ import annotations

from pathlib import Path

from glassbox_tui.index.rows import text_hash
from glassbox_tui.lab.jsonl import LabError, json_lines, text_of
from glassbox_tui.notes.decode import newlines, repair
from glassbox_tui.notes.load import LoadedNote


def read_documents(path: Path) -> dict[str, LoadedNote]:
    """id -> note. `title` may be absent; an id that ends in .md is read as Markdown. Raises LabError."""
    notes: dict[str, LoadedNote] = {}
    for where, row in json_lines(path):
        uid = text_of(row, "id", where)
        if not uid.strip():
            raise LabError(f'{where}: "id" is empty')
        if uid in notes:
            raise LabError(f"{where}: the id {uid!r} is there twice")
        notes[uid] = _note(uid, text_of(row, "title", where, ""), text_of(row, "text", where))
    if not notes:
        raise LabError(f"{path} holds no document")
    return notes


def _note(uid: str, title: str, raw: str) -> LoadedNote:
    text, warnings = repair(newlines(raw))
    title = " ".join(repair(title)[0].split())
    found = bool(text.strip())
    return LoadedNote(
        text=text,
        title=title,
        kind="md" if uid.lower().endswith((".md", ".markdown")) else "txt",
        encoding="utf-8",
        status="ok" if found else "empty",
        reason="" if found else "has no text",
        warnings=warnings,
        pages=(),
        body_start=0,
        digest=text_hash(f"{title}\n{text}"),
    )
