"""One writer an index: a file lock that the system lets go of when its holder dies, and who holds it, in words."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from glassbox_tui.index.schema import StoreError, reason

HOLDER = "writer.json"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes an index: a process, its machine, and since when (seconds since the epoch)."""

    pid: int
    host: str
    since: float

    def __str__(self) -> str:
        elsewhere = "" if self.host == socket.gethostname() else f" on {self.host}"
        return f"process {self.pid}{elsewhere}, since {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.since))}"


def lock_of(index_file: Path) -> FileLock:
    """The lock of an index. Not bound to a thread: who takes it may hand the work to another."""
    return FileLock(str(index_file.with_name("lock")), thread_local=False)


@contextmanager
def writing(lock: FileLock) -> Iterator[None]:
    """Hold the lock, and say so beside it. Raises filelock.Timeout at once if another process holds it, StoreError."""
    try:
        lock.acquire(timeout=0)
    except Timeout:  # an OSError too
        raise
    except OSError as error:
        raise StoreError(f"the index folder {Path(lock.lock_file).parent} cannot be written: {reason(error)}") from None
    note = Path(lock.lock_file).with_name(HOLDER)
    try:
        with suppress(OSError):  # a full disk: the lock is what counts
            note.write_text(json.dumps(asdict(Holder(os.getpid(), socket.gethostname(), time.time()))))
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        lock.release()


def writer_of(index_file: Path) -> tuple[Holder | None, bool]:
    """Who is said to write the index, and whether the lock is really held. (None, False): nobody.

    A holder without the lock was killed; the lock went with it.
    """
    try:
        holder = Holder(**json.loads(index_file.with_name(HOLDER).read_text()))
    except (OSError, ValueError, TypeError, RecursionError):
        return None, False  # an instant before it is written, or after it is removed; or nothing that we wrote
    lock = lock_of(index_file)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return holder, True
    except OSError:  # a place that takes no writing: nobody can hold it
        return holder, False
    lock.release()
    return holder, False
