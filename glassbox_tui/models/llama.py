"""A GGUF file as a `ChatModel`, through llama.cpp in this process.

Nothing is loaded before the first count or text. Prompts are read in batches of a fixed size from the beginning, and
whole batches that the prompt before began with are not read twice: the arithmetic is that of a first reading, to the
bit, so that the same prompt gives the same text whatever came before.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeVar

from glassbox_tui.models import chat_template, footprint, gguf
from glassbox_tui.models.chat import Message, ReadingFn
from glassbox_tui.models.chat_template import Part, Render, TemplateFault, renderer, without_system
from glassbox_tui.models.control_tokens import neutral
from glassbox_tui.models.entries import CatalogEntry
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.native import BATCH, Aborted, Native, Stop
from glassbox_tui.models.runtime import allowed_cpus, auto_threads
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.settings import Settings

CONTEXT = 4_096  # unless the settings say otherwise, or the model was trained on less
_SECONDS = 0.05  # between looks at `cancelled`
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Pace:
    """Tokens a second, of a prompt that is read and of a text that is written."""

    reading: float
    writing: float


class LlamaModel:
    """One model file. May be shared by threads: one text is written at a time, others wait their turn.

    `write` holds its turn until the iterator ends or is closed: a thread that leaves one half read must close it.
    """

    def __init__(self, path: Path, settings: Settings, entry: CatalogEntry | None = None) -> None:
        """Nothing is read yet. `entry`: what is known of the model, for its name and languages."""
        self._path = path
        self._settings = settings
        self._name = entry.name if entry is not None else path.stem
        self._languages = entry.languages if entry is not None else ()
        self._most_passages = entry.passages if entry is not None else 0
        self._turn, self._loading = Lock(), Lock()
        # All of the library's work is done in one thread of its own, so that whoever waits hears a cancel or ctrl+c.
        self._worker: ThreadPoolExecutor | None = None
        self._native: Native | None = None
        self._render: Render | None = None
        self._stop = Stop()
        self._held: list[int] = []  # tokens of the whole batches, from the first on, that the context holds
        self._notices: tuple[str, ...] = ()
        self._reached_limit = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def languages(self) -> tuple[str, ...]:
        return self._languages

    @property
    def most_passages(self) -> int:
        """How many passages it answers best from; 0: as many as fit."""
        return self._most_passages

    @property
    def path(self) -> Path:
        return self._path

    @property
    def context(self) -> int:
        """Tokens of prompt and answer, from the file's header: nothing is loaded. Raises ModelError."""
        trained = footprint.trained_context(gguf.header(self._path))
        wanted = self._settings.llm_context
        if wanted and trained and wanted > trained:
            raise ModelError(
                f"GLASSBOX_LLM_CONTEXT is {wanted:,}, but {self._name} was trained on {trained:,} tokens: set it to"
                " that or less"
            )
        return wanted or min(CONTEXT, trained or CONTEXT)

    @property
    def threads(self) -> int:
        """Threads that read and write, of the CPUs that this process may use."""
        return auto_threads(self._settings, allowed_cpus())

    @property
    def notices(self) -> tuple[str, ...]:
        """What has to be done otherwise than the model's maker meant, each a sentence."""
        return self._notices

    @property
    def reached_limit(self) -> bool:
        """Whether the text written last was cut at its limit, or at the end of the context."""
        return self._reached_limit

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt that these make; exact. Loads the model if need be. Raises ModelError."""
        with self._loading:  # so that nobody closes it meanwhile
            return len(self._prompt(self._open(_never), messages))

    def control_tokens(self, messages: Sequence[Message]) -> list[str]:
        """The names of the control tokens in the prompt, in order; none of them is from a message's text."""
        with self._loading:
            native = self._open(_never)
            return [native.name_of(token) for token in self._prompt(native, messages) if native.is_control(token)]

    def write(
        self,
        messages: Sequence[Message],
        limit: int,
        *,
        cancelled: CancelledFn = lambda: False,
        reading: ReadingFn = lambda done, total: None,
        temperature: float = 0.0,
    ) -> Iterator[str]:
        """The next turn in pieces of whole characters; see `ChatModel.write`. It may end at the end of the context."""
        with _my_turn(self._turn, cancelled):
            native = self._loaded(cancelled)
            prompt = self._prompt(native, messages)
            if len(prompt) >= native.context:
                raise ModelError(
                    f"the prompt has {len(prompt):,} tokens and {self._name} has room for {native.context:,} with its"
                    " answer: ask with fewer passages (GLASSBOX_TOPK), or set GLASSBOX_LLM_CONTEXT higher"
                )
            with native.choosing(temperature):
                self._read(native, prompt, cancelled, reading)
                written = self._written(native, min(limit, native.context - len(prompt)), cancelled)
                texts = _decoded(map(native.piece, written))
                yield from texts if self._render else _until(chat_template.PLAIN_STOP, texts)

    def pace(self, tokens: int = 96, cancelled: CancelledFn = lambda: False) -> Pace:
        """How fast it reads and writes here, timed on `tokens` made-up tokens. Raises ModelError, Cancelled."""
        with _my_turn(self._turn, cancelled):
            native = self._loaded(cancelled)
            self._held = []
            native.forget(0)
            text = [token % native.vocabulary for token in range(1_000, 1_000 + tokens)]
            began = time.perf_counter()
            self._read(native, text, cancelled, lambda _done, _total: None)
            read = time.perf_counter()
            for token in text:
                self._work(partial(native.decode, [token]), cancelled)
            written = time.perf_counter()
            native.forget(0)
            self._held = []
            return Pace(len(text) / (read - began), len(text) / (written - read))

    def close(self) -> None:
        """Give the memory back, once what is being written is done. Another count or text loads the model again."""
        with self._turn, self._loading:
            if self._native is not None:
                self._native.close()
            if self._worker is not None:
                self._worker.shutdown()
            self._native = self._worker = None
            self._held = []

    # -- loading ---------------------------------------------------------------------------------------------------

    def _loaded(self, cancelled: CancelledFn) -> Native:
        with _my_turn(self._loading, cancelled):
            return self._open(cancelled)

    def _open(self, cancelled: CancelledFn) -> Native:
        if self._native is None:
            self._native = self._load(cancelled)
        return self._native

    def _load(self, cancelled: CancelledFn) -> Native:
        gguf.check(self._path)
        context, found = self.context, gguf.header(self._path)
        needed, spare = footprint.cache_mb(found, context), footprint.spare_mb()
        if spare is not None and needed > spare:
            raise ModelError(
                f"{context:,} tokens of context take {needed:,.0f} MB with {self._name} and {spare:,.0f} MB are free:"
                " set GLASSBOX_LLM_CONTEXT lower"
            )
        native = self._work(lambda: Native(self._path, context, self.threads, self._stop), cancelled)
        template = found.values.get("tokenizer.chat_template")
        self._render = renderer(str(template), *native.edges) if template else None
        return native

    # -- reading and writing ---------------------------------------------------------------------------------------

    def _prompt(self, native: Native, messages: Sequence[Message]) -> list[int]:
        tokens, notice = prompt_tokens(native, self._render, messages, self._name)
        self._notices = (notice,) if notice else ()
        return tokens

    def _read(self, native: Native, prompt: Sequence[int], cancelled: CancelledFn, reading: ReadingFn) -> None:
        """Bring the context to the end of the prompt; the last batch is always read, for what comes after it."""
        same = next((n for n, (a, b) in enumerate(zip(self._held, prompt, strict=False)) if a != b), len(self._held))
        kept = native.forget(min(same, len(prompt) - 1) // BATCH * BATCH)
        self._held = self._held[:kept]
        reading(kept, len(prompt))
        for start in range(kept, len(prompt), BATCH):
            batch = prompt[start : start + BATCH]
            self._work(partial(native.decode, batch), cancelled)
            if len(batch) == BATCH:
                self._held += batch
            reading(start + len(batch), len(prompt))

    def _written(self, native: Native, limit: int, cancelled: CancelledFn) -> Iterator[int]:
        self._reached_limit = False
        for number in range(limit):
            token = native.choose()
            if native.is_end(token):
                return
            yield token
            if number < limit - 1:
                self._work(partial(native.decode, [token]), cancelled)
        self._reached_limit = True

    def _work(self, work: Callable[[], _T], cancelled: CancelledFn) -> _T:
        """Have the library's thread do it. Raises Cancelled, within moments of `cancelled()`, and what it raises."""
        if cancelled():
            raise Cancelled
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, "llama")
        doing = self._worker.submit(work)
        try:
            while not wait([doing], _SECONDS).done:
                if cancelled():
                    raise Cancelled
            return doing.result()
        except Aborted:
            raise Cancelled from None
        finally:  # also for ctrl+c: what is being done ends before anything else is asked of the library
            if not doing.done():
                self._stop.set()
                wait([doing])
            self._stop.clear()


