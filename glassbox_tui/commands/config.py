"""`config`: where the config file is, and every value in force with where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.config import Config, Ui, load_ui, origin
from glassbox_tui.settings import Settings, knobs, load_settings
from glassbox_tui.views.plain import line


def document(config: Config, environ: Mapping[str, str]) -> dict[str, Any]:
    """The JSON document: each knob's value, its origin (default, file, environment) and its environment name."""
    in_force: dict[str, Any] = {
        "settings": (Settings, load_settings(environ, file=config.settings), config.settings),
        "ui": (Ui, load_ui(environ, file=config.ui), config.ui),
    }
    sections = {
        section: {
            name: {"value": getattr(values, name), "origin": origin(name, kind, file, environ), "env": knob.env}
            for name, knob in knobs(kind).items()
        }
        for section, (kind, values, file) in in_force.items()
    }
    keys = {id: list(keys) for id, keys in config.keys.items()}
    return {"file": str(config.path), "found": config.found, **sections, "keys": keys}


def view(found: Mapping[str, Any]) -> RenderableType:
    """The document for people: what is not at its default stands out."""
    table = Table.grid(padding=(0, 2))
    for section in ("settings", "ui"):
        table.add_row(Text(f"[{section}]", "bold"))
        for name, knob in found[section].items():
            own = "" if knob["origin"] != "default" else "dim"
            table.add_row(
                name, Text(line(_shown(knob["value"])), own), Text(knob["origin"], own), Text(knob["env"], "dim")
            )
    table.add_row(Text("[keys]", "bold"))
    for id, keys in found["keys"].items():
        table.add_row(Text(line(id)), Text(line(" ".join(keys) or "none")), "file")
    there = "" if found["found"] else " (there is none yet)"
    return Group(Text(f"config file  {line(found['file'])}{there}"), table)


def _shown(value: object) -> str:
    if value is None or value == "":
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
