"""`models pull` against a hub on this machine, and what goes wrong on the way; what came opens without a network."""

from __future__ import annotations

import _socket
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_hub import SmallHub
from small_models import write_embedder, write_reranker

from glassbox_tui.commands.models import pull as pull_command
from glassbox_tui.models import hub, manifest
from glassbox_tui.models.catalog import ModelError, find, folder_of, open_embedder, open_reranker
from glassbox_tui.progress import Progress
from glassbox_tui.settings import Settings, load_settings

NAME = "BAAI/bge-small-zh-v1.5"
REPO = "Qdrant/bge-small-zh-v1.5"  # where fastembed's list has it from
WEIGHTS = "model_optimized.onnx"
SIDE = {"config.json", "special_tokens_map.json"}
NEEDED = {WEIGHTS, "tokenizer.json", "tokenizer_config.json"}
LARGE = random.Random(1).randbytes(500_000)
CUT = 300_000


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The repository on the hub, with more in it than a pull wants."""
    folder = write_embedder(tmp_path / "repo", 512, WEIGHTS)
    (folder / "README.md").write_text("not wanted")
    (folder / "pytorch_model.bin").write_bytes(b"not wanted")
    return folder


@pytest.fixture
def small_hub(loopback: None, repo: Path) -> Iterator[SmallHub]:
    with SmallHub({REPO: repo}) as started:
        yield started


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"GLASSBOX_DATA": str(tmp_path / "data")}, embed_model=NAME)


def pull(settings: Settings, small_hub: SmallHub, name: str = NAME, seen: list[Progress] | None = None) -> Path:
    entry = find(name, settings)
    progress = seen.append if seen is not None else lambda _: None
    return hub.pull(entry, hub.ask(entry, small_hub.endpoint), settings.models_dir, progress)


def start_of(span: str | None) -> int:
    assert span is not None
    return int(span.removeprefix("bytes=").removesuffix("-"))


def test_what_was_pulled_opens_without_a_network(tmp_path: Path, repo: Path, settings: Settings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _socket.socket.connect)
        patch.setattr(socket, "getaddrinfo", lambda host, port, *_, **__: [(2, 1, 6, "", (host, port))])
        with SmallHub({REPO: repo}) as started:
            folder = pull(settings, started)
            assert {name for name, _ in started.fetched} == NEEDED | SIDE
    assert folder.is_relative_to(settings.models_dir)
    opened = open_embedder(settings)  # any connection fails the test from here on
    assert opened.entry.name == NAME
    assert opened.embedder.embed_query("noon").shape == (512,)


def test_a_reranker_too(tmp_path: Path, loopback: None) -> None:
    source = write_reranker(tmp_path / "repo", "onnx/model.onnx")
    name = "jinaai/jina-reranker-v1-turbo-en"
    settings = load_settings({"GLASSBOX_DATA": str(tmp_path / "data")}, rerank_model=name)
    with SmallHub({name: source}) as started:
        pull(settings, started, name)
    opened = open_reranker(settings)
    assert opened.reranker is not None
    assert opened.entry.name == name
    assert opened.reranker.rerank("noon", ["at noon", "bread"])[0] > 0.1


def test_the_licence_is_said_before_anything_is_fetched(
    small_hub: SmallHub, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ask", lambda entry, ask=hub.ask: ask(entry, small_hub.endpoint))
    said: list[tuple[str, int]] = []
    pull_command("bge-small-zh-v1.5", settings, lambda _: None, lambda s: said.append((s, len(small_hub.fetched))))
    (licence, before), (size, still), *_ = said
    assert before == still == 0
    assert "apache-2.0" in licence
    assert "in the catalog: mit" in licence  # the two differ: a person should know
    assert "5 files" in size
    assert small_hub.fetched


def test_a_hub_without_a_word_on_the_licence(small_hub: SmallHub, settings: Settings) -> None:
    small_hub.licence = None
    assert hub.ask(find(NAME, settings), small_hub.endpoint).licence == "mit"


def test_progress_is_in_megabytes_of_all_files(small_hub: SmallHub, repo: Path, settings: Settings) -> None:
    (repo / WEIGHTS).write_bytes(b"x" * 3_500_000)
    seen: list[Progress] = []
    pull(settings, small_hub, seen=seen)
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert {p.total for p in seen} == {3}
    assert seen[-1].done == 3


def test_a_cut_connection_is_taken_up_where_it_broke(small_hub: SmallHub, repo: Path, settings: Settings) -> None:
    (repo / WEIGHTS).write_bytes(LARGE)
    small_hub.cut_after = CUT
    folder = pull(settings, small_hub)
    assert (folder / WEIGHTS).read_bytes() == LARGE
    first, second = (span for name, span in small_hub.fetched if name == WEIGHTS)
    assert first is None
    assert CUT / 2 < start_of(second) <= CUT


@pytest.mark.parametrize("ignore_ranges", [False, True], ids=["with ranges", "a hub without ranges"])
def test_a_pull_that_failed_is_resumed_by_the_next(
    small_hub: SmallHub, repo: Path, settings: Settings, ignore_ranges: bool
) -> None:
    (repo / WEIGHTS).write_bytes(LARGE)
    small_hub.cut_after, small_hub.ignore_ranges, small_hub.refuse_once_cut = CUT, ignore_ranges, True
    with pytest.raises(ModelError, match="answered 503; what came is kept: pull again"):
        pull(settings, small_hub)
    with pytest.raises(ModelError, match="not on this machine"):
        open_embedder(settings)

    small_hub.refuse = False
    small_hub.asked.clear()
    folder = pull(settings, small_hub)
    (span,) = (span for name, span in small_hub.fetched if name == WEIGHTS)
    assert CUT / 2 < start_of(span) <= CUT
    assert (folder / WEIGHTS).read_bytes() == LARGE
    assert not list(settings.models_dir.rglob("*.half"))


def test_a_half_that_is_more_than_the_whole_is_begun_anew(small_hub: SmallHub, repo: Path, settings: Settings) -> None:
    small_hub.refuse = True
    with pytest.raises(ModelError, match="503"):
        pull(settings, small_hub)
    (half,) = settings.models_dir.rglob("*.half")
    half.write_bytes(LARGE)
    small_hub.refuse = False
    assert (pull(settings, small_hub) / WEIGHTS).read_bytes() == (repo / WEIGHTS).read_bytes()


@pytest.mark.parametrize("file", [WEIGHTS, "tokenizer_config.json"], ids=["sha256", "git's sha1"])
def test_a_wrong_checksum_throws_the_file_away(small_hub: SmallHub, repo: Path, settings: Settings, file: str) -> None:
    promised = hub.ask(find(NAME, settings), small_hub.endpoint)
    body = (repo / file).read_bytes()
    (repo / file).write_bytes(body[::-1])
    with pytest.raises(ModelError, match="checksum") as caught:
        hub.pull(find(NAME, settings), promised, settings.models_dir, lambda _: None)
    assert file in str(caught.value)
    with pytest.raises(ModelError, match="not on this machine"):
        open_embedder(settings)
    (repo / file).write_bytes(body)
    assert (pull(settings, small_hub) / file).read_bytes() == body


def test_what_is_here_is_not_fetched_again(small_hub: SmallHub, settings: Settings) -> None:
    pull(settings, small_hub)
    small_hub.asked.clear()
    pull(settings, small_hub)
    assert small_hub.fetched == []


def test_only_the_damaged_file_is_fetched_again(small_hub: SmallHub, settings: Settings) -> None:
    folder = pull(settings, small_hub)
    (folder / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ModelError, match=rf"tokenizer\.json has 2 bytes.*models pull {NAME}"):
        open_embedder(settings)
    small_hub.asked.clear()
    pull(settings, small_hub)
    assert [name for name, _ in small_hub.fetched] == ["tokenizer.json"]
    assert open_embedder(settings).entry.name == NAME


def test_two_pulls_at_once_do_not_mix(small_hub: SmallHub, settings: Settings) -> None:
    from filelock import FileLock

    folder = folder_of(find(NAME, settings), settings.models_dir)
    folder.parent.mkdir(parents=True)
    with FileLock(str(folder.with_name(f".{folder.name}.lock"))), pytest.raises(ModelError, match="another process"):
        pull(settings, small_hub)


def test_the_manifest_says_where_it_came_from(small_hub: SmallHub, settings: Settings) -> None:
    about = manifest.read(pull(settings, small_hub))
    assert (about["model"], about["repo"], about["licence"]) == (NAME, REPO, "apache-2.0")
    assert set(about["files"]) == NEEDED | SIDE


def test_a_repository_that_lacks_a_file(small_hub: SmallHub, repo: Path, settings: Settings) -> None:
    (repo / WEIGHTS).unlink()
    with pytest.raises(ModelError, match=rf"{REPO} has no {WEIGHTS}"):
        pull(settings, small_hub)


def test_a_repository_that_is_not_there(small_hub: SmallHub, settings: Settings) -> None:
    small_hub.files.clear()
    with pytest.raises(ModelError, match=f"{REPO} does not exist"):
        pull(settings, small_hub)


def test_a_place_that_cannot_be_written(small_hub: SmallHub, settings: Settings) -> None:
    Path(settings.data).mkdir()
    settings.models_dir.write_text("a file where a folder should be")
    with pytest.raises(ModelError, match="cannot write"):
        pull(settings, small_hub)


# -- the command -------------------------------------------------------------------------------------------------------


def command(tmp_path: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.startswith("GLASSBOX_")}
    return subprocess.run(
        [sys.executable, "-m", "glassbox_tui", *args],
        env={**clean, "GLASSBOX_DATA": str(tmp_path / "data"), "HF_HOME": str(tmp_path / "hf"), **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_command_pulls_from_the_hub_of_hf_endpoint(tmp_path: Path, repo: Path) -> None:
    gguf = tmp_path / "gguf"
    gguf.mkdir()
    (gguf / "tiny.gguf").write_bytes(b"GGUF\x03\0\0\0" + bytes(16))  # a header with nothing to follow
    with SmallHub({REPO: repo, "me/tiny": gguf}) as started:
        env = {"HF_ENDPOINT": started.endpoint, "GLASSBOX_LLM_REPO": "me/tiny", "GLASSBOX_LLM_FILE": "tiny.gguf"}
        done = command(tmp_path, "download-model", NAME, **env)
        assert done.returncode == 0, done.stderr
        assert (Path(done.stdout.strip()) / WEIGHTS).is_file()
        assert "licence apache-2.0" in done.stderr
        done = command(tmp_path, "models", "pull", "tiny.gguf", **env)
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()).read_bytes() == (gguf / "tiny.gguf").read_bytes()


@pytest.mark.parametrize(
    ("name", "env", "told"),
    [
        (NAME, {"HF_ENDPOINT": "http://127.0.0.1:9"}, "no model hub could be reached at http://127.0.0.1:9"),
        (NAME, {"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE"),
        ("bge-smal-zh", {}, "did you mean BAAI/bge-small-zh-v1.5"),
        ("hashing", {}, "needs no pull"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(tmp_path: Path, name: str, env: dict[str, str], told: str) -> None:
    done = command(tmp_path, "models", "pull", name, **env)
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
