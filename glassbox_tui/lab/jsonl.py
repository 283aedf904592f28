"""Files of one JSON object a line, as people write them: the errors name the file and the line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glassbox_tui.errors import GlassboxError


class LabError(GlassboxError):
    """Labelled data cannot be used; the message says which file and line, and why."""


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """("file:line", object) of each line that is not blank. Raises LabError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LabError(f"cannot read {path}: {error.strerror or error}") from None
    # Not str.splitlines: JSON strings may hold U+2028 and other characters that it takes for line ends.
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        where = f"{path}:{number}"
        if not raw.strip():
            continue
        try:
            row = json.loads(raw.decode("utf-8"))
        except UnicodeDecodeError:
            raise LabError(f"{where}: this line is not UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise LabError(f"{where}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise LabError(f"{where}: a JSON object was expected, this is {_kind(row)}")
        yield where, row


def text_of(row: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    """The string row[key]; numbers count as their digits. `default` None: the key must be there. Raises LabError."""
    value = row.get(key)
    if value is None and default is not None:
        return default
    if value is None:
        raise LabError(f'{where}: the key "{key}" is missing')
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise LabError(f'{where}: "{key}" must be text, this is {_kind(value)}')
    # Half a surrogate pair is valid in a JSON escape and nowhere else.
    return str(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def finite(value: Any, what: str, where: str) -> float:
    """`value` as a number. Raises LabError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise LabError(f"{where}: {what} must be a number, this is {value!r}")
    return float(value)


def texts_of(row: dict[str, Any], key: str, where: str) -> list[str]:
    """The strings of the list row[key]; empty if it is absent. Raises LabError."""
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise LabError(f'{where}: "{key}" must be a list, this is {_kind(value)}')
    return [text_of({key: item}, key, where) for item in value]


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
