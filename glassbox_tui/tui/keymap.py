"""The [keys] of the config file against the commands there are: which keys each is on, or what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.keys import _character_to_key

from glassbox_tui.config import Config, close_to
from glassbox_tui.settings import SettingsError
from glassbox_tui.tui.commands import Command

_CALLED = {
    "esc": "escape",
    "return": "enter",
    "pgdn": "pagedown",
    "pgup": "pageup",
    "page_down": "pagedown",
    "page_up": "pageup",
    "del": "delete",
    "ins": "insert",
}
_NAMED = {
    *("escape", "enter", "tab", "space", "backspace", "delete", "insert"),
    *("home", "end", "pageup", "pagedown", "up", "down", "left", "right"),
    *(f"f{number}" for number in range(1, 25)),
    *(_character_to_key(chr(code)) for code in range(33, 127) if not chr(code).isalnum()),  # "slash"
}
_MODIFIED = re.compile(r"((?:ctrl|shift|alt)\+)+(.+)")
# The way out must work from anywhere, and these are what terminals send for other keys.
_FIXED = {"ctrl+c": "quits from anywhere", "ctrl+z": "goes back to the shell"}
_SAME = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter", "ctrl+h": "backspace", "ctrl+[": "esc"}


def keymap(config: Config, commands: Iterable[Command]) -> dict[str, str]:
    """Command id -> Textual's key names, comma-separated, for every command that the config file moves.

    Raises SettingsError: an unknown command, a key that no terminal sends, a key that another command of the same
    screen has.
    """
    known = {command.id: command for command in commands}
    defaults, moved = {id: command.keys for id, command in known.items()}, dict[str, str]()
    for id, keys in config.keys.items():
        if id not in defaults:
            raise _wrong(config, id, f"there is no command {id!r}: {close_to(id, defaults)}")
        moved[id] = ",".join(_textual_name(config, id, key) for key in keys)
    owners: dict[str, list[str]] = {}
    for id, named in {**defaults, **moved}.items():
        for key in filter(None, named.split(",")):
            owners.setdefault(key, []).append(id)
    for key, ids in owners.items():
        # Only what was moved is looked at: commands of which never more than one can act share a key by default.
        for guilty in (id for id in reversed(moved) if id in ids):
            other = next((id for id in ids if id != guilty and _meet(known[id], known[guilty])), None)
            if other is None:
                continue
            raise _wrong(config, guilty, f"the key {shown(key)!r} is {other}'s: give that command another in [keys]")
    return moved


def _meet(one: Command, other: Command) -> bool:
    """Whether there is a screen on which both have their keys."""
    return one.priority or other.priority or bool(set(one.where) & set(other.where))


def shown(key: str) -> str:
    """A Textual key name as one writes it in the config file."""
    return next((char for char in map(chr, range(33, 127)) if _character_to_key(char) == key), key)


def _textual_name(config: Config, id: str, key: str) -> str:
    if len(key) == 1 and key.isprintable():
        return _character_to_key(key)
    name = _CALLED.get(key.lower(), key.lower())
    if name in _FIXED:
        raise _wrong(config, id, f"{name} {_FIXED[name]} and cannot be given to a command")
    if name in _SAME:
        raise _wrong(config, id, f"a terminal sends the same for {name} and {_SAME[name]}: name another key")
    if found := _MODIFIED.fullmatch(name):
        rest = _CALLED.get(found[2], found[2])
        if rest in _NAMED or (len(rest) == 1 and rest.isprintable()):
            return name.removesuffix(found[2]) + (_character_to_key(rest) if len(rest) == 1 else rest)
    if name in _NAMED:
        return name
    raise _wrong(config, id, f'{key!r} is no key: write a character ("v"), or a name ("f3", "ctrl+g", "pgdn", "space")')


def _wrong(config: Config, id: str, sentence: str) -> SettingsError:
    line = config.key_lines.get(id)
    return SettingsError(f"{config.path}{f', line {line}' if line else ''}: [keys] {id}: {sentence}")
