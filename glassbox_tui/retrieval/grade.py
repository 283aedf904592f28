"""The verdict on a round's evidence: three signals, three thresholds, reasons in words.

sufficient = coverage >= its threshold, and top dense >= the embedder's, and top rerank >= the reranker's. A stage that
was not asked to run has no say; one that ran and gave the evidence no score (no vectors yet) speaks against it.
Thresholds belong to the models: their scores share no scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from glassbox_tui.index.sparse import SparseIndex, idf
from glassbox_tui.retrieval.reasons import NO_CHUNK, NO_SIGNAL, against
from glassbox_tui.retrieval.trace import Grade
from glassbox_tui.text.content import content_words
from glassbox_tui.text.tokens import content_terms, terms

COVERAGE_THRESHOLD = 0.60


def grade(
    intent: str,
    evidence: Sequence[str],
    sparse: SparseIndex,
    top_dense: float | None,
    top_rerank: float | None,
    thresholds: Mapping[str, float],
    min_token_len: int = 1,
    otherwise: Sequence[tuple[int, int]] = (),
) -> Grade:
    """Judge `evidence` (the texts of the final top k) against what the person asked, `intent`.

    `thresholds` holds "dense" and "rerank" where those stages ran; coverage has its own. Coverage is the share of the
    query's content terms that stand anywhere in the evidence, plain and weighted by idf. `otherwise`: the spans of
    `intent` that the evidence holds in other words; what lies in them is not missing.
    """
    wanted = content_terms(intent, min_token_len)
    held = frozenset[str]().union(*(_terms_of(text, min_token_len) for text in evidence))
    found = [term for term in wanted if term in held]
    missing = tuple(
        word.text
        for word in content_words(intent, min_token_len)
        if not word.held(held) and not any(a < word.end and word.start < b for a, b in otherwise)
    )
    coverage = len(found) / len(wanted) if wanted else None
    weight = {term: idf(sparse, term) for term in wanted}
    total = sum(weight.values())
    idf_coverage = sum(weight[term] for term in found) / total if total > 0 else coverage
    signals = {"coverage": coverage, "dense": top_dense, "rerank": top_rerank}
    limits = {"coverage": COVERAGE_THRESHOLD, **thresholds}
    held_against = {name: limits[name] for name in signals if name in limits and (name != "coverage" or wanted)}
    reasons = tuple(
        reason for name, limit in held_against.items() if (reason := against(name, signals[name], limit)) is not None
    )
    if not evidence:
        reasons = (NO_CHUNK, *reasons)
    elif not held_against:
        reasons = (NO_SIGNAL, *reasons)
    return Grade(coverage, idf_coverage, top_dense, top_rerank, held_against, not reasons, reasons, missing)


@lru_cache(maxsize=1024)
def _terms_of(text: str, min_token_len: int) -> frozenset[str]:
    """A chunk's terms. While somebody types, the same chunks are judged again and again."""
    return frozenset(terms(text, min_token_len))
