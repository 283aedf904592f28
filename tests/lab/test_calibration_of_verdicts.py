"""AUROC and calibration error by a second path; the fit finds what was put in; an index forgets what is taken out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.lab.calibration import auroc, calibration_error
from glassbox_tui.lab.fit_verdict import Example, fit, newton, probabilities, snippet, without
from glassbox_tui.models import fitted
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.models.verdict_weights import VerdictWeights
from glassbox_tui.retrieval.loop import ask_first
from glassbox_tui.retrieval.reasons import AGAINST, SIGNAL_WORDS
from glassbox_tui.retrieval.rounds import run_round
from glassbox_tui.settings import Settings

VALUES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=12)


@given(VALUES, VALUES)
def test_auroc_is_the_chance_that_a_present_value_is_the_higher_one(present: list[float], absent: list[float]) -> None:
    wins = sum((p > a) + 0.5 * (p == a) for p in present for a in absent)
    assert auroc(present, absent) == pytest.approx(wins / (len(present) * len(absent)))


def test_auroc_without_one_of_the_two_is_no_number() -> None:
    assert math.isnan(auroc([], [1.0])) and math.isnan(auroc([1.0], []))


def test_calibration_error_by_hand() -> None:
    """Three are said to be .8 likely and two come true; two are said to be .1 likely and none does."""
    said, happened = [0.8, 0.8, 0.8, 0.1, 0.1], [True, True, False, False, False]
    assert calibration_error(said, happened) == pytest.approx((3 * abs(0.8 - 2 / 3) + 2 * 0.1) / 5)
    assert calibration_error([1.0, 0.0], [True, False]) == 0.0
    assert calibration_error([], []) == 0.0


def test_newton_finds_the_weights_that_made_the_answers() -> None:
    random = np.random.default_rng(7)
    x = random.normal(size=(6000, 3))
    true = np.array([0.4, 1.5, -2.0, 0.0])
    y = (random.random(6000) < 1 / (1 + np.exp(-(true[0] + x @ true[1:])))).astype(float)
    found = newton(x, y, np.ones(6000), penalty=1e-6)
    assert np.abs(found - true).max() < 0.15
    p = 1 / (1 + np.exp(-np.column_stack([np.ones(6000), x]) @ found))
    assert np.abs(x.T @ (y - p)).max() < 1e-4  # the gradient of the log loss vanishes


def test_a_fit_is_calibrated_where_it_was_made_and_its_text_says_the_same() -> None:
    random = np.random.default_rng(3)
    examples = []
    for i in range(900):
        answerable = i % 3 > 0
        values = {"words": float(random.normal(0.7 if answerable else 0.3, 0.2)), "rare": float(random.normal())}
        examples.append(Example(values, answerable, "made", i % 2, "WORDS"))
    weights = fit(examples, ["words", "rare"])
    p = probabilities(examples, weights)
    assert weights.signals["words"][0] > 5 and weights.signals.get("rare", (0.0, 0.0))[0] < 0.5
    assert calibration_error(p.tolist(), [e.answerable for e in examples]) < 0.05
    space: dict[str, VerdictWeights] = {}
    exec(snippet({"MADE": weights}), space)  # the text is a module of ours
    assert space["MADE"] == weights


def test_the_shipped_weights_know_their_signals_and_their_limits() -> None:
    for weights in (fitted.LATE, fitted.DENSE, fitted.WORDS):
        # That a question is Chinese speaks for nothing and against nothing: it is no reason.
        assert (
            weights.signals.keys() - {"chinese", "named"} <= AGAINST.keys()
            and weights.signals.keys() <= SIGNAL_WORDS.keys()
        )
        assert 0 < weights.related < weights.answered < 1
        assert weights.fitted


def test_an_index_without_a_note_is_the_index_that_never_had_it() -> None:
    notes = {
        f"{i}.md": [f"note {word} and {other}", f"{word} again"]
        for i, (word, other) in enumerate([("heron", "tea"), ("lease", "heron"), ("tea", "rent"), ("quokka", "lease")])
    }
    whole = Engine(HashingEmbedder(), settings=Settings()).build(notes)
    for gone in ("0.md", "2.md"):
        never = Engine(HashingEmbedder(), settings=Settings()).build({k: v for k, v in notes.items() if k != gone})
        for question in ("heron tea", "lease", "quokka rent"):
            found, expected = (
                run_round(ask_first(question, pipe), pipe).round
                for pipe in (
                    replace(whole.pipeline(), snapshot=without(whole.snapshot, {gone})),
                    never.pipeline(),
                )
            )
            assert found.grade == expected.grade
            assert [(h.uid, h.stages) for h in found.hits] == [(h.uid, h.stages) for h in expected.hits]
        assert isinstance(without(whole.snapshot, {gone}), Snapshot)
