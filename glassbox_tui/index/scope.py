"""A part of the notes to search in: a folder or one note, named by its path relative to the notes folder.

Chunks stand in the order of their paths, so a scope is a run of chunk numbers and finding it takes two bisections.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:  # the app's process lists notes and searches nothing: it does without numpy
    import numpy as np
    from numpy.typing import NDArray

Rows: TypeAlias = "NDArray[np.int64]"
"""Chunk numbers, rising. Where a search takes `only: Rows | None`, None means every chunk."""


class HasPath(Protocol):
    @property
    def path(self) -> str: ...


def tidy(scope: str) -> str:
    """`scope` as paths in the index are written: no "./" before it, no slash behind it; "" is everything."""
    path = str(PurePosixPath(scope.strip("/"))) if scope.strip("/") else ""
    return "" if path == "." else path


def within(path: str, scope: str) -> bool:
    """Whether the note `path` is `scope` or lies below it. Both tidy."""
    return not scope or path == scope or path.startswith(scope + "/")


def rows_within(items: Sequence[HasPath], scope: str) -> Rows:
    """The numbers of the items, which are in the order of their paths, that lie within the tidy `scope`."""
    import numpy as np

    if not scope:
        return np.arange(len(items), dtype=np.int64)

    def at(path: str) -> int:
        return bisect_left(items, path, key=_path)

    note = np.arange(at(scope), bisect_right(items, scope, key=_path), dtype=np.int64)
    below = np.arange(at(scope + "/"), at(scope + "0"), dtype=np.int64)  # "0" comes right after "/"
    return np.concatenate([note, below])


def _path(item: HasPath) -> str:
    return item.path