@contextmanager
def _my_turn(lock: Lock, cancelled: CancelledFn) -> Iterator[None]:
    """With the lock. Raises Cancelled while it waits for it."""
    while not lock.acquire(timeout=_SECONDS):
        if cancelled():
            raise Cancelled
    try:
        yield
    finally:
        lock.release()


def prompt_tokens(
    native: Native, render: Render | None, messages: Sequence[Message], name: str = "the model"
) -> tuple[list[int], str]:
    """The tokens of a dialogue, and a sentence on what was done otherwise than the template says, if anything was.

    Only the template's own parts may name control tokens; a message that spells one gets its letters.
    Raises ModelError if the template refuses the dialogue.
    """
    notice = ""
    if render is None:
        parts = chat_template.plain_parts(messages)
        why = "so it is asked in plain text; an instruct or chat model does better."
        notice = f"{name}: its file has no chat template, {why}"
    else:
        try:
            parts = chat_template.parts(render, messages)
        except TemplateFault as fault:
            parts = [_neutral_part(native, render, messages, fault)]
            why = f"does not leave texts as they are ({fault}): control tokens in them are spelled."
            notice = f"{name}: its chat template {why}"
    own = [native.tokens(part.text, True) if part.template else [] for part in parts]
    added = {token for tokens in own for token in tokens if native.is_added(token)}
    found = [tokens or _text_tokens(native, part.text, added) for tokens, part in zip(own, parts, strict=True)]
    tokens = [token for piece in found for token in piece]
    first = native.first
    return ([first] if first is not None and tokens[:1] != [first] else []) + tokens, notice


