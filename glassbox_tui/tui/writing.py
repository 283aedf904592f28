"""The model's answer while it is made, and who answers: frozen values, and pure functions that follow the events."""

from __future__ import annotations

from dataclasses import dataclass, replace

from glassbox_tui.tui.backend import Writer
from glassbox_tui.tui.messages import AnswerPiece, AnswerReading, AnswerWaits


@dataclass(frozen=True, slots=True)
class Writing:
    """An answer that is being made for `branch` in run `run`.

    `waits`: the one before is being stopped; then `done` of `total` tokens of the prompt are read (0 of 0: it begins);
    then `text` is what is written so far. `stopping`: the person has ended it.
    """

    run: int
    branch: int
    waits: bool = False
    done: int = 0
    total: int = 0
    text: str = ""
    stopping: bool = False


NOBODY = Writer("")


@dataclass(frozen=True, slots=True)
class Answers:
    """`writer` is the model that answers, if there is one. `chosen`: whether its answers are wanted or extracts; None:
    the person has not said, so the settings decide.

    `writing` is the one that is being made; one of an earlier run counts no more, see `state.being_written`.
    """

    writer: Writer = NOBODY
    chosen: bool | None = None
    writing: Writing | None = None

    @property
    def by_model(self) -> bool:
        return self.writer.on if self.chosen is None else self.chosen


def moved_on(answers: Answers, event: AnswerWaits | AnswerReading | AnswerPiece, branch: int) -> Answers:
    """The answer for `branch` has moved on, or begun."""
    now = answers.writing
    if now is None or now.run != event.run:
        now = Writing(event.run, branch)
    match event:
        case AnswerWaits():
            now = replace(now, waits=True)
        case AnswerReading(_, done, total):
            now = replace(now, waits=False, done=done, total=total)
        case AnswerPiece(_, text):
            now = replace(now, waits=False, text=text)
    return replace(answers, writing=now)


def stopping(answers: Answers) -> Answers:
    """The person has ended it; the model is told."""
    now = answers.writing
    return answers if now is None else replace(answers, writing=replace(now, stopping=True))


def over(answers: Answers) -> Answers:
    return replace(answers, writing=None)
