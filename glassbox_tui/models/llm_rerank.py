"""A language model as reranker, in three ways; slow, so it reads only the head of the fused list.

pointwise  a mark from 0 to 10 for each passage by itself
pairwise   which of two passages answers better, asked in both orders, for a model prefers a position (Wang et al. 2023,
           "Large language models are not fair evaluators"); one bubble pass from the last to the first (PRP-Sliding,
           Qin et al. 2023), or all pairs where there are few
listwise   one prompt with all passages, a permutation back (RankGPT, Sun et al. 2023)

A reply that says nothing leaves the fused order as it is. Scores are finite, and ties keep the order handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from statistics import fmean

from glassbox_tui.models.asking import Asker, CompleteFn, quoted
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.errors import ModelError
from glassbox_tui.progress import CancelledFn
from glassbox_tui.text import replies

HOWS = ("pointwise", "pairwise", "listwise")
PREFIX = "llm-"  # before them, in GLASSBOX_RERANK_MODEL
ALL_PAIRS = 4  # passages, up to which every pair is compared
QUESTION_CHARS = 600
# Characters of a passage in a prompt; all of them together where a prompt holds all.
ONE, EACH_OF_TWO, TOGETHER = 900, 700, 3_200
SYSTEM = "You judge how well passages from notes answer a question. Reply with what is asked for and nothing else."
# How far apart two passages are that were tied: an order, and no measure.
_NUDGE = 1e-6


def _never() -> bool:
    return False


class LLMReranker:
    """A Reranker made of any model that completes text. `how` is one of HOWS."""

    def __init__(self, complete: ChatModel | CompleteFn, how: str = "listwise") -> None:
        if how not in HOWS:
            raise ValueError(f"{how!r} is not one of {', '.join(HOWS)}")
        self.how, self._asker = how, Asker(complete)

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.how}"

    @property
    def model(self) -> str:
        return self._asker.name

    def rerank(self, query: str, texts: Sequence[str], cancelled: CancelledFn = _never) -> list[float]:
        """A score a text: the mark, or how many passages stand behind it. Raises Cancelled; ModelError if no reply
        can be used."""
        if len(texts) < 2:
            return [0.0] * len(texts)
        question = quoted(query, QUESTION_CHARS)
        if self.how == "pointwise":
            return self._marks(question, texts, cancelled)
        ask = self._compared if self.how == "pairwise" else self._permuted
        order = ask(question, texts, cancelled)
        place = {index: place for place, index in enumerate(order)}
        return [float(len(texts) - place[index]) for index in range(len(texts))]

    def _marks(self, question: str, texts: Sequence[str], cancelled: CancelledFn) -> list[float]:
        marks = []
        for text in texts:
            reply = self._asker.ask_about(SYSTEM, partial(_mark_prompt, question, text), ONE, 12, cancelled)
            marks.append(replies.score(reply))
        given = [mark for mark in marks if mark is not None]
        if not given:
            raise ModelError(f"no reply of {self.model} holds a mark from 0 to 10")
        # One without a mark stands in the middle: a reply that cannot be read says nothing against its passage.
        usual = fmean(given)
        return [(usual if mark is None else mark) - _NUDGE * i for i, mark in enumerate(marks)]

    def _permuted(self, question: str, texts: Sequence[str], cancelled: CancelledFn) -> list[int]:
        prompt, each = partial(_order_prompt, question, texts), min(ONE, TOGETHER // len(texts))
        reply = self._asker.ask_about(SYSTEM, prompt, each, 8 + 8 * len(texts), cancelled)
        found = replies.order(reply, len(texts))
        if not found:
            raise ModelError(f"the reply of {self.model} ranks no passage")
        return [*found, *(i for i in range(len(texts)) if i not in found)]

    def _compared(self, question: str, texts: Sequence[str], cancelled: CancelledFn) -> list[int]:
        usable = False

        def beats(one: int, other: int) -> bool | None:
            """Whether passage `one` is the better one in both orders; None: they are tied."""
            nonlocal usable
            first = self._better(question, texts[one], texts[other], cancelled)
            second = self._better(question, texts[other], texts[one], cancelled)
            usable = usable or first is not None or second is not None
            return None if first is None or second is None or first == second else first == "A"

        if len(texts) <= ALL_PAIRS:
            wins = dict.fromkeys(range(len(texts)), 0.0)
            for one, other in combinations(range(len(texts)), 2):
                better = beats(one, other)
                wins[one] += 0.5 if better is None else float(better)
                wins[other] += 0.5 if better is None else float(not better)
            order = sorted(wins, key=lambda i: -wins[i])  # stable: ties keep the order handed in
        else:
            order = list(range(len(texts)))
            for at in range(len(texts) - 1, 0, -1):
                if beats(order[at], order[at - 1]):
                    order[at - 1], order[at] = order[at], order[at - 1]
        if not usable:
            raise ModelError(f"no reply of {self.model} names passage A or passage B")
        return order

    def _better(self, question: str, a: str, b: str, cancelled: CancelledFn) -> str | None:
        prompt = partial(_pair_prompt, question, a, b)
        return replies.choice(self._asker.ask_about(SYSTEM, prompt, EACH_OF_TWO, 8, cancelled))


def _mark_prompt(question: str, text: str, chars: int) -> str:
    return (
        f"Question: {question}\n\nPassage: {quoted(text, chars)}\n\n"
        "How well does the passage answer the question? Reply with one number from 0 (not at all) to 10 (fully)."
    )


def _order_prompt(question: str, texts: Sequence[str], chars: int) -> str:
    listed = "\n".join(f"[{i}] {quoted(text, chars)}" for i, text in enumerate(texts, start=1))
    return (
        f"Question: {question}\n\n{listed}\n\n"
        f"Rank these {len(texts)} passages by how well they answer the question, best first. "
        "Reply with their numbers only, like [2] > [1]."
    )


def _pair_prompt(question: str, a: str, b: str, chars: int) -> str:
    return (
        f"Question: {question}\n\nPassage A: {quoted(a, chars)}\n\nPassage B: {quoted(b, chars)}\n\n"
        "Which passage answers the question better? Reply with A or B."
    )
