"""Mends what `check` found, as far as the database goes; what is missing afterwards, an update makes anew."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from filelock import Timeout

from glassbox_tui.index.check import Finding
from glassbox_tui.index.lock import HOLDER, lock_of, writing
from glassbox_tui.index.schema import StoreError
from glassbox_tui.index.store import open_store, set_aside


def mend(path: Path, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Do what the cures of `findings` say, under the writer's lock. Returns notices.

    Raises StoreError, also while another process writes the index.
    """
    cures: dict[str, list[str]] = {}
    for finding in findings:
        if finding.cure:
            cures.setdefault(finding.cure, []).extend(finding.items)
    if "private" in cures:
        path.parent.chmod(0o700)
    for folder in cures.get("model", ()):
        shutil.rmtree(folder, ignore_errors=True)  # the next start makes it
    if not cures.keys() & {"rebuild", "reread", "recheck", "reembed", "drop", "clear"}:
        return ()
    try:
        with writing(lock_of(path)):
            return _mend_rows(path, findings, cures)
    except Timeout:
        raise StoreError(
            f"another process is writing the index {path}: nothing was repaired, try again later"
        ) from None


def _mend_rows(path: Path, findings: Sequence[Finding], cures: dict[str, list[str]]) -> tuple[str, ...]:
    path.with_name(HOLDER).unlink(missing_ok=True)
    if "rebuild" in cures:
        why = next(f"{finding.name}: {finding.detail}" for finding in findings if finding.cure == "rebuild")
        store, notices = set_aside(path, f"the index {path} is damaged ({why})")
    else:
        store, notices = open_store(path)
        store.remove_notes(cures.get("reread", ()))
        again = set(cures.get("recheck", ()))
        for note in store.notes():
            if note.path in again:
                store.touch_note(replace(note, seen_ns=0))  # as if it had never been looked at: its bytes decide
        pairs = (item.rpartition(" ") for item in cures.get("reembed", ()))
        store.remove_embeddings([(model, key) for model, _, key in pairs])
        store.drop_orphans()
    store.close()
    return notices
