"""The config file: the knobs by field name, how the interface looks and speaks, which keys its commands are on.

    [settings]
    top_k = 12
    [ui]
    language = "zh"
    [keys]
    columns = ["v", "f3"]

The environment wins over the file, the command line over both. A Python program that uses `Engine` is not touched by
the file. Every error is one sentence that names the file, the line, the key and what is allowed.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from glassbox_tui.settings import Settings, SettingsError, fault, from_environment, knob, knobs

SECTIONS = ("settings", "ui", "keys")
LANGUAGES = ("auto", "en", "zh")
THEMES = ("terminal", "16", "mono", "dark", "light")
LARGEST = 1_000_000  # bytes; a config file is small, and what is larger is something else


@dataclass(frozen=True, slots=True)
class Ui:
    """How the app looks and speaks, and what it remembers."""

    language: str = knob(
        "auto", "GLASSBOX_LANG", "language of the interface; auto: as LC_ALL, LC_MESSAGES, LANG say", choices=LANGUAGES
    )
    theme: str = knob("terminal", "GLASSBOX_THEME", "colours: the terminal's own, or a theme", choices=THEMES)
    ascii: str = knob(
        "auto", "GLASSBOX_ASCII", "draw with ASCII alone; auto: if the locale asks", choices=("auto", "yes", "no")
    )
    ambiguous: str = knob(
        "narrow",
        "GLASSBOX_AMBIGUOUS",
        "how wide the terminal draws characters of ambiguous East Asian width (wide: no box lines)",
        choices=("narrow", "wide"),
    )
    mouse: bool = knob(True, "GLASSBOX_MOUSE", "0 leaves the mouse to the terminal")
    history: bool = knob(True, "GLASSBOX_HISTORY", "0 keeps no list of the questions that were run")
    restore: bool = knob(True, "GLASSBOX_RESTORE", "0 starts afresh instead of where the last session ended")


@dataclass(frozen=True, slots=True)
class Config:
    """What the config file says. `found`: there is a file.

    `keys` is command id -> keys as written (`tui/keymap.py` checks them: only the app knows its commands), `key_lines`
    the line of each in the file.
    """

    path: Path
    found: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    ui: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    key_lines: Mapping[str, int] = field(default_factory=dict)


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where the config file is, or would be: GLASSBOX_CONFIG, else config.toml in the user's config folder."""
    named = (os.environ if environ is None else environ).get("GLASSBOX_CONFIG", "").strip()
    if not named:
        return Path(platformdirs.user_config_dir("glassbox-tui", appauthor=False)) / "config.toml"
    try:
        return Path(named).expanduser()
    except RuntimeError:  # ~name of nobody
        raise SettingsError(f"GLASSBOX_CONFIG: there is no home for {named!r}") from None


def read_config(environ: Mapping[str, str] | None = None) -> Config:
    """The config file, checked; an empty Config where there is none.

    Raises SettingsError: unreadable, no TOML, a section, key or value that does not exist, or GLASSBOX_CONFIG naming
    what is not there.
    """
    path = config_path(environ)
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if (os.environ if environ is None else environ).get("GLASSBOX_CONFIG", "").strip():
            raise SettingsError(f"GLASSBOX_CONFIG: there is no file {path}") from error
        return Config(path)
    except (OSError, ValueError) as error:
        raise SettingsError(f"the config file {path} cannot be read: {_why(error)}") from None
    if len(raw) > LARGEST:
        raise SettingsError(f"the config file {path} is larger than {LARGEST:,} bytes: that is no config file")
    return parsed(path, raw)


def parsed(path: Path, raw: bytes) -> Config:
    """The Config that a file's bytes are. Raises SettingsError, naming the line."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise SettingsError(f"{path}, line {line}: not UTF-8 text (TOML is written in UTF-8)") from None
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not its own error for a number of 5,000 digits or a 13th month
        raise SettingsError(f"{path}: not TOML: {error}") from None
    source = _Source(path, text)
    for name, value in document.items():
        if name not in SECTIONS:
            raise source.wrong("", name, _unknown("section" if isinstance(value, dict) else "key", name, SECTIONS))
        if not isinstance(value, dict):
            raise source.wrong("", name, f"{name} is a section: write [{name}] on a line of its own")
    return Config(
        path,
        True,
        _values(Settings, "settings", document.get("settings", {}), source),
        _values(Ui, "ui", document.get("ui", {}), source),
        {id: _keys(id, value, source) for id, value in document.get("keys", {}).items()},
        {id: at for id in document.get("keys", {}) if (at := line_of(text, "keys", id))},
    )


def save_setting(name: str, value: str, environ: Mapping[str, str] | None = None) -> Path:
    """Set `name` in the file's [settings], all else as it stands there; a file that is not there is made. Its path.

    Raises SettingsError where the file is wrong already, cannot be written, or where the change would not come out as
    meant: then the sentence says which line to write by hand.
    """
    path = config_path(environ)
    by_hand = f"write {name} = {_quoted(value)} under [settings] in {path} yourself"
    try:
        place = path.resolve()  # a link stays one
        if place.exists() and not place.is_file():
            raise SettingsError(f"{path} is no regular file: {by_hand}")
        raw = place.read_bytes() if place.exists() else b""
        before = parsed(path, raw)
        new = _with_setting(raw.decode("utf-8-sig"), name, value).encode()
        try:
            after = parsed(path, new)
        except SettingsError as error:
            raise SettingsError(f"{error}: {by_hand}") from None
        if after.settings != {**before.settings, name: value} or (after.ui, after.keys) != (before.ui, before.keys):
            raise SettingsError(f"{path} is written in a way that cannot be changed safely here: {by_hand}")
        _replace(place, new)
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"{path} cannot be written ({_why(error)}): {by_hand}") from None
    return path


def _with_setting(text: str, name: str, value: str) -> str:
    """The file's text with one line changed, or one more."""
    line = f"{name} = {_quoted(value)}"
    lines = text.split("\n")
    if (at := line_of(text, "settings", name)) is not None:
        lines[at - 1] = line
    elif (at := line_of(text, "", "settings")) is not None:
        lines.insert(at, line)
    else:
        end = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{end}[settings]\n{line}\n"
    return "\n".join(lines)


