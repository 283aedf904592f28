"""fastembed's own loading code on small models made here: what is expected is computed by hand beside it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from small_models import LIMIT, table, token_id, write_embedder, write_pooling, write_reranker

from glassbox_tui.models import manifest
from glassbox_tui.models.catalog import ModelError, open_embedder, open_reranker
from glassbox_tui.models.entries import UNMEASURED_WEIGHT
from glassbox_tui.models.protocols import Embedder, Reranker, TokenEmbedder
from glassbox_tui.models.truncation import CountsTokens, truncation_notice
from glassbox_tui.models.vocabulary import language_notice
from glassbox_tui.settings import Settings, load_settings

TEXT = "the ferry leaves at noon"
QUESTION = "ferry at noon"
# Pairs of equal words with QUESTION: 3, 0, 1, 2.
TEXTS = ["ferry at noon", "storm harbour", "bread at the harbour", "the ferry leaves the harbour ferry"]
PAIRS = [3, 0, 1, 2]


def opened_embedder(tmp_path: Path, folder: Path) -> tuple[Embedder, Settings]:
    settings = load_settings({"GLASSBOX_DATA": str(tmp_path / "data")}, embed_model=str(folder))
    return open_embedder(settings).embedder, settings


def opened_reranker(tmp_path: Path, folder: Path) -> Reranker:
    settings = load_settings({"GLASSBOX_DATA": str(tmp_path / "data")}, rerank_model=str(folder))
    reranker = open_reranker(settings).reranker
    assert reranker is not None
    return reranker


def states(text: str, dimension: int) -> NDArray[np.float64]:
    ids = [token_id("[CLS]"), *(token_id(word) for word in text.split()), token_id("[SEP]")]
    rows = table(dimension)[ids].astype(np.float64)
    return rows + rows.mean(axis=0)


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("cls", [True, False], ids=["cls", "mean"])
def test_a_folder_of_ones_own_is_pooled_as_it_says(tmp_path: Path, cls: bool) -> None:
    folder = write_embedder(tmp_path / "mine", 24)
    write_pooling(folder, 24, cls)
    embedder, _ = opened_embedder(tmp_path, folder)
    expected = unit(states(TEXT, 24)[0] if cls else states(TEXT, 24).mean(axis=0))
    np.testing.assert_allclose(embedder.embed_query(TEXT), expected, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_passages([TEXT]), [expected], atol=1e-6)


def test_a_folder_called_after_a_listed_model_is_that_model(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "bge-small-zh-v1.5", 512, "model_optimized.onnx")
    opened = open_embedder(load_settings({"GLASSBOX_DATA": str(tmp_path)}, embed_model=str(folder)))
    assert opened.entry.name == "BAAI/bge-small-zh-v1.5"
    assert opened.entry.dimension == opened.embedder.dimension == 512
    assert opened.entry.licence == "mit"
    # bge takes the first token's state.
    np.testing.assert_allclose(opened.embedder.embed_query(TEXT), unit(states(TEXT, 512)[0]), atol=1e-6)


def test_the_token_limit_is_the_tokenizers(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "bge-small-zh-v1.5", 512, "model_optimized.onnx", limit=12)
    opened = open_embedder(load_settings({"GLASSBOX_DATA": str(tmp_path)}, embed_model=str(folder)))
    assert opened.entry.token_limit == 10  # less [CLS] and [SEP]; the catalog said 512
    embedder = opened.embedder
    assert isinstance(embedder, CountsTokens)
    assert embedder.count_tokens(" ".join(["noon"] * 35)) == 35
    fits = opened.embedder.embed_query(" ".join(["noon"] * 10))
    assert np.abs(fits - embedder.embed_query(" ".join(["noon"] * 9))).max() > 1e-4
    assert fits.tobytes() == embedder.embed_query(" ".join(["noon"] * 10 + ["storm"])).tobytes()


def test_prompts_are_those_of_the_folder(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "mine", 8)
    write_pooling(folder, 8)
    plain, _ = opened_embedder(tmp_path, folder)
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "the ", "document": "at noon "}}')
    prompted, _ = opened_embedder(tmp_path, folder)
    assert prompted.embed_query("ferry").tobytes() == plain.embed_query("the ferry").tobytes()
    assert prompted.embed_passages(["ferry"]).tobytes() == plain.embed_passages(["at noon ferry"]).tobytes()
    assert prompted.token_limit == LIMIT - 2 - 2  # type: ignore[attr-defined]
    assert prompted.name != plain.name  # other vectors, another name


def test_other_weights_have_another_name(tmp_path: Path) -> None:
    names = set()
    for place, dimension in (("a", 8), ("b", 8), ("c", 16)):
        folder = write_embedder(tmp_path / place / "mine", dimension)
        write_pooling(folder, dimension)
        names.add(opened_embedder(tmp_path, folder)[0].name)
    assert len(names) == 2


def test_a_row_does_not_depend_on_its_neighbours(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "mine", 8)
    write_pooling(folder, 8)
    embedder, _ = opened_embedder(tmp_path, folder)
    together = embedder.embed_passages([*TEXTS, ""])
    for row, text in zip(together, [*TEXTS, ""], strict=True):
        assert row.tobytes() == embedder.embed_passages([text])[0].tobytes()
    assert embedder.embed_passages([]).shape == (0, 8)
    assert not isinstance(embedder, TokenEmbedder)


def test_a_note_cannot_spell_a_special_token(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "mine", 8)
    write_pooling(folder, 8)
    embedder, _ = opened_embedder(tmp_path, folder)
    assert embedder.count_tokens("[SEP]") == 3  # type: ignore[attr-defined]  # brackets and letters


def test_words_it_does_not_know_are_counted_beyond_the_limit_too(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "mine", 8)
    write_pooling(folder, 8)
    embedder, _ = opened_embedder(tmp_path, folder)
    assert embedder.count_unknown("noon " * 20 + "fog " * 20) == (20, 40)  # type: ignore[attr-defined]
    assert "50%" in (language_notice(embedder, ["noon " * 20 + "fog " * 20]) or "")


def test_logits_become_probabilities_once(tmp_path: Path) -> None:
    reranker = opened_reranker(tmp_path, write_reranker(tmp_path / "jina-reranker-v1-turbo-en", "onnx/model.onnx"))
    expected = [1 / (1 + math.exp(-(2 * pairs - 3))) for pairs in PAIRS]
    assert reranker.rerank(QUESTION, TEXTS) == pytest.approx(expected, abs=1e-6)


def test_a_folder_of_ones_own_with_logits(tmp_path: Path) -> None:
    reranker = opened_reranker(tmp_path, write_reranker(tmp_path / "mine"))
    assert reranker.rerank(QUESTION, TEXTS[:1]) == pytest.approx([1 / (1 + math.exp(-3))], abs=1e-6)
    assert reranker.rerank(QUESTION, []) == []


def test_a_graph_that_ends_in_a_sigmoid_is_left_as_it_is(tmp_path: Path) -> None:
    reranker = opened_reranker(tmp_path, write_reranker(tmp_path / "mine", sigmoid=True))
    expected = [1 / (1 + math.exp(-(2 * pairs - 3))) for pairs in PAIRS]
    assert reranker.rerank(QUESTION, TEXTS) == pytest.approx(expected, abs=1e-6)


def test_a_model_with_two_scores_is_refused(tmp_path: Path) -> None:
    folder = write_reranker(tmp_path / "mine", scores=2)
    with pytest.raises(ModelError, match="one score a pair") as caught:
        opened_reranker(tmp_path, folder)
    assert str(folder) in str(caught.value)


def test_an_unmeasured_reranker_cannot_overthrow_the_fused_champion(tmp_path: Path) -> None:
    folder = write_reranker(tmp_path / "jina-reranker-v1-turbo-en", "onnx/model.onnx")
    opened = open_reranker(load_settings({"GLASSBOX_DATA": str(tmp_path)}, rerank_model=str(folder)))
    assert opened.entry.rerank_weight == UNMEASURED_WEIGHT < 1.0
    assert opened.entry.token_limit == LIMIT - 3


def test_what_a_reranker_does_not_read_is_said(tmp_path: Path) -> None:
    reranker = opened_reranker(tmp_path, write_reranker(tmp_path / "mine"))  # 16 tokens: 3 special, 13 for both
    fits, long = " ".join(["storm"] * 10), " ".join(["storm"] * 11)
    assert truncation_notice(reranker, QUESTION, [fits]) is None
    notice = truncation_notice(reranker, QUESTION, [fits, long, long])
    assert notice is not None
    assert "2 of 3" in notice
    assert "13 tokens" in notice
    # The match stands behind the limit: it is not read, and the score says so.
    assert reranker.rerank(QUESTION, [f"{fits} noon"]) == reranker.rerank(QUESTION, [fits])


def _damage(path: Path, how: str) -> None:
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        path.write_bytes(b"<html>404</html>")


@pytest.mark.parametrize("how", ["gone", "cut", "other"])
@pytest.mark.parametrize("file", ["onnx/model.onnx", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("kept", [True, False], ids=["with manifest", "without"])
def test_a_damaged_file_names_itself(tmp_path: Path, file: str, how: str, kept: bool) -> None:
    folder = write_reranker(tmp_path / "mine", "onnx/model.onnx")
    if kept:
        manifest.write(folder, {}, ["onnx/model.onnx", "tokenizer.json", "tokenizer_config.json"])
    _damage(folder / file, how)
    with pytest.raises(ModelError) as caught:
        opened_reranker(tmp_path, folder)
    message = str(caught.value)
    assert "\n" not in message
    if file == "onnx/model.onnx" and how == "gone" and not kept:
        assert f"{folder} holds no model.onnx" in message
    else:
        assert str(folder / file) in message


def test_a_model_that_is_not_what_its_folder_says(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "mine", 8)
    write_pooling(folder, 9)
    with pytest.raises(ModelError, match="8 numbers where 9"):
        opened_embedder(tmp_path, folder)
