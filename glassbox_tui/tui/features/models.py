"""The models: what is here, what is in use and why, how fast it is here; use another one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from glassbox_tui.config import config_path, save_setting
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.settings import SettingsError
from glassbox_tui.tui import modellines, modelstate
from glassbox_tui.tui.choosing import Choice, ChooseScreen
from glassbox_tui.tui.commands import MODELS, Command
from glassbox_tui.tui.conditions import home
from glassbox_tui.tui.messages import (
    Event,
    FolderOpened,
    ListModels,
    Measured,
    MeasureModel,
    ModelsListed,
    Opened,
    StopMeasuring,
    UseModel,
    WorkersGone,
)
from glassbox_tui.tui.modelstate import Models
from glassbox_tui.tui.replay import refusal
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import line as plain

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp
    from glassbox_tui.tui.modelscreen import ModelScreen


def _open(app: GlassboxApp) -> None:
    from glassbox_tui.tui.modelscreen import ModelScreen

    if app.view.offline:
        app.tell(refusal())
        return
    app.leave_query()
    app.send(ListModels())
    app.push_screen(ModelScreen())


def screen_of(app: GlassboxApp) -> ModelScreen | None:
    """The models screen, if it is open, be it under another screen."""
    from glassbox_tui.tui.modelscreen import ModelScreen

    return next((screen for screen in app.screen_stack if isinstance(screen, ModelScreen)), None)


def heard(app: GlassboxApp, event: Event) -> None:
    """While the screen is open it follows the workers; a measurement that ended elsewhere is told."""
    if isinstance(event, WorkersGone) and app.view.models.measuring:
        app.change(replace(app.view, models=modelstate.ended(app.view.models, app.view.models.measuring, "")))
    screen = screen_of(app)
    if screen is not None and isinstance(event, Opened | FolderOpened):
        app.send(ListModels())
    elif screen is not None and isinstance(event, ModelsListed):
        _change(app, lambda models: models)  # the selected line may be another
    elif screen is None and isinstance(event, Measured) and not event.stopped:
        app.tell(told(event.failure) if event.failure else say("{} was measured", event.name))


def _change(app: GlassboxApp, how: Callable[[Models], Models]) -> None:
    """Change the list and keep the selected line in sight."""
    screen, after = screen_of(app), how(app.view.models)
    if screen is not None and screen.is_mounted and screen.size and after.rows:
        after = modelstate.scrolled(after, screen.page)
    app.change(replace(app.view, models=after))


def _move(app: GlassboxApp, by: int) -> None:
    _change(app, partial(modelstate.moved, by=by))


def _kind(app: GlassboxApp, by: int) -> None:
    _change(app, partial(modelstate.kind_moved, by=by))


def _page(app: GlassboxApp, direction: int) -> None:
    screen = screen_of(app)
    _move(app, direction * (screen.page if screen is not None else 1))


def _measure(app: GlassboxApp) -> None:
    models = app.view.models
    if models.row is None:
        return
    if models.measuring:
        app.tell(say("one at a time: {} is being measured", plain(models.measuring)))
    elif not models.row.present:
        app.tell(told(models.row.why))
    else:
        name = models.row.entry.name
        _change(app, partial(modelstate.began, name=name))
        app.send(MeasureModel(name))
        if app.view.progress is not None:
            app.tell(say("the notes are being indexed: the figures will be lower than they could be"))


def _stop(app: GlassboxApp) -> None:
    _change(app, modelstate.stopping)
    app.send(StopMeasuring())


def _again(app: GlassboxApp) -> None:
    app.send(ListModels())
    app.tell(say("the models are listed again"))


def _use(app: GlassboxApp) -> None:
    row = app.view.models.row
    if row is None:
        return
    if not row.present:
        app.tell(f"{say('licence {}', row.entry.licence)}: {told(row.why)}")
    elif row.entry.kind == "generator":
        app.send(UseModel(row.entry.name))
    elif row.in_use:
        app.tell(told(row.why))
    else:
        _offer_setting(app, row)


def _offer_setting(app: GlassboxApp, row: ModelRow) -> None:
    """An embedder or reranker is chosen at the start: by a line in the config file, or by the environment."""
    field, value, env = modellines.setting_line(row)
    if env in os.environ:
        app.tell(say("{} is set in the environment and decides: set it to {}", env, value))
        return
    try:
        place = home(str(config_path()))
    except SettingsError as error:
        app.tell(str(error))
        return
    choices = (
        Choice("file", say("write it into the config file"), place),
        Choice("", say("not now"), f"{env}={value}"),
    )
    if row.entry.kind == "embedder":
        title = say("use {} from the next start on: the notes are then embedded anew", plain(value))
    else:
        title = say("use {} from the next start on", plain(value))
    app.push_screen(ChooseScreen(title, choices), lambda picked: _save(app, field, value) if picked else None)


def _save(app: GlassboxApp, field: str, value: str) -> None:
    try:
        path = save_setting(field, value)
    except SettingsError as error:
        app.tell(str(error))
    else:
        app.tell(say("it counts from the next start on: written into {}", home(str(path))))


def _leave(app: GlassboxApp) -> None:
    if (screen := screen_of(app)) is not None:
        screen.dismiss()


def _can_measure(view: View) -> bool:
    return view.models.row is not None and view.models.row.present and not view.models.measuring


def _measures(view: View) -> bool:
    return bool(view.models.measuring)


def _can_use(view: View) -> bool:
    return view.models.row is not None and not view.models.row.in_use


_HERE = (MODELS,)
_GROUP = "models screen"

COMMANDS: tuple[Command, ...] = (
    Command("models", "M", "the models: what is here, in use and why, how fast it is here", "app", _open),
    Command("model_down", "j,down", "next model", _GROUP, partial(_move, by=1), where=_HERE),
    Command("model_up", "k,up", "model before", _GROUP, partial(_move, by=-1), where=_HERE),
    Command("model_top", "g,home", "first model", _GROUP, partial(_move, by=-sys.maxsize), where=_HERE),
    Command("model_bottom", "G,end", "last model", _GROUP, partial(_move, by=sys.maxsize), where=_HERE),
    Command("model_page_down", "pagedown,space", "a page down", _GROUP, partial(_page, direction=1), where=_HERE),
    Command("model_page_up", "pageup,b", "a page up", _GROUP, partial(_page, direction=-1), where=_HERE),
    Command("model_kind_next", "tab,right_square_bracket", "next kind: embedders, rerankers, generators", _GROUP,
            partial(_kind, by=1), "kinds", where=_HERE),
    Command("model_kind_before", "shift+tab,left_square_bracket", "kind before", _GROUP, partial(_kind, by=-1),
            where=_HERE),
    Command("model_use", "enter", "use this model: a generator at once, others from the next start on", _GROUP, _use,
            "use", _can_use, where=_HERE),
    Command("model_measure", "m", "measure its speed and memory here", _GROUP, _measure, "measure", _can_measure,
            where=_HERE),
    Command("model_stop", "S", "stop measuring", _GROUP, _stop, "stop", _measures, where=_HERE),
    Command("model_list", "r", "list the models again", _GROUP, _again, where=_HERE),
    Command("model_leave", "escape,q,M", "back to the search", _GROUP, _leave, "back", where=_HERE),
)  # fmt: skip
