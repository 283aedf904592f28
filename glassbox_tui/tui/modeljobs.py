"""What the workers do for the models screen."""

from __future__ import annotations

from glassbox_tui.progress import Cancelled, Progress
from glassbox_tui.tui.desk import Desk, sentence
from glassbox_tui.tui.messages import (
    ListModels,
    Measured,
    MeasureModel,
    MeasureMoved,
    ModelsFailed,
    ModelsListed,
    ModelUsed,
    StopMeasuring,
    UseModel,
)


def list_models(desk: Desk, request: ListModels | None = None) -> None:
    try:
        found = desk.backend.models()
    except Exception as error:
        desk.deliver(ModelsFailed(sentence(error)))
    else:
        desk.deliver(ModelsListed(found.rows, found.place, found.notice))


def measure_model(desk: Desk, request: MeasureModel) -> None:
    """Whatever is asked next in this lane ends it."""
    name = request.name

    def moved(step: Progress) -> None:
        desk.deliver(MeasureMoved(name, step))

    try:
        notice = desk.backend.measure(name, moved, lambda: desk.cancelled() or desk.overtaken())
    except Cancelled:
        desk.deliver(Measured(name, stopped=True))
        return
    except Exception as error:
        desk.deliver(Measured(name, sentence(error)))
        return
    list_models(desk)  # first the figures, then the word that they are there
    desk.deliver(Measured(name, notice=notice))


def stop_measuring(desk: Desk, request: StopMeasuring) -> None:
    """To have been asked was enough: see `measure_model`."""


def use_model(desk: Desk, request: UseModel) -> None:
    try:
        said = desk.backend.use_generator(request.name)
    except Exception as error:
        desk.deliver(ModelUsed(sentence(error)))
        return
    desk.deliver(desk.backend.writer())
    desk.deliver(ModelUsed(said))
    list_models(desk)
