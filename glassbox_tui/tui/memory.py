"""What the app remembers between sessions, per notes folder, beside its index: where it was, and what was asked.

Both are private (0600) and a comfort only: a file that is damaged, or cannot be written, never stops the app. Of two
apps on one folder the last one to write wins; what is read is always whole.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from glassbox_tui.index.location import index_path
from glassbox_tui.retrieval.trace import LEVELS, Trace
from glassbox_tui.settings import Settings

KEPT = 500  # questions
LONGEST = 2_000  # characters of a question that is kept
LARGEST = 1_000_000  # bytes that are read of a file of ours; what is larger is not ours any more
DAMAGED = "what the last session left behind is damaged and was ignored"
_log = logging.getLogger(__name__)


def state_path(settings: Settings, notes: Path) -> Path:
    return index_path(settings, notes).with_name("session.json")


def history_path(settings: Settings, notes: Path) -> Path:
    return index_path(settings, notes).with_name("history.jsonl")


# -- where the last session ended ------------------------------------------------------------------------------------


def load_state(path: Path, checks: Mapping[str, Callable[[Any], bool]]) -> tuple[dict[str, Any], str]:
    """(what is remembered, a notice or ""): only values that pass their check, for another version may have written."""
    try:
        text = _read(path)
        document = json.loads(text) if text else {}
    except (OSError, ValueError, RecursionError):
        return {}, DAMAGED
    if not isinstance(document, dict):
        return {}, DAMAGED
    return {name: document[name] for name, sound in checks.items() if name in document and sound(document[name])}, ""


def save_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write it whole or not at all."""
    replace_text(path, json.dumps(dict(state), indent=1) + "\n")


# -- what was asked ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was run with all its rounds, and how its evidence was graded. `when` is ISO 8601 in UTC.

    `level` "": thresholds decided, or an earlier version wrote it; then `probability` is None, too.
    """

    query: str
    when: str
    sufficient: bool
    coverage: float | None
    rounds: int
    level: str = ""
    probability: float | None = None


def asked(trace: Trace, now: datetime | None = None) -> Asked:
    grade = trace.last.grade
    when = (now or datetime.now(UTC)).isoformat(timespec="seconds")
    query, rounds = trace.query.strip()[:LONGEST], len(trace.rounds)
    return Asked(query, when, grade.sufficient, grade.coverage, rounds, grade.level, grade.probability)


def remember(path: Path, entry: Asked) -> None:
    """Put a question at the end of the history; a file that grew too long is cut to the newest KEPT questions."""
    try:
        _make_folder(path)
        line = json.dumps(asdict(entry)) + "\n"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(line)  # one write, so that two apps never mix their lines
            size = file.tell()
    except OSError:
        _log.exception("the history could not be written")
        return
    if size > LARGEST // 2:
        replace_text(path, "".join(json.dumps(asdict(e)) + "\n" for e in reversed(recall(path))))


def recall(path: Path) -> tuple[Asked, ...]:
    """What was asked, the newest first, each question once. Lines that make no sense are left out."""
    try:
        lines = _read(path).splitlines()
    except (OSError, ValueError):
        return ()
    newest: dict[str, Asked] = {}
    for line in reversed(lines):
        if (entry := _entry(line)) is not None:
            newest.setdefault(entry.query, entry)
    return tuple(newest.values())[:KEPT]


def _entry(line: str) -> Asked | None:
    try:
        found = json.loads(line)
        query, when, coverage = found["query"], found["when"], found["coverage"]
        datetime.fromisoformat(when)
        if not isinstance(query, str) or not query.strip():
            return None
        share = None if coverage is None else min(1.0, max(0.0, float(coverage)))
        level, probability = found.get("level", ""), found.get("probability")
        chance = None if probability is None else min(1.0, max(0.0, float(probability)))
        if level not in ("", *LEVELS):
            return None
        sufficient, rounds = bool(found["sufficient"]), int(found["rounds"])
        return Asked(query[:LONGEST], when, sufficient, share, rounds, level, chance)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None


# -- files ------------------------------------------------------------------------------------------------------------


def _read(path: Path) -> str:
    """The file's text; "" where there is none. Of a file that grew too large only the end, from a whole line on."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LARGEST))
            raw = file.read(LARGEST)
    except FileNotFoundError:
        return ""
    return (raw if size <= LARGEST else raw.partition(b"\n")[2]).decode("utf-8")


def replace_text(path: Path, text: str) -> None:
    """Write the file whole or not at all; that it cannot be written goes to the log."""
    try:
        _make_folder(path)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    except OSError:
        _log.exception("%s could not be written", path)
        return
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        _log.exception("%s could not be written", path)
        with suppress(OSError):
            Path(name).unlink()


def _make_folder(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
