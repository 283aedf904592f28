"""Logits as probabilities and as words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.models.relevance import relevance, sigmoid


@pytest.mark.parametrize(
    ("logit", "probability"), [(0.0, 0.5), (math.log(3), 0.75), (-math.log(3), 0.25), (math.log(99), 0.99)]
)
def test_a_logit_is_the_log_of_the_odds(logit: float, probability: float) -> None:
    assert sigmoid(logit) == pytest.approx(probability, abs=1e-12)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_sigmoid_is_bounded_symmetric_and_keeps_order(a: float, b: float) -> None:
    assert 0.0 <= sigmoid(a) <= 1.0
    assert sigmoid(a) + sigmoid(-a) == pytest.approx(1.0)
    if a < b:
        assert sigmoid(a) <= sigmoid(b)


def test_close_logits_stay_apart_where_models_answer() -> None:
    logits = [x / 100 for x in range(-1500, 1500)]
    assert len({sigmoid(x) for x in logits}) == len(logits)


@pytest.mark.parametrize(
    ("probability", "word"),
    [(1.0, "high"), (0.75, "high"), (0.7499, "medium"), (0.25, "medium"), (0.2499, "low"), (0.0, "low")],
)
def test_words(probability: float, word: str) -> None:
    assert relevance(probability) == word


@pytest.mark.parametrize("logit", [-0.1, 1.1, math.nan])
def test_a_logit_has_no_word(logit: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        relevance(logit)
