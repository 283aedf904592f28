"""llama.cpp by its own calls: one loaded GGUF with its context, quiet on the screen, and stopped within moments.

The wheel's `Llama` class is not used: it silences the library by closing the process's standard output and error, and
can be stopped between batches only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.generators import NO_LIBRARY
from glassbox_tui.text.normalize import visible

# Tokens of the prompt that are read at once: steps small enough to be told of, and as quick as larger ones.
BATCH = 64
_ERROR, _CONTINUED = 4, 5  # of ggml_log_level, as ggml.h has it
# Lines that add nothing to what was said before them.
_EMPTY = re.compile(r"failed to (load|create|initialize) (model|context|the context)\b[^:]*$", re.IGNORECASE)
_FUNCTION = re.compile(r"^(\w+: )+(error loading model: )?")
_log: deque[str] = deque(maxlen=12)  # the library's last error lines
_ABORTED = 2  # what llama_decode returns once the abort callback says so
_NO_ROOM = 1


class Aborted(Exception):
    """A step was ended by its `Stop`."""


@cache
def library() -> Any:
    """The module of llama.cpp's calls, its logs caught. Raises ModelError where it is missing or does not load."""
    # Threads that wait for each other by spinning take the CPU from those they wait for: on a machine that is busy with
    # something else two threads wrote ten times slower than one. OpenMP reads this once, when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # it would start a debugger, which writes pages on the screen
    try:
        import llama_cpp.llama_cpp as lib
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llama_cpp":
            raise ModelError(f"llama-cpp-python lacks {error.name}: ./run.sh --with-llm installs it anew") from None
        raise ModelError(NO_LIBRARY) from None
    except Exception as error:  # a shared library that was built for another machine, as its loader puts it
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"llama-cpp-python does not load ({reason}): ./run.sh --with-llm installs it anew") from None
    level = 0

    @lib.llama_log_callback  # type: ignore[untyped-decorator]
    def heard(now: int, text: bytes, _: Any) -> None:
        nonlocal level
        if now == _CONTINUED and level == _ERROR and _log:
            _log[-1] += text.decode("utf-8", "replace")
        elif now == _ERROR:
            _log.append(text.decode("utf-8", "replace"))
        level = now if now != _CONTINUED else level

    lib.llama_log_set(heard, ctypes.c_void_p(0))
    set_abort = getattr(lib._lib, "ggml_set_abort_callback", None)  # not in every build
    if set_abort is not None:
        set_abort(_give_up)
    lib.glassbox_callbacks = heard, _give_up  # as long as the library lives
    lib.llama_backend_init()
    return lib


@ctypes.CFUNCTYPE(None, ctypes.c_char_p)  # type: ignore[untyped-decorator]
def _give_up(reason: bytes) -> None:
    """The library found something that its authors hold impossible, in a damaged file say: it ends the process then.

    Instead of a core dump it is one sentence: for a person in a terminal, for the log where we are the app's child.
    """
    # The place in the source, of which the file's name tells enough, and what did not hold.
    said = re.sub(r"^\S*/", "", reason.decode("utf-8", "replace").strip().partition("\n")[0])
    line = f"glassbox-tui: llama.cpp gave up ({visible(said)}): the model file may be damaged, name another\n"
    os.write(2, line.encode("utf-8", "replace"))
    os._exit(1)


class Stop:
    """Ends the step that the library is at, from any thread, until `clear`."""

    def __init__(self) -> None:
        # A C string of one character or of none, so that the C library's strlen can be the callback that looks at it.
        # A function of ours would wait for the interpreter's lock at each node of the graph, a thousand times a token.
        self.text = ctypes.create_string_buffer(2)

    def set(self) -> None:
        self.text.value = b"x"

    def clear(self) -> None:
        self.text.value = b""

    @property
    def is_set(self) -> bool:
        return bool(self.text.value)


