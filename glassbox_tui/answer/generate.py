"""A generated answer: a language model's text, with its citations held against the passages it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from glassbox_tui.answer.citations import checked
from glassbox_tui.answer.prompt import messages
from glassbox_tui.answer.record import Answer, Citation
from glassbox_tui.models.chat import ChatModel, Message, ReadingFn
from glassbox_tui.models.protocols import Generator
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.settings import Settings

# Called with each new stretch of the answer as it is written; together they are its text.
PieceFn = Callable[[str], None]
Writer = ChatModel | Generator


@dataclass(frozen=True, slots=True)
class Calls:
    """Whom the writing talks to."""

    reading: ReadingFn
    piece: PieceFn
    cancelled: CancelledFn


@dataclass(frozen=True, slots=True)
class Draft:
    """What came of asking a model: an answer from `shown`, or none; and what a reader should know of it."""

    answer: Answer | None
    shown: Sequence[Hit]
    notices: tuple[str, ...] = ()


def generated(question: str, hits: Sequence[Hit], writer: Writer, settings: Settings, calls: Calls) -> Draft:
    """The writer's answer to the question from these hits."""
    prompt = messages(question, hits) if isinstance(writer, ChatModel) else ()
    text, stopped, notices = "", False, []
    try:
        for said in _pieces(question, hits, writer, settings, prompt, calls):
            text += said
            calls.piece(said)
            if calls.cancelled():
                raise Cancelled
    except Cancelled:
        stopped = True
        if not text.strip():
            return Draft(None, hits, (f"{writer.name} was stopped before it wrote a word: this is an extract.",))
    except Exception as error:  # a plug-in may raise anything; the extract is always there
        why = f"{type(error).__name__}: {error}"
        return Draft(None, hits, (f"the generator {writer.name} failed ({why}): this is an extract.",))
    found = checked(text.strip(), len(hits))
    if found.removed:
        notices.append(f"Citations to no passage were removed: {', '.join(map(str, found.removed))}.")
    cited = [(n, hits[n - 1]) for n in sorted(found.numbers)]
    citations = tuple(Citation(n, hit.uid, hit.path, hit.lines, hit.page, hit.text) for n, hit in cited)
    answer = Answer("generate", found.text, citations, model=writer.name, prompt=prompt, stopped=stopped)
    return Draft(answer, hits, tuple(notices))


def _pieces(
    question: str, hits: Sequence[Hit], writer: Writer, settings: Settings, prompt: Sequence[Message], calls: Calls
) -> Iterator[str]:
    if isinstance(writer, ChatModel):
        return writer.write(prompt, settings.llm_answer_tokens, cancelled=calls.cancelled, reading=calls.reading)
    return iter(writer.generate(question, [hit.text for hit in hits]))
