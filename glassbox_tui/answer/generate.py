"""A generated answer: a model writes from the numbered passages, and what it writes is tidied and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from glassbox_tui.answer.citations import checked
from glassbox_tui.answer.prompt import Prompt, is_refusal, place_of, prompt_of
from glassbox_tui.answer.record import Answer, Citation
from glassbox_tui.answer.thinking import FORGET, without_thinking
from glassbox_tui.answer.tidy import Tidy, tidy
from glassbox_tui.errors import GlassboxError
from glassbox_tui.models.chat import ChatModel, ReadingFn, most_passages, notices_of, reached_limit
from glassbox_tui.models.entries import QWEN
from glassbox_tui.models.protocols import Generator
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.settings import Settings
from glassbox_tui.text.language import CJK, language_of
from glassbox_tui.text.turns import without_tokens

# Called with each new stretch of the answer as it is written; together they are its text.
PieceFn = Callable[[str], None]
Writer = ChatModel | Generator
_PULL = f"`glassbox-tui models pull {QWEN.name}` fetches a model that does"
# A shorter answer ("48 bytes") may be in any language. Letters; an ideograph counts as two.
_TELLS_LANGUAGE = 12
_ENDS = ".!?。！？…:：;；)）]】\"”'’」`|"


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
    shown: Sequence[Hit] = ()
    notices: tuple[str, ...] = ()


def generated(question: str, hits: Sequence[Hit], writer: Writer, settings: Settings, calls: Calls) -> Draft:
    """The writer's answer to the question from these hits. Raises nothing: no answer comes with the reason."""
    try:
        if isinstance(writer, ChatModel):
            return _by_model(question, hits, writer, settings, calls)
        heard = _heard(writer.generate(question, [hit.text for hit in hits]), len(hits), calls)
        return _draft(question, heard, Prompt((), tuple(hits), (), 0), writer.name)
    except Cancelled:
        return Draft(None, notices=(f"{writer.name} was stopped before it wrote a word: this is an extract.",))
    except GlassboxError as error:
        return Draft(None, notices=(f"{writer.name} could not answer ({_clause(error)}): this is an extract.",))
    except Exception as error:  # a plug-in may raise anything; the extract is always there
        why = f"{type(error).__name__}: {error}"
        return Draft(None, notices=(f"the generator {writer.name} failed ({why}): this is an extract.",))


def _by_model(question: str, hits: Sequence[Hit], model: ChatModel, settings: Settings, calls: Calls) -> Draft:
    if not _knows(model, question):
        return Draft(None, notices=(_cannot_write(model.name, question),))
    if not _knows(model, hits[0].text):
        return Draft(None, notices=(_cannot_read(model.name, hits[0].text),))
    foreign = [hit for hit in hits if not _knows(model, hit.text)]
    known = [hit for hit in hits if hit not in foreign]
    most = settings.llm_passages or most_passages(model)
    prompt = prompt_of(question, known, model, settings.llm_answer_tokens, most)
    if not prompt.shown:
        why = f"{model.name} takes {model.context:,} tokens, and question and passage have more: this is an extract."
        return Draft(None, notices=(why,))
    if calls.cancelled():
        raise Cancelled
    heard = _heard(
        model.write(prompt.messages, prompt.room, cancelled=calls.cancelled, reading=calls.reading),
        len(prompt.shown),
        calls,
        [place_of(hit) for hit in prompt.shown],
    )
    if not heard.stopped:
        heard.cut = False if heard.said.over else reached_limit(model)
    notices = list(notices_of(model))
    if foreign:
        notices.append(f"Left out, in a language that {model.name} does not read: {_names(foreign)}.")
    if prompt.shortened:
        notices.append(f"The first passage was too long for {model.name}: it read the beginning.")
    if prompt.dropped and len(prompt.shown) == most:
        why = f"as {model.name} is shown at most {most} (GLASSBOX_LLM_PASSAGES)"
        notices.append(f"Left out, {why}: {_names(prompt.dropped)}.")
    elif prompt.dropped:
        notices.append(f"Left out, as there was no room for more in the prompt: {_names(prompt.dropped)}.")
    return _draft(question, heard, prompt, model.name, notices, (*foreign, *prompt.dropped))


@dataclass(slots=True)
class _Heard:
    """What a writer wrote, as far as it came."""

    said: Tidy = field(default_factory=lambda: Tidy(""))
    thought: bool = False
    stopped: bool = False
    cut: bool | None = None  # whether the text ended at its limit; None: nobody knows


