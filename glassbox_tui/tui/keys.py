"""Which keys the commands are on, and what people call those keys.

Keys can be changed in the config file: a text that names one asks `key_of`, so that it is right for everybody. The
registry fills the table when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_keys: dict[str, str] = {}

# How keys are called on screen, where it is not their own name.
_SHOWN = {
    "slash": "/",
    "escape": "esc",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "question_mark": "?",
    "colon": ":",
    "full_stop": ".",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def register(defaults: Iterable[tuple[str, str]]) -> None:
    """The commands' own keys: (id, Textual's key names, comma-separated)."""
    _keys.update(defaults)


def remap(keys: Mapping[str, str]) -> None:
    """Put commands on other keys. Raises KeyError, changing nothing, where an id is unknown."""
    unknown = sorted(keys.keys() - _keys.keys())
    if unknown:
        raise KeyError(unknown[0])
    _keys.update(keys)


def keys_of(id: str) -> str:
    """Textual's names of the command's keys, comma-separated; "" if it has none."""
    return _keys.get(id, "")


def key_of(id: str) -> str:
    """The first key of the command as people call it: "/", "esc", "j"; "" if it has none."""
    return shown(keys_of(id).partition(",")[0])


def all_keys_of(id: str) -> str:
    return ", ".join(shown(key) for key in keys_of(id).split(",") if key)


def shown(key: str) -> str:
    """What people call a key that Textual names `key`."""
    return _SHOWN.get(key, key)
