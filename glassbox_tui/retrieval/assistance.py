"""What a language model does in a search, where the settings ask for it, and when it is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.llm_judge import LLMJudge
from glassbox_tui.models.llm_rerank import LLMReranker
from glassbox_tui.retrieval.rounds import NO_MODEL, Pipeline
from glassbox_tui.settings import Settings

LATER = "the language model is not asked while you type: a full run has it rerank and judge"


def asks_model(settings: Settings) -> bool:
    """Whether a search with these settings may ask a language model, its reranker aside."""
    return settings.rewriter != "feedback" or settings.judge == "model"


def assisted(pipe: Pipeline, chat: Callable[[], ChatModel | None]) -> Pipeline:
    """`pipe` with the language model where its settings ask for one. An injected judge stays."""
    if not asks_model(pipe.settings):
        return pipe
    model, fault = None, NO_MODEL
    try:
        model = chat()
    except ModelError as error:
        fault = str(error)
    pipe = replace(pipe, chat=model, no_chat=fault)
    if pipe.settings.judge != "model" or pipe.plugins.judge is not None:
        return pipe
    judge = LLMJudge(model) if model is not None else _NoJudge(fault)
    return replace(pipe, plugins=replace(pipe.plugins, judge=judge))


def unassisted(pipe: Pipeline) -> tuple[Pipeline, tuple[str, ...]]:
    """`pipe` without a language model, for searches at every keystroke; and a notice if that makes a difference."""
    reranks = isinstance(pipe.reranker, LLMReranker)
    judges = isinstance(pipe.plugins.judge, LLMJudge)
    if not (reranks or judges):
        return pipe, ()
    plugins = replace(pipe.plugins, judge=None) if judges else pipe.plugins
    return replace(pipe, reranker=None if reranks else pipe.reranker, plugins=plugins), (LATER,)


@dataclass(frozen=True, slots=True)
class _NoJudge:
    """The judge that was asked for and is not there: the built-in verdict stands, and the notice says why."""

    why: str
    name: str = "GLASSBOX_JUDGE=model"

    def judge(self, query: str, evidence: Sequence[str]) -> bool:
        raise ModelError(self.why)
