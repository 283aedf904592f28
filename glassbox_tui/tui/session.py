"""What of the View outlives a session, and where it is kept. Files are read at the start and written when it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from glassbox_tui.config import Ui
from glassbox_tui.retrieval.trace import ALL_STAGES, Trace
from glassbox_tui.settings import Settings
from glassbox_tui.tui import memory, themes
from glassbox_tui.tui.state import COLUMNS, PANELS, View
from glassbox_tui.tui.words import LANGUAGES, say


@dataclass(frozen=True, slots=True)
class Session:
    """The files of one session; None: this is not remembered. `greeted` exists once somebody has seen the welcome.

    `data` is the folder for what the user copies and exports (None: where the environment puts it).
    `recent` lists the folders that were opened; `look` holds the theme and the language that were chosen by key, for
    all folders; `moved` makes the session of another folder.
    """

    state: Path | None = None
    history: Path | None = None
    greeted: Path | None = None
    data: Path | None = None
    recent: Path | None = None
    look: Path | None = None
    moved: Callable[[Path], Session] | None = None


def session(settings: Settings, notes: Path, ui: Ui) -> Session:
    return Session(
        memory.state_path(settings, notes) if ui.restore else None,
        memory.history_path(settings, notes) if ui.history else None,
        settings.data_dir / "greeted",
        settings.data_dir,
        settings.data_dir / "recent.json",
        settings.data_dir / "look.json" if ui.restore else None,
        lambda other: session(settings, other, ui),
    )


def _pair(value: Any) -> bool:
    return value is None or (isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) for v in value))


# View field -> whether a value of a file can be it.
_KEPT: Mapping[str, Callable[[Any], bool]] = {
    "query": lambda v: isinstance(v, str) and len(v) <= memory.LONGEST,
    "panel": lambda v: v in PANELS,
    "columns": lambda v: v in COLUMNS,
    "sort": lambda v: v in ALL_STAGES,
    "only": lambda v: isinstance(v, bool),
    "selected": _pair,
}


def begun(view: View, at: Session) -> View:
    """The first View: as the last session on these notes ended; in the first of all, with the welcome."""
    first = False
    if at.greeted is not None and not at.greeted.exists():
        first = True
        with suppress(OSError):
            at.greeted.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            at.greeted.touch()
    kept, notice = memory.load_state(at.state, _KEPT) if at.state is not None else ({}, "")
    if kept.get("selected") is not None:
        kept["selected"] = tuple(kept["selected"])
    if kept.get("panel") == "answer":  # the answer is not kept: there would be nothing to see while typing
        del kept["panel"]
    return replace(view, **kept, told=say(notice) if notice else view.told, first_time=first)


def ended(view: View, at: Session) -> None:
    """Keep where this session ended."""
    if at.state is not None and not view.offline:
        memory.save_state(at.state, {name: getattr(view, name) for name in _KEPT})


_LOOK: Mapping[str, Callable[[Any], bool]] = {
    "theme": lambda v: v in themes.NAMES,
    "language": lambda v: v in LANGUAGES,
}


def chosen_look(at: Session) -> dict[str, str]:
    """The theme and language that were chosen by key in an earlier session, as far as any was."""
    return memory.load_state(at.look, _LOOK)[0] if at.look is not None else {}


def choose_look(at: Session, **chosen: str) -> None:
    """Keep a theme or a language that was chosen by key."""
    if at.look is not None:
        memory.save_state(at.look, {**chosen_look(at), **chosen})


def ran(trace: Trace, at: Session) -> None:
    """Keep a question that was run with all its rounds, with its grade."""
    if at.history is not None and trace.query.strip():
        memory.remember(at.history, memory.asked(trace))
