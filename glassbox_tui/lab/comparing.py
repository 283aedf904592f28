"""What every comparison of `eval --compare` works with, and the rows it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from glassbox_tui.lab.evaluate import Extract
from glassbox_tui.lab.queries import LabelledQuery
from glassbox_tui.progress import ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings

# (settings, name of an index beside the usual one; "": the usual one) -> the engine, its index up to date.
OpenFn = Callable[[Settings, str], Engine]
# An engine -> what `ask` makes of its Traces.
ExtractOf = Callable[[Engine], Extract]


@dataclass(frozen=True, slots=True)
class Row:
    """One variant and what it came to; a whole number is a count, None was not measured."""

    name: str
    values: Mapping[str, float | int | None]


@dataclass(frozen=True, slots=True)
class Bench:
    """What every comparison needs. Empty questions are misses everywhere."""

    queries: Sequence[LabelledQuery]
    settings: Settings
    open: OpenFn
    extract_of: ExtractOf
    progress: ProgressFn
