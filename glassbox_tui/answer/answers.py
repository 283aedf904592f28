"""The answer to a question: written by a language model if there is one, else an extract of the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from glassbox_tui.answer.claims import check
from glassbox_tui.answer.extract import distinct, extract
from glassbox_tui.answer.generate import Calls, PieceFn, Writer, generated
from glassbox_tui.answer.prompt import is_refusal
from glassbox_tui.answer.record import Answer
from glassbox_tui.answer.statements import Statement, statements
from glassbox_tui.errors import GlassboxError
from glassbox_tui.models.chat import ReadingFn
from glassbox_tui.models.protocols import Generator
from glassbox_tui.progress import CancelledFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Hit, Trace


def answer(
    trace: Trace,
    engine: Engine,
    *,
    check_claims: bool = True,
    by_model: bool | None = None,
    reading: ReadingFn = lambda done, total: None,
    piece: PieceFn = lambda text: None,
    cancelled: CancelledFn = lambda: False,
) -> Answer:
    """What the evidence says: by the engine's model if it has one, else an extract.

    `by_model`: whether the model is asked; None: as the settings say.
    `reading` is told how many tokens of the prompt are read, of how many; `piece` gets each new stretch of the text as
    it is written. Once `cancelled()` is true it ends within two seconds: what was written so far is the answer,
    `stopped`; if that is nothing, an extract is. Whatever goes wrong with the model, there is an extract and a notice
    that says why. A notice is one sentence or several, each on a line of its own.
    """
    if not trace.index.chunks:
        return Answer("none", "", notice="The index is empty: there is no note with text to answer from.")
    hits = distinct(trace.hits)
    if not hits:
        return Answer("none", "", notice="No chunk was found for this question, so there is nothing to quote.")
    notices = [doubt] if (doubt := doubt_of(trace)) else []
    found, shown = None, hits
    writer = _writer(engine, notices, by_model)
    if writer is not None:
        draft = generated(trace.asked, hits, writer, engine.settings, Calls(reading, piece, cancelled))
        found, shown = draft.answer, list(draft.shown)
        notices += draft.notices
    if found is None:
        found = extract(trace.asked, hits, engine)
    found = replace(found, notice="\n".join(filter(None, [*notices, found.notice])))
    return with_claims(found, hits, shown, engine) if check_claims else found


def doubt_of(trace: Trace) -> str:
    """What is said first of an answer from evidence that was graded insufficient; "" where it suffices.

    A model is asked all the same: the thresholds look at words, and a question put in other words than the notes'
    falls below them as often as not (34 of the 49 of the bundled notes, whose answer is there).
    """
    if trace.decision == "answer":
        return ""
    reasons = "; ".join(trace.last.grade.reasons)
    return f"The evidence was graded insufficient ({reasons}): read this answer with doubt."


def with_claims(found: Answer, hits: Sequence[Hit], shown: Sequence[Hit], engine: Engine) -> Answer:
    """The answer with each of its sentences held against the evidence; what it quotes is one claim a quote.

    `shown` are the hits that the numbers of a generated answer stand for.
    """
    if found.mode == "extract":
        by_uid = {hit.uid: hit for hit in hits}
        cited = {citation.number: by_uid[citation.uid] for citation in found.citations}
        said = [Statement(citation.text, (citation.number,)) for citation in found.citations]
    else:
        cited = dict(enumerate(shown, start=1))
        said = [statement for statement in statements(found.text) if not is_refusal(statement.text)]
    return replace(found, claims=check(said, hits, cited, engine))


def _writer(engine: Engine, notices: list[str], by_model: bool | None) -> Writer | None:
    """Who writes; None: an extract it is. What is injected serves, whatever the settings say."""
    if by_model is None:
        by_model = engine.generator is not None or engine.settings.answers != "extract"
    if not by_model:
        return None
    if isinstance(engine.generator, Generator):
        return engine.generator
    try:
        return engine.chat
    except GlassboxError as error:
        notices.append(f"No model answers ({error}): this is an extract.")
        return None
