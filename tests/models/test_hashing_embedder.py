"""The embedder that needs nothing."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.models.hashing import DIMENSION, HashingEmbedder, embed
from glassbox_tui.models.protocols import Embedder, TokenEmbedder


def test_it_is_an_embedder_without_token_states() -> None:
    embedder = HashingEmbedder()
    assert isinstance(embedder, Embedder)
    assert not isinstance(embedder, TokenEmbedder)


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_has_a_unit_vector_of_512_dimensions(text: str) -> None:
    vector = embed(text)
    assert vector.shape == (DIMENSION,) == (512,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


@given(st.lists(st.text(max_size=30), max_size=6))
def test_a_row_is_what_the_text_has_alone(texts: list[str]) -> None:
    rows = HashingEmbedder().embed_passages(texts)
    assert rows.shape == (len(texts), 512)
    for text, row in zip(texts, rows, strict=True):
        assert row.tobytes() == HashingEmbedder().embed_query(text).tobytes()


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_blank_texts_are_one_text(blank: str) -> None:
    assert embed(blank).tolist() == embed("").tolist()


@pytest.mark.parametrize(
    ("one", "other"), [("ＥＴＬ", "etl"), ("ｵｰﾀﾞｰ", "オーダー"), ("a  b", "a b"), ("Straße", "STRASSE")]
)
def test_spellings_that_fold_together_are_one_text(one: str, other: str) -> None:
    assert embed(one).tolist() == embed(other).tolist()


TEXTS = [
    "混合检索为什么用 RRF",
    "RRF 是混合检索的一种融合方法",
    "the ferry leaves at noon, the other ferry at nine",
    "ferry ferry ferry ferry noon",
    "noon",
]


@pytest.mark.parametrize("one", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_similarity_is_that_of_ngram_counts_with_sublinear_frequencies(one: str, other: str) -> None:
    # 512 signed buckets keep inner products up to collisions, whose spread is about 1 / sqrt(512) = 0.044.
    assert embed(one) @ embed(other) == pytest.approx(_cosine(_weights(one), _weights(other)), abs=0.15)


def _weights(text: str) -> dict[str, float]:
    bounded = f"^{text.lower()}$"
    grams = Counter(bounded[i : i + n] for n in (2, 3, 4) for i in range(len(bounded) - n + 1))
    return {gram: 1 + math.log(count) for gram, count in grams.items()}


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    dot = sum(weight * other.get(gram, 0.0) for gram, weight in one.items())
    return dot / math.sqrt(sum(w * w for w in one.values()) * sum(w * w for w in other.values()))


def test_the_numbers_do_not_depend_on_the_process_hash_seed() -> None:
    program = "from glassbox_tui.models.hashing import embed; print(embed('混合 hybrid').tobytes().hex())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {embed("混合 hybrid").tobytes().hex()}
