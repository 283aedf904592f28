"""What the final list would have been: recomputed from the lists a Trace recorded, without running a model."""

from __future__ import annotations

from glassbox_tui.retrieval.fusion import RankedList, rrf
from glassbox_tui.retrieval.literal import with_literal
from glassbox_tui.retrieval.places import kept_places, placed
from glassbox_tui.retrieval.trace import Candidate, Round


def final_at(round_: Round, weight: float, k: float) -> tuple[Candidate, ...]:
    """The final list at this rerank weight and this k of the fusion, with its parts.

    With the weight and k that were recorded it is the recorded list, score by score. Without a rerank stage the weight
    says nothing.
    """
    lists = [RankedList("fused", 1.0, _uids(round_, "fused"))]
    if (rerank := round_.stage("rerank")) is not None:
        own = RankedList("rerank", weight, _uids(round_, "rerank"))
        lists.append(placed(own, _uids(round_, "fused"), rerank.lacking))
    return rrf(with_literal(lists, _uids(round_, "literal"), k), k)


def takeover(round_: Round) -> tuple[str, ...]:
    """The uids if the reranker alone decided: its order, then what it did not see. The limit of a growing weight."""
    rerank, fused = round_.stage("rerank"), _uids(round_, "fused")
    seen = kept_places(_uids(round_, "rerank"), fused, rerank.lacking if rerank is not None else ())
    return tuple(dict.fromkeys([*seen, *fused]))


def _uids(round_: Round, name: str) -> list[str]:
    stage = round_.stage(name)
    return [candidate.uid for candidate in stage.candidates] if stage else []
