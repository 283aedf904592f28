"""manifest.json beside a model's files: size, time and sha256 of each, so that damage names itself before a load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


def write(folder: Path, about: Mapping[str, Any], files: Iterable[str]) -> None:
    """Record `files` (paths inside `folder`, already written) with `about`, what else is worth knowing of them."""
    entries = {}
    for name in sorted(files):
        found = (folder / name).stat()
        entries[name] = {"size": found.st_size, "mtime_ns": found.st_mtime_ns, "sha256": sha256(folder / name)}
    (folder / MANIFEST).write_text(json.dumps({**about, "files": entries}, ensure_ascii=False), encoding="utf-8")


def check(folder: Path, every_byte: bool = False) -> str:
    """What is wrong with a folder that has a manifest, naming the file; "" if nothing is, "missing" if there is none.

    Sizes and times are compared, which takes microseconds; the sha256 only where nothing but the time differs, or with
    `every_byte`.
    """
    if not folder.is_dir():
        return "missing"
    path = folder / MANIFEST
    try:
        files: dict[str, dict[str, Any]] = read(folder)["files"]
        for name, expected in files.items():
            path = folder / name
            found = path.stat()
            if found.st_size != expected["size"]:
                return f"{path} has {found.st_size:,} bytes instead of {expected['size']:,}"
            trusted = found.st_mtime_ns == expected["mtime_ns"] and not every_byte
            if not trusted and sha256(path) != expected["sha256"]:
                return f"{path} was changed (its sha256 is another)"
    except OSError as error:
        return f"{path} cannot be read ({error.strerror or error})"
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{path} is not readable as a manifest"
    return ""


def read(folder: Path) -> dict[str, Any]:
    """The manifest as written. OSError or ValueError if there is none, or it is no JSON."""
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return manifest


def sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
