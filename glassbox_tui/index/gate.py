"""Searches go first: background work waits between its chunks while one runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Somebody who never stops searching must not stop the embedding altogether.
LONGEST_WAIT = 0.5


class Gate:
    """Any number of threads search; one works in the background and calls `give_way` between two chunks."""

    def __init__(self) -> None:
        self._searches = 0
        self._calm = threading.Condition()

    @contextmanager
    def search(self) -> Iterator[None]:
        """Around a search: it begins at once, and no chunk is begun until it is done."""
        with self._calm:
            self._searches += 1
        try:
            yield
        finally:
            with self._calm:
                self._searches -= 1
                self._calm.notify_all()

    def give_way(self) -> None:
        """Wait until nobody searches, at most LONGEST_WAIT seconds."""
        with self._calm:
            self._calm.wait_for(lambda: not self._searches, LONGEST_WAIT)
