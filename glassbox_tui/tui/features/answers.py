"""Answers that a model writes: stopping one, asking for one, extracts in their place, the prompt it was made from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from glassbox_tui.tui import state, writing
from glassbox_tui.tui.answerlines import prompt_lines
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.features.loop import idle, settled
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.messages import MakeAnswer, StopAnswer
from glassbox_tui.tui.replay import refusal
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.sheets import SheetScreen
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def has_writer(view: View) -> bool:
    return bool(view.answers.writer.name) and not view.offline


def can_ask(view: View) -> bool:
    """There is evidence that the model could answer from, and it is not at work."""
    answered = view.reply is not None and view.reply.mode != "none"
    return has_writer(view) and idle(view) and answered and state.being_written(view) is None


def has_prompt(view: View) -> bool:
    return view.reply is not None and bool(view.reply.prompt)


def _is_written(view: View) -> bool:
    return state.being_written(view) is not None


def refuses_to_run(app: GlassboxApp) -> bool:
    """While the answer to this very question is written, another run of it would throw that away: say so."""
    if settled(app.view) and _is_written(app.view) and app.view.loop.proposal is None:
        app.tell(say("the answer is being written; {} stops it", key_of("stop_answer")))
        return True
    return False


def stop(app: GlassboxApp) -> None:
    if not _is_written(app.view):
        app.tell(say("no answer is being written"))
        return
    app.change(replace(app.view, answers=writing.stopping(app.view.answers)))
    app.send(StopAnswer(app.view.run))


def _ask(app: GlassboxApp) -> None:
    view = app.view
    if _no_model(app):
        return
    if _is_written(view):
        app.tell(say("the answer is being written; {} stops it", key_of("stop_answer")))
    elif view.trace is not None and can_ask(view):
        app.change(state.on_panel(state.ask_model(view), "answer"))
        app.send(MakeAnswer(app.view.run, view.trace))
    else:
        app.tell(say("there is no evidence to answer from yet: {} runs the rounds", key_of("run")))


def _toggle(app: GlassboxApp) -> None:
    if _no_model(app):
        return
    on = not app.view.answers.by_model
    if not on and _is_written(app.view):
        app.send(StopAnswer(app.view.run))
    app.change(state.answers_by_model(app.view, on))
    app.tell(
        say("the model answers from now on; {} has it answer this question", key_of("ask_model"))
        if on
        else say("answers are extracts from now on; {} lets the model answer again", key_of("who_answers"))
    )


def _no_model(app: GlassboxApp) -> bool:
    """There is nobody to write an answer; then that is said."""
    if app.view.offline:
        app.tell(refusal())
    elif not app.view.answers.writer.name:
        app.tell(told(app.view.answers.writer.why))
    return not has_writer(app.view)


def _prompt(app: GlassboxApp) -> None:
    app.push_screen(SheetScreen(say("prompt"), lambda view, width, height: prompt_lines(view, width)))


COMMANDS: tuple[Command, ...] = (
    Command(
        "stop_answer", "full_stop", "stop the answer that is being written (esc does, too)", "answer", stop, "stop",
        _is_written, urgent=lambda view: "stop" if _is_written(view) else "",
    ),
    Command(
        "ask_model", "A", "ask the model for an answer, or for another", "answer", _ask, "ask the model", can_ask,
        urgent=lambda view: "ask the model" if view.panel == "answer" and can_ask(view) else "",
    ),
    Command("who_answers", "X", "answers by the model, or extracts only", "answer", _toggle, when=has_writer),
    Command(
        "prompt", "P", "what the model was sent for this answer, word for word", "answer", _prompt, "prompt",
        has_prompt, urgent=lambda view: "prompt" if view.panel == "answer" and has_prompt(view) else "",
    ),
)  # fmt: skip
