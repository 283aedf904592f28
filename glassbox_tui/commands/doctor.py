"""`doctor`: what is wrong with a folder's index or with the models, and with `--repair` what was mended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.check import CURES, Finding, check_index
from glassbox_tui.index.location import index_path
from glassbox_tui.index.repair import mend
from glassbox_tui.models.checksums import model_faults
from glassbox_tui.models.telemetry import telemetry
from glassbox_tui.notes.scan import check_file
from glassbox_tui.progress import ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found at first, what is left after a repair (None: there was none), and what the repair had to say."""

    index_file: str
    found: tuple[Finding, ...]
    left: tuple[Finding, ...] | None = None
    notices: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong any more."""
        return all(one.ok for one in (self.found if self.left is None else self.left))


def diagnose(notes: Path, settings: Settings, progress: ProgressFn) -> Diagnosis:
    """Look everything over and change nothing. Raises SettingsError, and NotesError for a file that is no note."""
    check_file(notes)
    file = index_path(settings, notes)
    return Diagnosis(str(file), _look(file, notes, settings, progress))


def repair(notes: Path, settings: Settings, progress: ProgressFn, found: Diagnosis) -> Diagnosis:
    """Mend what can be mended, bring the index up to the folder, and look again.

    Raises StoreError (another process writes), NotesError, ModelError.
    """
    file = Path(found.index_file)
    notices = mend(file, found.found)
    cures = {one.cure for one in found.found}
    if cures & {"rebuild", "reread", "recheck", "reembed", "update"}:
        with Engine.open(notes, settings, progress) as engine:
            report = engine.update(progress)
            notices += engine.notices
        if report.locked:
            raise GlassboxError("another process is writing the index: what is missing now, it makes or a later run")
    return Diagnosis(found.index_file, found.found, _look(file, notes, settings, progress), notices)


def _look(file: Path, notes: Path, settings: Settings, progress: ProgressFn) -> tuple[Finding, ...]:
    return (*check_index(file, notes, settings, progress), *_models(settings), _telemetry())


def _telemetry() -> Finding:
    fault, seen = telemetry()
    return Finding("telemetry", not fault, fault or seen)


def _models(settings: Settings) -> Sequence[Finding]:
    return [
        Finding(f"model {name}", not fault, fault or "every byte is as it came", "model" if folder else "", (folder,))
        for name, fault, folder in model_faults(settings.models_dir)
    ]


def document(diagnosis: Diagnosis) -> dict[str, Any]:
    """The JSON document: each check, whether it held, whether a repair mended it; how many are wrong now."""
    left = {one.name: one for one in diagnosis.left} if diagnosis.left is not None else None
    checks = [
        {
            "name": one.name,
            "ok": one.ok,
            "detail": one.detail,
            "repair": CURES.get(one.cure, ""),
            "repaired": None if one.ok or left is None else one.name in left and left[one.name].ok,
        }
        for one in diagnosis.found
    ]
    now = diagnosis.found if diagnosis.left is None else diagnosis.left
    return {
        "index_file": diagnosis.index_file,
        "checks": checks,
        "wrong": sum(not one.ok for one in now),
        "repaired": sum(bool(check["repaired"]) for check in checks),
    }
