"""Levelling by place: pure texts keep their order, mixed ones stand between, hubs lose what they have too much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui.models.calibration import Calibration, dense_offsets, late_offsets
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.late_interaction import decode_tokens, prepare_query
from glassbox_tui.models.levelling import FLAT, HUB_TOLERANCE, dense_level, end_of, late_level, places
from glassbox_tui.text.language import language_of

PURE = {
    "other": ["The ferry leaves at nine and takes an hour to the island.", "Whisk the eggs, then fold in the flour."],
    "cjk": ["轮渡九点出发，一个小时到岛上。", "先把鸡蛋打散，再拌入面粉。"],
}
MIXED = "曲目：1. Yesterday Once More 2. Hotel California 3. 月亮代表我的心 4. Let It Be 5. Moon River"
CODE = 'curl -s "$URL" -d \'{"type": "text", "data": "\'$IMAGE\'"}\' | jq .id > out.json'


def made(cjk: np.ndarray, other: np.ndarray) -> Calibration:
    codes = np.zeros((2, len(cjk) // 4), dtype=np.uint8)
    means = {"cjk": cjk.astype(np.float32), "other": other.astype(np.float32)}
    return Calibration(means, ("cjk", "other"), codes, np.array([0, 1, 2]), decode_tokens(codes))


def test_pure_texts_stand_at_the_ends_and_what_no_label_fits_where_its_vector_is(e5: E5Embedder) -> None:
    for language, texts in PURE.items():
        found = places(e5.calibration, np.stack([e5.encode_passage(text).vector for text in texts]))
        assert found[:, 0].tolist() == [float(language == "cjk")] * len(texts)
    tracks, code = places(e5.calibration, np.stack([e5.encode_passage(text).vector for text in (MIXED, CODE)]))[:, 0]
    assert language_of(MIXED) == language_of(CODE) == "other"  # the label that lifted both above every answer
    assert tracks > 0.5
    assert 0 < code < 1


@pytest.mark.parametrize("question", ["when does the ferry leave", "轮渡几点出发"])
def test_at_the_ends_a_level_is_what_the_language_is_given(e5: E5Embedder, question: str) -> None:
    """The same figures by another way: `dense_offsets` and `late_offsets` go by label."""
    encoding = e5.encode_query(question)
    rows = prepare_query(encoding.states, e5.token_mean)
    weights = np.ones(len(rows))
    for level, offsets in (
        (dense_level(e5.calibration, encoding.vector, 1.0), dense_offsets(e5.calibration, encoding.vector)),
        (late_level(e5.calibration, rows, weights), late_offsets(e5.calibration, rows, weights)),
    ):
        assert {name: level.at(end_of(name)) for name in offsets} == pytest.approx(offsets, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0, 1))
@settings(deadline=None)
def test_a_place_is_between_the_ends_and_a_hub_only_ever_loses(seed: int, n: int, chinese: float) -> None:
    rng = np.random.default_rng(seed)
    cjk, other, *vectors = (row / np.linalg.norm(row) for row in rng.normal(size=(n + 2, 16)))
    calibration = made(0.9 * cjk, 0.9 * other)
    found = places(calibration, np.array(vectors, dtype=np.float32))
    assert ((found[:, 0] >= 0) & (found[:, 0] <= 1) & (found[:, 1] >= 0) & (found[:, 2] >= 0)).all()
    level = dense_level(calibration, np.asarray(cjk, dtype=np.float32), chinese)
    for vector, place in zip(vectors, found, strict=True):
        assert level.hub(place) <= 0.0
        assert level.at(place) == pytest.approx(level.language(place) + level.hub(place))
        # By plain arithmetic: what its cosine with the average Chinese text has above the line between the ends.
        u = float(place[0])
        ends = [float(mean @ (0.9 * cjk)) for mean in (0.9 * other, 0.9 * cjk)]
        excess = float(vector @ (0.9 * cjk)) - ((1 - u) * ends[0] + u * ends[1]) - HUB_TOLERANCE
        assert place[1] == pytest.approx(max(0.0, excess), abs=1e-5)


def test_nothing_is_given_without_a_calibration_of_both_languages() -> None:
    vectors = np.eye(4, dtype=np.float32)
    assert not places(None, vectors).any()
    assert dense_level(None, vectors[0], 1.0) == FLAT
    one = Calibration(
        {"cjk": vectors[0]},
        ("cjk",),
        np.zeros((1, 1), np.uint8),
        np.array([0, 1]),
        decode_tokens(np.zeros((1, 1), np.uint8)),
    )
    assert not places(one, vectors).any()
    assert dense_level(one, vectors[0], 1.0) == late_level(one, vectors[:1], np.ones(1)) == FLAT
