"""The loop panel's part on the language model: what it was asked for the shown round, and what it said."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from glassbox_tui.retrieval.trace import USED, Attempt
from glassbox_tui.tui.cells import DIM, GOOD, KEY, WARN, wrap
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import later, say
from glassbox_tui.views.plain import clip
from glassbox_tui.views.plain import line as plain

# Cells of a prompt and of a reply; the x-ray has them whole.
PROMPT, REPLY = 400, 600
NAMES = {
    "feedback": later("feedback: words and direction of the first hits"),
    "rewrite": later("rewrite: the model words the query anew"),
    "decompose": later("decompose: the model splits it into simpler questions"),
    "hyde": later("hyde: the model makes up a passage that would answer"),
    "expand": later("expand: the model adds words that an answer would hold"),
}


def attempts(asked: Sequence[Attempt], width: int, indent: int, whole: bool) -> list[Text]:
    """Each attempt in a line with its outcome; with `whole` the prompt and the reply, cut where they are long."""
    lines: list[Text] = []
    for attempt in asked:
        good = attempt.outcome == USED
        head = Text(say("{} by {}, {} ms: ", plain(attempt.how), plain(attempt.model), f"{attempt.ms:.0f}"), KEY)
        head.append(say("used") if good else told(plain(attempt.outcome)), GOOD if good else WARN)
        lines += _below(head, width, indent)
        if whole:
            prompt = " ¶ ".join(plain(text) for _, text in attempt.prompt)
            lines += _below(Text(say("prompt: {}", clip(prompt, PROMPT)), DIM), width, indent)
            lines += _below(Text(say("reply: {}", clip(plain(attempt.reply), REPLY)), DIM), width, indent)
    return lines


def rewriter_line(view: View, width: int) -> list[Text]:
    """How queries are rewritten in this session, where a model does it."""
    if view.rewriter in ("", "feedback"):
        return []
    return wrap(Text(say("rewrites by the model: {}", view.rewriter), DIM), width)


def _below(text: Text, width: int, indent: int) -> list[Text]:
    return [Text(" " * indent).append_text(line) for line in wrap(text, width - indent, indent=2)]
