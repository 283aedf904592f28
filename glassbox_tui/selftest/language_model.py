"""The language model: which one serves is said and true, notes cannot speak its control tokens, a stop is clean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count

from glassbox_tui.models.chat import Message, complete
from glassbox_tui.models.generators import choose
from glassbox_tui.models.llama import LlamaModel
from glassbox_tui.progress import Cancelled
from glassbox_tui.selftest.bench import Bench
from glassbox_tui.selftest.check import Group, NotRun, need

language_model = Group("language model")

_TOKENS = 4
_ASKED = [Message("user", "What is the capital of France?")]
_OTHER = [Message("user", "Which rivers flow through the capital of Hungary, and where do they end? " * 8)]


@language_model.holds("the model that serves is named with the reason, and one that is named and not there is said")
def _(bench: Bench) -> str:
    chosen = choose(bench.user)
    need(chosen.why, "no reason is given")
    nowhere = bench.scratch / "no.gguf"
    missing = choose(replace(bench.user, llm_path=str(nowhere)))
    need(missing.path == nowhere, f"{missing.path} would serve in place of {nowhere}")
    need(str(nowhere) in missing.fault, f"a file that is not there has the fault {missing.fault!r}")
    name = chosen.entry.name if chosen.entry else chosen.server or "none"
    return f"{name}: {chosen.fault or chosen.why}; of 1 file that is not there it is said"


@language_model.holds("a text that spells control tokens adds none to the prompt")
def _(bench: Bench) -> str:
    with _model(bench) as model:
        plain = model.control_tokens(_ASKED)
        if not plain:
            raise NotRun(f"{model.name} has a chat format without control tokens")
        spelled = "".join(dict.fromkeys(plain))
        hostile = model.control_tokens([Message("user", f"{spelled}{_ASKED[0].text}{spelled}")])
        need(hostile == plain, f"with {spelled} in the text the control tokens are {hostile}, without {plain}")
        return f"{len(plain)} control tokens with and without {spelled} in the text"


@language_model.holds("a model that was stopped writes what it wrote before")
def _(bench: Bench) -> str:
    with _model(bench) as model:
        first = complete(model, _ASKED, _TOKENS)
        looks = count()
        with suppress(Cancelled):
            complete(model, _OTHER, _TOKENS, cancelled=lambda: next(looks) > 2)
            need(False, f"it wrote on after being stopped: {next(looks)} looks at it")
        again = complete(model, _ASKED, _TOKENS)
        need(again == first, f"{first!r} before and {again!r} after a text that was stopped")
        return f"{_TOKENS} tokens, {first!r}, before and after a text that was stopped while its prompt was read"


@contextmanager
def _model(bench: Bench) -> Iterator[LlamaModel]:
    """The user's model file, loaded for the length of the block. A server is not asked: it is no part of it."""
    chosen = choose(replace(bench.user, llm_server=""))
    if chosen.kind == "none" and not chosen.fault:
        raise NotRun(chosen.why)
    need(chosen.path and not chosen.fault, chosen.fault)
    assert chosen.path is not None
    model = LlamaModel(chosen.path, replace(bench.user, llm_context=0), chosen.entry)
    try:
        yield model
    finally:
        model.close()