def _text_tokens(native: Native, text: str, template: Set[int]) -> list[int]:
    """Tokens of a text, none of them a control token or one of the template's own."""
    tokens = native.tokens(text, False)
    # Some vocabularies list the tokens of their chat format as ordinary added ones, which are found in any text.
    wrong = {token for token in tokens if token in template or native.is_control(token) or native.is_end(token)}
    return native.tokens(neutral(text, [native.name_of(token) for token in wrong]), False) if wrong else tokens


def _neutral_part(native: Native, render: Render, messages: Sequence[Message], fault: TemplateFault) -> Part:
    """The prompt as one text of the template's, the messages in it without anything that names a control token."""
    for dialogue in (messages, without_system(messages)):
        given = [{"role": m.role, "content": neutral(m.text, native.control_names)} for m in dialogue]
        with suppress(TemplateFault):
            return Part(render(given), True)
    raise ModelError(f"the chat template of the model refuses the dialogue ({fault}): take another model")


def _decoded(pieces: Iterable[bytes]) -> Iterator[str]:
    """Text in whole characters, which may lie across tokens; one that the end cuts in two is left out."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for piece in pieces:
        if text := decoder.decode(piece):
            yield text


def _until(stop: str, texts: Iterable[str]) -> Iterator[str]:
    """The text before `stop`."""
    held = ""
    for text in texts:
        held += text
        before, found, _ = held.partition(stop)
        if found:
            held = before
            break
        keep = next((n for n in range(len(stop) - 1, 0, -1) if held.endswith(stop[:n])), 0)
        if ready := held[: len(held) - keep]:
            yield ready
        held = held[len(held) - keep :]
    if held:
        yield held


def _never() -> bool:
    return False
