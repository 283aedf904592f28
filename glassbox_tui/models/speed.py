"""What was measured of a model on this machine, and where that is kept: <data>/models/speeds.json.

A figure is of one machine and one model file: where either is another it is not shown as "here".
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from glassbox_tui.models.runtime import allowed_cpus

FILE = "speeds.json"
_FORMAT = 1
_KEPT = 500  # records; the oldest go


@dataclass(frozen=True, slots=True)
class Machine:
    """What a figure depends on, beside the model. `cpus`: how many this process may use."""

    cpu: str
    cpus: int


@dataclass(frozen=True, slots=True)
class Speed:
    """What a quick measurement of one model found; None: nothing a model of its kind does, or not to be had here.

    `query_ms`: to embed a short question. `passage_ms`: to embed a passage of some 350 tokens. `rerank_ms`: to score
    eight short passages against a question. `read_tokens`, `write_tokens`: tokens a second of a prompt and of an
    answer. `load_s`: to open the model. `memory_mb`: what the resident memory of a process of its own grew by when the
    model was loaded and used; `mapped_mb` of these are the model's file itself, mapped, which other processes share
    and the system may take back. `measured`: when, ISO 8601; `version`: of this program, then. `busy`: the machine had
    more to do than it has CPUs for, so that the model is faster than this.
    """

    query_ms: float | None = None
    passage_ms: float | None = None
    rerank_ms: float | None = None
    read_tokens: float | None = None
    write_tokens: float | None = None
    load_s: float | None = None
    memory_mb: float | None = None
    mapped_mb: float | None = None
    measured: str = ""
    version: str = ""
    busy: bool = False


Key = tuple[str, str, str]  # kind, name, mark of the file


@cache
def machine() -> Machine:
    return Machine(_cpu() or platform.machine() or "unknown", allowed_cpus())


def mark_of(path: str) -> str:
    """Tells one state of a model's file, or folder of files, from another; "" where there is no file."""
    place = Path(path)
    if not path or not place.exists():
        return ""
    files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    found = [file.stat() for file in files]
    return f"{sum(s.st_size for s in found)} bytes of {max((s.st_mtime_ns for s in found), default=0)}"


def read(models_dir: Path, here: Machine | None = None) -> tuple[dict[Key, Speed], str]:
    """What was measured on this machine (or on `here`), and "" or one sentence on a file that cannot be used."""
    here = here or machine()
    records, fault = _records(models_dir / FILE)
    mine = [record for record in records if record["machine"] == asdict(here)]
    return {(r["kind"], r["name"], r["file"]): _speed(r["speed"]) for r in mine}, fault


def keep(models_dir: Path, key: Key, speed: Speed, here: Machine | None = None) -> None:
    """Put a figure in place of what was known of that model on this machine. Raises OSError."""
    from filelock import FileLock

    path, on = models_dir / FILE, asdict(here or machine())
    models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    kind, name, file = key
    with FileLock(str(models_dir / f".{FILE}.lock")):
        records, _ = _records(path)
        others = [r for r in records if (r["kind"], r["name"], r["machine"]) != (kind, name, on)]
        new = {"kind": kind, "name": name, "file": file, "machine": on, "speed": asdict(speed)}
        _write(path, {"version": _FORMAT, "speeds": [*others, new][-_KEPT:]})


def _records(path: Path) -> tuple[list[dict[str, Any]], str]:
    """The records that are whole; a sentence if the file is damaged, which is then as good as empty."""
    try:
        document = json.loads(path.read_bytes())
        if document["version"] != _FORMAT:
            return [], f"{path} is of another version of this program: speeds that were measured before are not shown"
        for record in document["speeds"]:
            _speed(record["speed"])
            _checked(record)
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        return [], f"{path} cannot be read ({error.strerror or error}): no speeds are shown"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], f"{path} is damaged: speeds that were measured before are not shown (`models list --measure` anew)"
    found: list[dict[str, Any]] = document["speeds"]
    return found, ""


def _checked(record: Mapping[str, Any]) -> None:
    if not all(isinstance(record[name], str) for name in ("kind", "name", "file")):
        raise TypeError
    Machine(**record["machine"])


def _speed(values: Mapping[str, Any]) -> Speed:
    """Raises TypeError for what is no Speed."""
    speed = Speed(**values)
    for field in fields(Speed):
        value = getattr(speed, field.name)
        wanted: Any = {"str": str, "bool": bool}.get(str(field.type), int | float | None)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise TypeError
    return speed


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """Whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _cpu() -> str:
    """What the processor calls itself; "" if nobody says."""
    if sys.platform == "darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        with suppress(OSError, subprocess.SubprocessError):
            return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
        return platform.processor()
    said: dict[str, str] = {}
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            said.setdefault(name.strip(), value.strip())
    # ARM's kernel gives no name, only numbers for one.
    arm = " ".join(f"{name} {said[name]}" for name in ("CPU implementer", "CPU part") if name in said)
    return said.get("model name") or said.get("Model") or arm or platform.processor()
