"""The state of the models screen and how keys and events change it: pure functions, no textual."""

from __future__ import annotations

from dataclasses import dataclass, replace

from glassbox_tui.models.rows import ModelRow
from glassbox_tui.progress import Progress
from glassbox_tui.tui.browsing import first_line


@dataclass(frozen=True, slots=True)
class Models:
    """`rows` come by kind; `index` is the selected one. `place`: the folder they are kept in.

    `measuring`: the name of the model that is being measured, "" for none; `step` is how far that is, `stopping` that
    it is to end. `failures`: why a model could not be measured, by its name. `top`: the first line in sight, headings
    of the kinds counted.
    """

    rows: tuple[ModelRow, ...] = ()
    place: str = ""
    loaded: bool = False
    failure: str = ""
    index: int = 0
    top: int = 0
    measuring: str = ""
    step: Progress | None = None
    stopping: bool = False
    failures: tuple[tuple[str, str], ...] = ()

    @property
    def row(self) -> ModelRow | None:
        return self.rows[self.index] if self.rows else None


NO_MODELS = Models()


def listed(models: Models, rows: tuple[ModelRow, ...], place: str) -> Models:
    """A (new) list has come. The selection stays on its model."""
    before = models.row
    same = [i for i, row in enumerate(rows) if before is not None and _is_same(row, before)]
    index = same[0] if same else max(0, min(models.index, len(rows) - 1))
    return replace(models, rows=rows, place=place, loaded=True, failure="", index=index)


def _is_same(a: ModelRow, b: ModelRow) -> bool:
    return (a.entry.kind, a.entry.name) == (b.entry.kind, b.entry.name)


def moved(models: Models, by: int) -> Models:
    """Another row is selected; it stops at the ends."""
    return replace(models, index=max(0, min(models.index + by, len(models.rows) - 1)))


def kind_moved(models: Models, by: int) -> Models:
    """The first model of the next kind, or of the one before."""
    kinds = list(dict.fromkeys(row.entry.kind for row in models.rows))
    if models.row is None:
        return models
    at = max(0, min(kinds.index(models.row.entry.kind) + by, len(kinds) - 1))
    index = next(i for i, row in enumerate(models.rows) if row.entry.kind == kinds[at])
    return replace(models, index=index, top=lines_of(models).index(index) - 1)  # its heading, and what is below


def scrolled(models: Models, height: int) -> Models:
    """The window of `height` lines moved as little as brings the selected one into it, its kind's heading if it can."""
    lines = lines_of(models)
    at = lines.index(models.index)
    top = first_line(models.top, at, len(lines), height)
    if top == at and at > 0 and lines[at - 1] is None and height > 1:
        top -= 1
    return replace(models, top=top)


def lines_of(models: Models) -> list[int | None]:
    """What stands on each line of the list: the number of a row, or None for the heading above the next one."""
    lines: list[int | None] = []
    for i, row in enumerate(models.rows):
        if i == 0 or models.rows[i - 1].entry.kind != row.entry.kind:
            lines.append(None)
        lines.append(i)
    return lines


def began(models: Models, name: str) -> Models:
    """A model is being measured from now on."""
    kept = tuple(failure for failure in models.failures if failure[0] != name)
    return replace(models, measuring=name, step=None, stopping=False, failures=kept)


def stopping(models: Models) -> Models:
    return replace(models, stopping=bool(models.measuring))


def stepped(models: Models, name: str, step: Progress) -> Models:
    return replace(models, step=step) if name == models.measuring else models


def ended(models: Models, name: str, failure: str) -> Models:
    """The measuring of a model is over; `failure` is one sentence, or "". What is not measured any more is stale."""
    if name != models.measuring:
        return models
    failures = (*models.failures, (name, failure)) if failure else models.failures
    return replace(models, measuring="", step=None, stopping=False, failures=failures)