class Native:
    """A model in memory. One thread at a time may call `decode`, `forget` and the choosing of a token."""

    def __init__(self, path: Path, context: int, threads: int, stop: Stop) -> None:
        """Load the file (mapped, so that it shares the system's cache). Raises ModelError, Aborted by `stop`."""
        self._lib = lib = library()
        self._stop = stop
        _log.clear()
        params = lib.llama_model_default_params()
        going_on = lib.llama_progress_callback(lambda _done, _data: not stop.is_set)
        params.progress_callback = going_on
        self._model = lib.llama_model_load_from_file(os.fsencode(path), params)
        if not self._model:
            if stop.is_set:
                raise Aborted
            raise ModelError(f"{path} cannot be loaded ({_said()}): it may be damaged or too new, or memory is short")
        self._context = None
        # also where nobody calls close; the models' memory is not Python's to count
        self.close = weakref.finalize(self, _free, lib, made := [self._model])
        self._context = self._new_context(path, context, threads)
        made.append(self._context)
        self._memory = lib.llama_get_memory(self._context)
        if not self._memory or not lib.llama_model_has_decoder(self._model) or lib.llama_model_has_encoder(self._model):
            self.close()
            raise ModelError(f"{path} is a model that does not write text: an instruct or chat model does")
        self._vocab = lib.llama_model_get_vocab(self._model)
        self.vocabulary: int = lib.llama_vocab_n_tokens(self._vocab)
        self.context: int = lib.llama_n_ctx(self._context)
        self._sampler: Any = None

    def _new_context(self, path: Path, context: int, threads: int) -> Any:
        lib = self._lib
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = context, BATCH, BATCH
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        made = lib.llama_init_from_model(self._model, params)
        if not made:
            self.close()
            raise ModelError(
                f"there is no memory for {context:,} tokens with {path} ({_said()}): set GLASSBOX_LLM_CONTEXT lower,"
                " or take a smaller model"
            )
        strlen = ctypes.cast(ctypes.CDLL(None).strlen, lib.ggml_abort_callback)
        lib.llama_set_abort_callback(made, strlen, ctypes.addressof(self._stop.text))
        return made

    # -- tokens ----------------------------------------------------------------------------------------------------

    def tokens(self, text: str, special: bool) -> list[int]:
        """The tokens of a text; only with `special` do names of control tokens in it stand for those."""
        given = text.encode("utf-8", "replace")
        room = len(given) + 8
        found = (ctypes.c_int32 * room)()
        count = self._lib.llama_tokenize(self._vocab, given, len(given), found, room, False, special)
        if count < 0:
            raise ModelError(f"a text of {len(given):,} bytes cannot be cut into tokens")
        return list(found[:count])

    def piece(self, token: int) -> bytes:
        """The bytes that a token writes: perhaps a part of a character, nothing for a control token."""
        room = 64
        while True:
            found = ctypes.create_string_buffer(room)
            count = self._lib.llama_token_to_piece(self._vocab, token, found, room, 0, False)
            if count >= 0:
                return found.raw[:count]
            room = -count

    def name_of(self, token: int) -> str:
        """How the vocabulary spells a token; "" for one that the model does not have."""
        if not 0 <= token < self.vocabulary:
            return ""
        return bytes(self._lib.llama_vocab_get_text(self._vocab, token)).decode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        return bool(self._lib.llama_vocab_is_eog(self._vocab, token))

    def is_control(self, token: int) -> bool:
        return bool(self._lib.llama_vocab_is_control(self._vocab, token))

    def is_added(self, token: int) -> bool:
        """Whether it is a token with a name of its own, and not made of text by the vocabulary's rules."""
        added = self._lib.LLAMA_TOKEN_ATTR_CONTROL | self._lib.LLAMA_TOKEN_ATTR_USER_DEFINED
        return bool(self._lib.llama_vocab_get_attr(self._vocab, token) & added)

    @cached_property
    def control_names(self) -> tuple[str, ...]:
        """The names of all control tokens."""
        return tuple(self.name_of(token) for token in range(self.vocabulary) if self.is_control(token))

    @property
    def first(self) -> int | None:
        """The token that the model expects before everything else; None if it wants none."""
        return int(self._lib.llama_vocab_bos(self._vocab)) if self._lib.llama_vocab_get_add_bos(self._vocab) else None

    @property
    def edges(self) -> tuple[str, str]:
        """The names of the tokens that begin and end a text, as chat templates write them."""
        bos, eos = self._lib.llama_vocab_bos(self._vocab), self._lib.llama_vocab_eos(self._vocab)
        return self.name_of(bos), self.name_of(eos)

    # -- reading and writing ---------------------------------------------------------------------------------------

    def decode(self, tokens: Sequence[int]) -> None:
        """Read at most BATCH tokens after what was read. Raises Aborted (`forget` then), ModelError."""
        given = (ctypes.c_int32 * len(tokens))(*tokens)
        _log.clear()
        code = self._lib.llama_decode(self._context, self._lib.llama_batch_get_one(given, len(tokens)))
        if code == _ABORTED or (code and self._stop.is_set):
            raise Aborted
        if code:
            reason = "the context is full" if code == _NO_ROOM else _said()
            raise ModelError(f"the language model failed with code {code} ({reason}): ask again")

    def forget(self, keep: int) -> int:
        """Drop what was read after the first `keep` tokens; how many are kept (none where a model cannot go back)."""
        if keep and self._lib.llama_memory_seq_rm(self._memory, 0, keep, -1):
            return keep
        self._lib.llama_memory_clear(self._memory, False)
        return 0

    @contextlib.contextmanager
    def choosing(self, temperature: float) -> Iterator[None]:
        """Around the writing of one text: how `choose` takes tokens. The same seed each time: the same text."""
        lib = self._lib
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        if temperature > 0:
            steps = [lib.llama_sampler_init_top_k(40), lib.llama_sampler_init_top_p(0.95, 1)]
            steps += [lib.llama_sampler_init_temp(temperature), lib.llama_sampler_init_dist(1)]
        else:
            steps = [lib.llama_sampler_init_greedy()]
        for step in steps:
            lib.llama_sampler_chain_add(chain, step)
        self._sampler = chain
        try:
            yield
        finally:
            self._sampler = None
            lib.llama_sampler_free(chain)

    def choose(self) -> int:
        """The next token after what was read."""
        return int(self._lib.llama_sampler_sample(self._sampler, self._context, -1))


def _free(lib: Any, made: list[Any]) -> None:
    """Let go of the context, if there is one, then of the model."""
    if len(made) > 1:
        lib.llama_free(made.pop())
    lib.llama_model_free(made.pop())


def _said() -> str:
    """The library's last error line that says something, to be put into a sentence."""
    lines = [_FUNCTION.sub("", line.strip()) for text in _log for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not _EMPTY.search(line)]
    return telling[-1] if telling else "no reason was given"
