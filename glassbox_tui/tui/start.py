"""How the app begins: what the config file, the environment and the last session make of the first View."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from glassbox_tui.config import Config, Ui, language, load_ui, origin
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings
from glassbox_tui.tui import registry, session, state, themes
from glassbox_tui.tui.keymap import keymap
from glassbox_tui.tui.keys import remap
from glassbox_tui.tui.session import Session
from glassbox_tui.tui.state import View
from glassbox_tui.tui.terminal import wants_ascii
from glassbox_tui.tui.words import speak
from glassbox_tui.views import widths
from glassbox_tui.views.look import look_of


@dataclass(frozen=True, slots=True)
class Start:
    view: View
    session: Session
    keys: Mapping[str, str]
    mouse: bool


def checked_keys(config: Config) -> dict[str, str]:
    """The [keys] of the config file against the commands there are. Raises SettingsError."""
    return keymap(config, registry.COMMANDS)


def started(
    notes: Path, settings: Settings, config: Config, environ: Mapping[str, str], trace: Trace | None = None
) -> Start:
    """The first View. Sets what is the process's: language, key names, cell widths. Raises SettingsError."""
    ui = load_ui(environ, file=config.ui)
    keys = checked_keys(config)
    remap(keys)
    at = Session(data=settings.data_dir) if trace is not None else session.session(settings, notes, ui)
    kept = session.chosen_look(at)
    told = {name for name in ("theme", "language") if origin(name, Ui, config.ui, environ) != "default"}
    tongue = language(ui, environ) if "language" in told else kept.get("language", language(ui, environ))
    speak(tongue)
    widths.ambiguous_is_wide() if ui.ambiguous == "wide" else widths.as_the_widest_terminal()
    colours = ui.theme if "theme" in told else kept.get("theme", ui.theme)
    theme = themes.chosen(colours, no_color="NO_COLOR" in environ, given="theme" in told)
    look = look_of(ascii=wants_ascii(environ) if ui.ascii == "auto" else ui.ascii == "yes", wide=ui.ambiguous == "wide")
    view = View(notes=str(notes), look=look, theme=theme, language=tongue)
    view = replace(view, rewriter=settings.rewriter)
    if trace is not None:
        view = replace(state.replayed(view, trace), offline=True, info=trace.index, progress=None)
        return Start(view, at, keys, ui.mouse)
    return Start(session.begun(view, at), at, keys, ui.mouse)
