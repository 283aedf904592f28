"""What-if recomputation gives back what was recorded, and says what another weight would have done."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.lab.whatif import final_at, takeover
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.trace import Candidate, Round, Stage
from glassbox_tui.settings import Settings

WORDS = ["apple", "pear", "plum", "grape", "cherry", "melon", "fig", "lime", "date", "kiwi"]
NOTES = {f"n{i}": " ".join(WORDS[(i * j + j) % 10] for j in range(1, 8)) for i in range(40)}


class Backwards:
    """A reranker that likes least what the stages before it like most."""

    name = "backwards"

    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        return [float(i) for i in range(len(passages))]


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.6, 1.0, 3.0])
@pytest.mark.parametrize("k", [1, 60])
def test_the_recorded_weight_gives_the_recorded_list(weight: float, k: int) -> None:
    engine = Engine(HashingEmbedder(), Backwards(), Settings(rerank_depth=7, rerank_weight=weight, rrf_k=k))
    engine.build(NOTES)
    for query in ("apple plum", "kiwi", "melon date fig"):
        for round_ in engine.search(query).rounds:
            recorded = round_.stage("final")
            assert recorded is not None
            assert final_at(round_, weight, k) == recorded.candidates


def test_the_recorded_weight_gives_the_recorded_list_with_the_bundled_model(e5: E5Embedder) -> None:
    engine = Engine(e5, settings=Settings()).build({"a": "猫在睡觉。", "b": "A cat sleeps.", "c": "股票下跌。"})
    trace = engine.search("sleeping cat", max_rewrites=0)
    recorded = trace.last.stage("final")
    assert recorded is not None
    assert trace.last.stage("rerank") is not None
    assert final_at(trace.last, trace.settings["rerank_weight"], trace.settings["rrf_k"]) == recorded.candidates


def test_without_a_rerank_stage_the_fused_order_stands() -> None:
    trace = Engine(HashingEmbedder(), settings=Settings()).build(NOTES).search("apple plum")
    recorded = trace.last.stage("final")
    assert recorded is not None
    assert final_at(trace.last, 2.0, 60) == recorded.candidates


@settings(max_examples=100, deadline=None)
@given(st.permutations(WORDS), st.integers(0, 10))
def test_takeover_is_where_a_growing_weight_leads(reranked: list[str], depth: int) -> None:
    round_ = recorded_round(WORDS, [word for word in reranked if word in WORDS[:depth]])
    assert takeover(round_) == tuple(c.uid for c in final_at(round_, 1e9, 60))


def test_a_weight_below_one_cannot_dethrone_the_champion_by_a_reversal() -> None:
    round_ = recorded_round(WORDS, WORDS[::-1])
    assert final_at(round_, 0.99, 60)[0].uid == WORDS[0]
    assert final_at(round_, 1.01, 60)[0].uid == WORDS[-1]
    assert math.isclose(final_at(round_, 0.5, 60)[0].score, 1 / 61 + 0.5 / 70)


def recorded_round(fused: list[str], reranked: list[str]) -> Round:
    """A round that recorded these two lists."""
    trace = Engine(HashingEmbedder(), settings=Settings()).build({"n": "apple"}).search("apple")
    lists = {"fused": fused, "rerank": reranked}
    stages = [Stage(n, 0.0, tuple(Candidate(u, i, 0.0) for i, u in enumerate(us, 1))) for n, us in lists.items()]
    return replace(trace.last, stages=tuple(stages))
