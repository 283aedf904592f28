"""What an answer is: its text, the places it cites, what each of its sentences is worth, and who wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from glassbox_tui.answer.claims import Claim
from glassbox_tui.models.chat import Message


@dataclass(frozen=True, slots=True)
class Citation:
    """Number [n] of the answer: the text it stands for, the lines of the note it is on, and its hit."""

    number: int
    uid: str
    path: str
    lines: tuple[int, int]
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`mode` says who wrote it: "extract" (sentences of the notes, word for word), "generate" (a model), "none".

    `claims` are its sentences, each held against the evidence, whoever wrote them. `notice` is what a reader should
    know first. Of a generated answer: `model` wrote it, from `prompt` (role and text of each message); `dropped` are
    the uids of hits that are not in it; `stopped`: a person ended it early.
    """

    mode: str
    text: str
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()
    notice: str = ""
    model: str = ""
    prompt: tuple[Message, ...] = ()
    dropped: tuple[str, ...] = ()
    stopped: bool = False
