"""Which reranker serves: one place for the decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.store import Store
from glassbox_tui.models import catalog
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.entries import LLM_RERANKERS, UNMEASURED_WEIGHT
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.llm_rerank import PREFIX, LLMReranker
from glassbox_tui.models.protocols import Embedder, Reranker, TokenEmbedder
from glassbox_tui.retrieval.stages import LateInteraction
from glassbox_tui.settings import Settings


class RerankError(GlassboxError):
    """The reranker is required (GLASSBOX_REQUIRE_RERANK=1) and did not run; the message says why."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """The reranker, or None; its weight in the second fusion; the thresholds of its score; why it is off, if it is."""

    reranker: LateInteraction | Reranker | None
    weight: float = 1.0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


def choose_reranker(
    settings: Settings,
    embedder: Embedder,
    store: Store,
    given: Reranker | None,
    chat: Callable[[], ChatModel | None] = lambda: None,
) -> Reranking:
    """An injected reranker first, then the one asked for by name, then late interaction if the embedder shows tokens.

    `chat` opens the language model, for the rerankers that are made of one.
    Raises ModelError for a name that cannot be had, RerankError when one is required and there is none.
    """
    if given is not None and not settings.disable_rerank:
        return Reranking(given, UNMEASURED_WEIGHT if isinstance(given, LLMReranker) else 1.0)
    why = catalog.why_no_rerank(settings, embedder.name, isinstance(embedder, TokenEmbedder))
    if why is not None:
        return _off(settings, why)
    if (wanted := settings.rerank_model.strip()) in LLM_RERANKERS:
        return _by_llm(wanted, chat())
    opened = catalog.open_reranker(settings, embedder)
    reranker: LateInteraction | Reranker | None = opened.reranker
    if reranker is None and isinstance(embedder, TokenEmbedder):
        reranker = LateInteraction(opened.entry.name, embedder, store)
    return Reranking(reranker, opened.entry.rerank_weight, opened.entry.thresholds, opened.notices)


def _by_llm(name: str, model: ChatModel | None) -> Reranking:
    if model is None:
        raise ModelError(
            f"GLASSBOX_RERANK_MODEL={name} needs a language model, and there is none:"
            " ./run.sh --with-llm brings a small one"
        )
    return Reranking(LLMReranker(model, name.removeprefix(PREFIX)), LLM_RERANKERS[name].rerank_weight)


def _off(settings: Settings, why: str) -> Reranking:
    if settings.require_rerank:
        reason = why or "GLASSBOX_DISABLE_RERANK switches rerank off"
        raise RerankError(f"GLASSBOX_REQUIRE_RERANK is set, but {reason}")
    return Reranking(None, notices=(why,) if why else ())
