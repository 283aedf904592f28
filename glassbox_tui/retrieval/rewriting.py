"""The next query as a language model has it, checked before it may run: never worse than a word to the wise.

rewrite    one query in better words
decompose  two or three simpler questions; the lists of each are fused in one round
hyde       a made-up passage that would answer: the vector moves halfway to the passage's, as in Gao et al. 2022
           ("Precise zero-shot dense retrieval without relevance labels", which averages query and passages); BM25 keeps
           the question's own terms
expand     words that an answer would hold, added to BM25 at the weight of feedback's strongest term

Round 0's lists are fused into every later round, whatever the model wrote. A reply that holds nothing of use, that
drops what the question is about or repeats a query is rejected with a sentence; then feedback serves.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from glassbox_tui.models.chat import ChatModel, Message, complete
from glassbox_tui.models.errors import ModelError
from glassbox_tui.retrieval import half_typed, prompts
from glassbox_tui.retrieval.feedback import FEEDBACK_WORDS, TERM_WEIGHT, VECTOR_PULL
from glassbox_tui.retrieval.filters import take_apart
from glassbox_tui.retrieval.keyterms import left_out, lost
from glassbox_tui.retrieval.query import Query, moved, read_query
from glassbox_tui.retrieval.rounds import Ask, Pipeline, Step
from glassbox_tui.retrieval.trace import USED, AddedTerm, Attempt, Hit, Round
from glassbox_tui.retrieval.wording import base_of, joined
from glassbox_tui.text import replies
from glassbox_tui.text.language import CJK, language_of
from glassbox_tui.text.strays import bare
from glassbox_tui.text.tokens import content_terms

LIMITS = {"rewrite": 64, "decompose": 128, "hyde": 192, "expand": 80}  # tokens of a reply
ORIGINS = {"rewrite": "llm", "decompose": "decompose", "hyde": "hyde", "expand": "llm"}
MODEL_ORIGINS = frozenset(ORIGINS.values())
NO_EFFECT = "ran, and changed nothing"  # the outcome of an attempt whose round is not shown
SUB_QUESTIONS = 3
HYDE_PULL = 0.5
SHOWN_BETWEEN = " | "  # sub-questions, in a round's query
LEAST_PASSAGE = 12  # characters


class Rejected(Exception):
    """A reply that cannot be used; the message says why, as the end of the sentence "it ..."."""


@dataclass(slots=True)
class Log:
    """What a loop notes on its way: sentences for people, and what the model was asked."""

    notices: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)

    def nothing_came_of(self, dropped: Round) -> None:
        """A round that the model's reply became is not shown, for it changed nothing."""
        if dropped.origin in MODEL_ORIGINS:
            self.attempts = [
                replace(a, outcome=NO_EFFECT) if (a.round, a.outcome) == (dropped.number, USED) else a
                for a in self.attempts
            ]


def by_model(
    how: str, before: Step, first: Query, pipe: Pipeline, log: Log, tried: Sequence[str], refused: Sequence[str] = ()
) -> Ask | None:
    """What to run next by the model, in the way `how` (one of REWRITERS); None: it cannot say, and the log says why.

    `tried` are the queries that ran, `refused` wordings and terms that are not to be proposed. Raises Cancelled.
    """
    chat = pipe.chat
    if chat is None:
        log.notices.append(f"GLASSBOX_REWRITER={how}, but {pipe.no_chat}: feedback serves")
        return None
    if chat.languages and (language := language_of(first.intent)) not in chat.languages:
        name = "Chinese" if language == CJK else "the question's language"
        log.notices.append(f"{chat.name} does not write {name}: feedback serves")
        return None
    number, started = before.round.number + 1, time.perf_counter()
    prompt = prompts.rewriting(how, first.intent, headings(before.round.hits), [*tried[1:], *refused])
    reply, ask = "", None
    try:
        reply = complete(chat, prompt, LIMITS[how], pipe.cancelled)
        ask = _ask(how, reply, number, before, first, pipe, tried, refused, "\n".join(m.text for m in prompt))
        outcome = USED
    except Rejected as error:
        outcome = f"rejected: it {error}"
        log.notices.append(f"the model's {how} was rejected, for it {error}: feedback serves")
    except ModelError as error:
        outcome = f"failed: {error}"
        log.notices.append(f"the model {chat.name} failed ({error}): feedback serves")
    ms = round((time.perf_counter() - started) * 1000.0, 3)
    log.attempts.append(_attempt(number, how, chat, prompt, reply, outcome, ms))
    return ask


def headings(hits: Sequence[Hit]) -> tuple[str, ...]:
    """The headings over the first hits, each once: what the notes call things."""
    return tuple(dict.fromkeys(name for hit in hits if (name := hit.heading[-1] if hit.heading else hit.title)))


def _attempt(
    number: int, how: str, chat: ChatModel, prompt: Sequence[Message], reply: str, outcome: str, ms: float
) -> Attempt:
    return Attempt(number, how, chat.name, tuple((m.role, m.text) for m in prompt), reply, outcome, ms)