def _quoted(value: str) -> str:
    """As TOML writes it: what JSON escapes, and delete."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all; who may read it stays as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if path.exists():
            shutil.copymode(path, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load_ui(environ: Mapping[str, str] | None = None, *, file: Mapping[str, Any] | None = None) -> Ui:
    """The interface's options from the file and the environment, which wins. Raises SettingsError."""
    ui = Ui(**{**(file or {}), **from_environment(Ui, environ)})
    for name, known in knobs(Ui).items():
        if wrong := fault(getattr(ui, name), known):
            raise SettingsError(f"{known.env}: {wrong}")
    return ui


def language(ui: Ui, environ: Mapping[str, str]) -> str:
    """The interface's language, "en" or "zh": the option, else what the locale asks for."""
    if ui.language != "auto":
        return ui.language
    asked = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return "zh" if asked.lower().startswith("zh") else "en"


def origin(name: str, kind: Any, file: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Where the value of a knob in force is from: environment, file or default."""
    if environ.get(knobs(kind)[name].env, "").strip():
        return "environment"
    return "file" if name in file else "default"


def close_to(name: str, known: Iterable[str]) -> str:
    """ "did you mean ..." with the names that `name` resembles, else all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}"


@dataclass(frozen=True, slots=True)
class _Source:
    """The file's text, to say on which line something stands."""

    path: Path
    text: str

    def wrong(self, section: str, key: str, sentence: str) -> SettingsError:
        place = f"{self.path}, line {line}" if (line := line_of(self.text, section, key)) else str(self.path)
        return SettingsError(f"{place}: {f'[{section}] {key}: ' if section else ''}{sentence}")


def line_of(text: str, section: str, key: str) -> int | None:
    """The 1-based line on which `key` of `section` is set ("": a section itself, or a key above the first), if found.

    tomllib does not tell; an exotic spelling (dotted keys, inline tables) is not found.
    """
    here = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if head := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
            here = head[1].strip("\"'")
            if not section and here.partition(".")[0] == key:
                return number
        elif here == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return number
    return None


def _values(kind: Any, section: str, table: Mapping[str, Any], source: _Source) -> dict[str, Any]:
    known, types = knobs(kind), {f.name: str(f.type) for f in fields(kind)}
    found = {}
    for name, value in table.items():
        if name not in known:
            raise source.wrong(section, name, _unknown("key", name, known))
        typed = _typed(value, types[name].partition(" ")[0])
        if typed is None:
            raise source.wrong(section, name, f"{value!r} is not {_wanted(types[name], known[name].choices)}")
        if wrong := fault(typed, known[name]):
            raise source.wrong(section, name, wrong)
        found[name] = typed
    return found


def _typed(value: Any, kind: str) -> Any:
    """A TOML value as a field of this type takes it; None if it is of another type."""
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    fits = {"int": isinstance(value, int) and not isinstance(value, bool), "float": isinstance(value, float)}
    return value if fits.get(kind, isinstance(value, bool if kind == "bool" else str)) else None


def _wanted(type_name: str, choices: tuple[str, ...]) -> str:
    if choices:
        return "one of " + ", ".join(f'"{choice}"' for choice in choices)
    kind = type_name.partition(" ")[0]
    words = {"int": "a whole number", "float": "a number", "bool": "true or false"}
    return words.get(kind, 'a text in quotes: "..."')


def _keys(id: str, value: Any, source: _Source) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        wanted = 'a key in quotes ("f3"), a list of them (["v", "f3"]), or [] for none'
        raise source.wrong("keys", id, f"{value!r} is not {wanted}")
    return tuple(name if len(name) == 1 else name.strip() for name in names)


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    return f"there is no {what} {name!r}: {close_to(name, known)}"


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
