"""The libraries that we load call nobody: what has to be said to them before they are loaded, said in one place.

The package calls `stay_offline` when any part of it is first imported, so it holds for the app, its engine's process,
every command, every helper process and the Python door alike. What each library was seen to do (system calls traced):

- onnxruntime 1.32 brings a telemetry client. On import it makes a device id and a queue of events in the user's cache
  folder, and a thread of it looks up a host of Microsoft's for as long as the program runs. Its
  `disable_telemetry_events()` comes too late for that; the variable, set before the library is loaded, works.
- huggingface_hub (which fastembed imports, and `models pull` uses) names the caller in its requests and can report
  usage; its companion hf_xet writes logs into the user's cache folder as soon as it is loaded. We use neither.
"""

from __future__ import annotations

import os
import sys

ORT_SWITCH = "ORT_DISABLE_TELEMETRY"
# Not defaults: whoever has set one of them otherwise (the 0 of a shell profile) is promised the same as everybody.
SWITCHES = {ORT_SWITCH: "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1"}

_TOO_LATE = "onnxruntime"
_loaded_first = False


def stay_offline() -> None:
    """Set the switches, for this process and those it starts, and note whether that came too late for onnxruntime."""
    global _loaded_first
    _loaded_first = _loaded_first or (_TOO_LATE in sys.modules and os.environ.get(ORT_SWITCH) != SWITCHES[ORT_SWITCH])
    os.environ.update(SWITCHES)  # by putenv: native code sees it


def too_late() -> tuple[str, ...]:
    """The sentence for a program that loaded onnxruntime before us, its telemetry on; else nothing."""
    if not _loaded_first:
        return ()
    return (
        "onnxruntime was imported before glassbox_tui, with its telemetry on: import glassbox_tui first, "
        f"or set {ORT_SWITCH}=1",
    )
