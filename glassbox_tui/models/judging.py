"""Which fitted weights serve a verdict, by the models that are in use."""

from __future__ import annotations

from glassbox_tui.models import fitted
from glassbox_tui.models.entries import E5, HASHING, LATE_INTERACTION
from glassbox_tui.models.verdict_weights import Fitted


def weights_for(embedder: str, reranker: str) -> tuple[Fitted, str]:
    """The weights for models of these names ("": there is none), and a notice where a model's scores have no say.

    Weights belong to the models that they were fitted on: for any other, words alone decide.
    """
    words = fitted.WORDS
    if not embedder or embedder.startswith(HASHING.name):  # whose scores tell nothing, as its entry says
        return Fitted(words), ""
    if not embedder.startswith(E5.name):
        return Fitted(words), f"the verdict rests on words alone: it was not fitted for {embedder}"
    late = reranker == LATE_INTERACTION.name
    unheard = f"the reranker {reranker} has no say in the verdict: it was not fitted for its scores"
    return Fitted(
        words, E5.verdict, LATE_INTERACTION.verdict if late else None
    ), "" if late or not reranker else unheard
