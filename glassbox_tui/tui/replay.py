"""A saved Trace in the app without its notes: reading the file, and the crew that stands where the engine would be."""

from __future__ import annotations

from pathlib import Path

from glassbox_tui.errors import GlassboxError
from glassbox_tui.retrieval.trace import Trace, TraceError
from glassbox_tui.retrieval.trace_json import from_json
from glassbox_tui.tui.desk import Deliver
from glassbox_tui.tui.messages import Refused, Request
from glassbox_tui.tui.words import say

LARGEST = 200_000_000  # bytes


class ReplayError(GlassboxError):
    """A file is no Trace that can be replayed; the message is one sentence that names it."""


def read_trace(path: Path) -> Trace:
    """The Trace in a JSON file, as `retrieve --json` and the app's export write it. Raises ReplayError."""
    try:
        if path.stat().st_size > LARGEST:
            raise ReplayError(f"{path} is larger than {LARGEST // 1_000_000} MB: that is no Trace")
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ReplayError(f"{path} is not a Trace: it is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise ReplayError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return from_json(text)
    except TraceError as error:
        raise ReplayError(f"{path}: {error}") from None


def refusal() -> str:
    """Why something that needs the engine does not happen in a replay."""
    return say("a saved trace is replayed: there are no notes and no engine behind it")


class Replay:
    """A `Crew` without an engine: whatever is asked of it is refused, in words."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver

    def start(self) -> None:
        pass

    def send(self, request: Request) -> None:
        self._deliver(Refused(refusal()))

    def cancel(self) -> None:
        pass

    def stop(self, timeout: float = 0.3) -> bool:
        return True
