"""Whether onnxruntime, as it runs in this process, sends or stores anything about its use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from glassbox_tui.offline import ORT_SWITCH, SWITCHES, too_late

_FOLDER = ".onnxruntime"


def telemetry() -> tuple[str, str]:
    """(what is wrong, or ""; what was seen if nothing is). Loads onnxruntime.

    Its client keeps its queue of events open for as long as it runs: that the process holds no such file is the
    evidence, where the system (Linux) tells what is open. Elsewhere the switch alone is known.
    """
    import onnxruntime

    left = [str(folder) for folder in stores() if folder.is_dir()]
    behind = f"; {', '.join(left)} is of other runs: nothing of ours needs it" if left else ""
    version = f"onnxruntime {onnxruntime.__version__}"
    if (held := _held()) is not None and held:
        return f"{version} reports on its use: it keeps {held[0]} open", ""
    if too_late() or os.environ.get(ORT_SWITCH) != SWITCHES[ORT_SWITCH]:
        return f"{ORT_SWITCH} was not 1 when {version} was loaded: it may report on its use", ""
    seen = "" if held is None else ", and it keeps no file of events open"
    return "", f"off: {ORT_SWITCH}=1 was set before {version} was loaded{seen}{behind}"


def stores() -> tuple[Path, ...]:
    """Where its client keeps a device id and events, by the rules of Linux and of macOS."""
    home = Path.home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return tuple(
        base / "Microsoft" / "DeveloperTools" / _FOLDER for base in (cache, home / "Library" / "Application Support")
    )


def _held() -> list[str] | None:
    """The files of its client that this process has open; None where the system does not say."""
    try:
        return sorted({target for target in _open_files() if f"/{_FOLDER}/" in target})
    except OSError:
        return None


def _open_files() -> Iterator[str]:
    for entry in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):  # closed meanwhile
            yield str(entry.readlink())
