"""Updates that are killed at a chosen point, without paying for Python's start each time.

`python killing.py` imports everything once, then forks for each JSON line it reads: the child updates an index and
kills itself with SIGKILL at the n-th tick. Ticks are of SQLite's virtual machine (`sql`, often in the middle of a
statement) or calls that Python makes (`call`, anywhere else). One line comes back: {"status", "ticks"}.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

KILLED = -signal.SIGKILL


class Killer:
    """The parent's side: one process that forks."""

    def __init__(self) -> None:
        environ = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
        )

    def update(self, notes: Path, data: Path, kind: str = "sql", at: int = 0) -> tuple[int, int]:
        """Update the index of `notes` in a process that dies at tick `at` (0: never). (exit status, ticks)."""
        assert self._process.stdin is not None and self._process.stdout is not None
        job = {"notes": str(notes), "data": str(data), "kind": kind, "at": at}
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["status"], answer["ticks"]

    def close(self) -> None:
        self._process.communicate()


def _ticker(at: int) -> tuple[Callable[..., None], Callable[[], int]]:
    ticks = 0

    def tick(*_: Any) -> None:
        nonlocal ticks
        ticks += 1
        if ticks == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return tick, lambda: ticks


def _child(job: dict[str, Any]) -> int:
    from test_updates import engine_on

    from glassbox_tui.index.store import Store

    tick, ticks = _ticker(job["at"])
    if job["kind"] == "sql":
        connect = Store._connect

        def counted(self: Store) -> Any:
            connection = connect(self)
            connection.set_progress_handler(tick, 20)
            return connection

        Store._connect = counted  # type: ignore[method-assign]
    else:
        sys.setprofile(tick)
    with engine_on(Path(job["notes"]), Path(job["data"])) as engine:
        engine.update()
    sys.setprofile(None)
    return ticks()


def main() -> None:
    import faiss  # noqa: F401 - paid for once
    import test_updates

    test_updates.warm()
    for line in sys.stdin.buffer:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.write(write, str(_child(json.loads(line))).encode())
            os._exit(0)
        os.close(write)
        _, status = os.waitpid(child, 0)
        ticks = int(os.read(read, 100) or b"0")
        os.close(read)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status), "ticks": ticks}), flush=True)


if __name__ == "__main__":
    main()
