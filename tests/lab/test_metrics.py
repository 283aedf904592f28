"""Our metrics against trec_eval's own code (pytrec_eval, by way of ir-measures) on random runs and labels."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from glassbox_tui.lab.metrics import ndcg, recall, reciprocal_rank, success

ids = st.integers(0, 14).map("d{}".format)
rankings = st.lists(ids, unique=True, max_size=15)
graded = st.dictionaries(ids, st.integers(0, 4), min_size=1, max_size=10)
binary = st.dictionaries(ids, st.just(1), min_size=1, max_size=10)


def outside(measure: ir_measures.Measure, ranking: list[str], grades: dict[str, int]) -> float:
    qrels = [ir_measures.Qrel("q", uid, grade) for uid, grade in grades.items()]
    run = [ir_measures.ScoredDoc("q", uid, float(-rank)) for rank, uid in enumerate(ranking)]
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])


@settings(max_examples=150, deadline=None)
@given(rankings, graded | binary, st.sampled_from([1, 3, 5, 10]))
def test_metrics_equal_trec_eval(ranking: list[str], grades: dict[str, int], k: int) -> None:
    assert recall(ranking, grades, k) == pytest.approx(outside(R @ k, ranking, grades), abs=1e-9)
    assert success(ranking, grades, k) == pytest.approx(outside(Success @ k, ranking, grades), abs=1e-9)
    assert reciprocal_rank(ranking, grades, k) == pytest.approx(outside(RR @ k, ranking, grades), abs=1e-9)
    assert ndcg(ranking, grades, k) == pytest.approx(outside(nDCG @ k, ranking, grades), abs=1e-9)


def test_a_negative_grade_is_no_gain() -> None:
    assert ndcg(["bad", "good"], {"bad": -2, "good": 1}, 10) == pytest.approx(0.6309297535714575)


def test_without_a_relevant_id_all_is_zero() -> None:
    for metric in (recall, success, reciprocal_rank, ndcg):
        assert metric(["a", "b"], {"a": 0}, 10) == 0.0
        assert metric([], {"a": 1}, 10) == 0.0