def _ask(
    how: str, reply: str, number: int, before: Step, first: Query, pipe: Pipeline, tried: Sequence[str],
    refused: Sequence[str], prompt: str,
) -> Ask:  # fmt: skip
    """The reply as a round to run. Raises Rejected."""
    if not replies.said(reply):
        raise Rejected("is empty")
    origin, earlier = ORIGINS[how], before.origin_lists
    if how == "expand":
        added = _expansion(reply, first, pipe, refused)
        return Ask(number, origin, expanded(first, added, pipe), added, earlier)
    if how == "hyde":
        text = replies.passage(reply)
        if len(text) < LEAST_PASSAGE:
            raise Rejected("holds no passage")
        _check([text], first, pipe, tried, refused, rare=False)
        return Ask(number, origin, _hypothetical(first, text, pipe), (), earlier)
    texts = replies.queries(reply, SUB_QUESTIONS if how == "decompose" else 1, prompt)
    if not texts:
        raise Rejected("holds no query")
    if how == "decompose" and len(texts) < 2:
        raise Rejected("is no decomposition: it holds one question")
    _check(texts, first, pipe, tried, refused)
    head, *more = (reworded(first, text, pipe) for text in texts)
    whole = SHOWN_BETWEEN.join(texts)
    why = _left_out(first.intent, whole, pipe)
    return Ask(number, origin, replace(head, text=whole), (), earlier, tuple(more), why)


def _check(
    texts: Sequence[str], first: Query, pipe: Pipeline, tried: Sequence[str], refused: Sequence[str], rare: bool = True
) -> None:
    """Raise Rejected for what drops a key term, or runs what ran or was refused."""
    whole = SHOWN_BETWEEN.join(texts)
    if len(texts) == 1 and replies.same(whole, first.intent):
        raise Rejected("repeats the question")
    if replies.same(whole, "", tried):
        raise Rejected("repeats a query that ran")
    if replies.same(whole, "", refused):
        raise Rejected("repeats a query that was refused")
    dropped = lost(first.intent, whole, pipe.snapshot.sparse, rare=rare, min_token_len=pipe.settings.min_token_len)
    if dropped is not None:
        raise Rejected(f"drops {dropped!r}")


def reworded(first: Query, text: str, pipe: Pipeline, typed: bool = False) -> Query:
    """Another wording of `first`: it searches with its own words, its evidence is judged by what was asked.

    `typed`: a person's, with the conditions that it has; a machine's keeps the conditions of `first`.
    """
    new = read_typed(text, pipe) if typed else replace(read(text, pipe), conditions=first.conditions)
    return replace(new, intent=first.intent, asked=first.asked, tokens=first.tokens)


def _left_out(question: str, rewrite: str, pipe: Pipeline) -> str:
    """A sentence on the words that the notes do not hold and the model did not keep; "" if there are none."""
    words = left_out(question, rewrite, pipe.snapshot.sparse, pipe.settings.min_token_len)
    return f"the model leaves out {', '.join(map(repr, words))}: not in your notes" if words else ""


def read(text: str, pipe: Pipeline) -> Query:
    """`text` as the stages of this pipeline use it."""
    embedder = None if pipe.mode == "bm25" else pipe.embedder
    return read_query(text, embedder, pipe.snapshot.sparse, pipe.settings.min_token_len)


def read_typed(text: str, pipe: Pipeline) -> Query:
    """What a person typed: its conditions are filters, stray marks around it are nothing, half a word may be begun.

    `text` stays as typed, for people; everything else is of the question in it.
    """
    typed, flags = take_apart(text, pipe.snapshot, pipe.settings.min_token_len)
    query = read(bare(typed.plain), pipe)
    if pipe.typing:
        query = half_typed.with_begun(query, text, typed.plain, pipe.snapshot, pipe.settings.min_token_len)
    return replace(query, text=text, conditions=typed.conditions, flags=flags)


def _hypothetical(first: Query, text: str, pipe: Pipeline) -> Query:
    if first.vector is None or pipe.embedder is None:
        raise Rejected("is of no use: hyde works on vectors, and dense search is off")
    towards = np.asarray(pipe.embedder.embed_passages([text])[0], dtype=np.float32)
    return moved(first, text, {}, towards, HYDE_PULL)


def _expansion(reply: str, first: Query, pipe: Pipeline, refused: Sequence[str]) -> tuple[AddedTerm, ...]:
    """The new words of a reply as terms; a word whose terms are all asked for already adds nothing."""
    added: dict[str, AddedTerm] = {}
    for word in replies.words(reply, FEEDBACK_WORDS):
        for term in content_terms(word, pipe.settings.min_token_len):
            if term not in first.terms and term not in refused:
                added.setdefault(term, AddedTerm(term, TERM_WEIGHT, (), word))
    if not added:
        raise Rejected("adds no word that was not asked for")
    return tuple(added.values())


def expanded(first: Query, added: Sequence[AddedTerm], pipe: Pipeline) -> Query:
    """`first` with more terms, its vector moved towards the added words."""
    towards = None
    if first.vector is not None and pipe.embedder is not None:
        towards = pipe.embedder.embed_query(base_of(joined("", added).strip(), ()))
    return moved(first, joined(first.text, added), {t.term: t.weight for t in added}, towards, VECTOR_PULL)