def _heard(pieces: Iterable[str], sources: int, calls: Calls, places: Sequence[str] = ()) -> _Heard:
    """Listen until the writer ends, repeats itself or is stopped; what can be shown is passed on at once.

    Raises what the writer raises, and Cancelled where it was stopped before there was anything to show.
    """
    heard, told = _Heard(), ""
    written = raw = ""

    def tell(done: bool) -> None:
        nonlocal told
        heard.said = tidy(written, sources, places=places, done=done)
        if heard.said.text.startswith(told) and len(heard.said.text) > len(told):
            calls.piece(heard.said.text[len(told) :])
            told = heard.said.text

    def watched() -> Iterable[str]:
        nonlocal raw
        for piece in pieces:
            raw += piece
            yield piece
            if calls.cancelled():
                raise Cancelled

    try:
        for piece in without_thinking(watched()):
            written = "" if piece is FORGET else written + piece
            tell(done=False)
            if heard.said.over:
                break
    except Cancelled:
        heard.stopped = True
    finally:
        with suppress(Exception):  # a model held up in the middle lets go of its turn
            getattr(pieces, "close", lambda: None)()
    if not heard.said.over:
        tell(done=True)
    heard.thought = bool(without_tokens(raw).strip())
    if heard.stopped and not heard.said.text:
        raise Cancelled
    return heard


def _draft(
    question: str,
    heard: _Heard,
    prompt: Prompt,
    name: str,
    notices: Sequence[str] = (),
    dropped: Sequence[Hit] = (),
) -> Draft:
    text = heard.said.text
    if not text:
        if heard.said.repeats:
            return Draft(None, notices=(f"{name} wrote nothing but numbers: this is an extract.",))
        if heard.said.copied:
            return Draft(None, notices=(f"{name} wrote nothing but lines of its prompt: this is an extract.",))
        if heard.thought and prompt.room:
            why = f"{name} wrote nothing but thoughts in its {prompt.room:,} tokens: this is an extract"
            return Draft(None, notices=(f"{why}. GLASSBOX_LLM_ANSWER_TOKENS allows more.",))
        return Draft(None, notices=(f"{name} wrote nothing: this is an extract.",))
    numbers = sorted(checked(text, len(prompt.shown)).numbers)
    citations = tuple(_citation(n, prompt.shown[n - 1]) for n in numbers)
    answer = Answer(
        "generate",
        text,
        citations,
        model=name,
        prompt=prompt.messages,
        dropped=tuple(hit.uid for hit in dropped),
        stopped=heard.stopped,
    )
    return Draft(answer, prompt.shown, (*_faults(question, answer, heard, prompt.room), *notices))


def _citation(number: int, hit: Hit) -> Citation:
    return Citation(number, hit.uid, hit.path, hit.lines, hit.page, hit.text)


def _faults(question: str, answer: Answer, heard: _Heard, room: int) -> list[str]:
    """What a reader should know of a generated answer before reading it, a sentence each."""
    name, text, told = answer.model, answer.text, []
    if is_refusal(text):
        return [f"{name} found no answer in the passages it was given."]
    if heard.stopped:
        told.append(f"Stopped: {name} had not finished.")
    elif heard.said.repeats:
        told.append(f"{name} began to repeat itself and was stopped there.")
    elif room and (text[-1] not in _ENDS if heard.cut is None else heard.cut):
        told.append(f"The answer may break off: it may have {room:,} tokens (GLASSBOX_LLM_ANSWER_TOKENS).")
    if heard.said.removed:
        told.append(f"Citations to no passage were removed: {', '.join(map(str, heard.said.removed))}.")
    if not answer.citations:
        told.append(f"{name} cited no passage: what its sentences rest on was looked for afterwards.")
    letters = sum(1 + (not char.isascii()) for char in text if char.isalpha())
    if letters >= _TELLS_LANGUAGE and language_of(text) != language_of(question):
        told.append("The answer is not in the language of the question.")
    return told


def _knows(model: ChatModel, text: str) -> bool:
    return not model.languages or language_of(text) in model.languages


def _cannot_write(name: str, question: str) -> str:
    if language_of(question) == CJK:
        return f"{name} does not write Chinese, and the question is in it: this is an extract. {_PULL}."
    return f"{name} writes only Chinese, and the question is not in it: this is an extract. {_PULL}."


def _cannot_read(name: str, passage: str) -> str:
    if language_of(passage) == CJK:
        return f"{name} does not read Chinese, and the best passage is in it: this is an extract. {_PULL}."
    return f"{name} reads only Chinese, and the best passage is not in it: this is an extract. {_PULL}."


def _names(hits: Sequence[Hit]) -> str:
    """The notes of these hits, each once, with how many passages of it if there are several."""
    paths = [hit.path for hit in hits]
    return ", ".join(
        f"{path} ({paths.count(path)})" if paths.count(path) > 1 else path for path in dict.fromkeys(paths)
    )


def _clause(error: Exception) -> str:
    return str(error).strip().rstrip(".")
