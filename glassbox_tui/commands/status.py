"""`status`: where a folder's index is, what it holds, which files are not searchable and why. It only looks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from glassbox_tui import __version__
from glassbox_tui.index.check import size_of
from glassbox_tui.index.location import index_path
from glassbox_tui.index.lock import writer_of
from glassbox_tui.index.reach import out_of_reach
from glassbox_tui.index.schema import SCHEMA_VERSION
from glassbox_tui.notes.ignore import rules_of
from glassbox_tui.notes.scan import scan
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings
from glassbox_tui.views.status import IndexFile, NotSearchable, Read, Status, Warned


def status(notes: Path, settings: Settings) -> Status:
    """The state of the index of `notes`, opened only if there is one. Raises what opening an engine raises."""
    seen = scan(notes, rules_of(settings))
    missing = [NotSearchable(s.path, "", s.reason) for s in seen.skipped]
    file = index_path(settings, notes)
    found = Status(__version__, str(settings.data_dir), str(notes), str(file), None, tuple(missing))
    if not file.exists():  # looking must not make an index
        return found
    with Engine.open(notes, settings) as engine:
        known, info, notices = engine.notes(), engine.info(), engine.notices
        away, kept = out_of_reach(engine.store, notes, seen, [n.path for n in known])
    marked = [Warned(path, f"cannot be reached ({why}): kept as last read") for path, why in away.items()]
    holder, held = writer_of(file)
    missing += [NotSearchable(n.path, n.status, n.reason) for n in known if n.status != "ok"]
    return Status(
        version=found.version,
        data_dir=found.data_dir,
        notes_dir=found.notes_dir,
        index_file=found.index_file,
        index=info,
        not_searchable=tuple(missing),
        warnings=(*marked, *(Warned(n.path, warning) for n in known for warning in n.warnings)),
        notices=(*notices, *map(str, kept)),
        file=IndexFile(size_of(file.parent), SCHEMA_VERSION, str(holder) if holder is not None and held else None),
        encodings=dict(Counter(n.encoding for n in known if n.status == "ok").most_common()),
        searchable=tuple(Read(n.path, n.encoding, n.chunks) for n in known if n.status == "ok"),
    )
