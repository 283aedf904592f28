"""What is measured of a model here is true of this machine and this file, and is shown of no other."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from small_models import write_embedder, write_pooling, write_reranker

from glassbox_tui import cli
from glassbox_tui.commands import models as command
from glassbox_tui.models import generators, measuring, speed
from glassbox_tui.models.catalog import E5, HASHING, LATE_INTERACTION
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.entries import SMOLLM2
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.listing import model_rows
from glassbox_tui.models.measuring import measure_here
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.models.speed import Machine, Speed
from glassbox_tui.progress import Cancelled, Progress
from glassbox_tui.settings import Settings, load_settings

SOME = Speed(query_ms=2.0, memory_mb=100.0, measured="2026-11-30T12:00+00:00", version="0.1.0")
HERE = Machine("Some CPU", 4)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"GLASSBOX_DATA": str(tmp_path / "data")})


def row(name: str, settings: Settings) -> ModelRow:
    return next(row for row in model_rows(settings) if row.entry.name == name)


def figures(found: Speed) -> set[str]:
    """The names of those that were measured, each of which must be a positive number."""
    numbers = {name: value for name, value in vars_of(found).items() if isinstance(value, float)}
    assert all(value >= 0 for value in numbers.values())
    assert all(value > 0 for name, value in numbers.items() if name not in ("memory_mb", "mapped_mb", "load_s"))
    return set(numbers) - {"mapped_mb"}  # which not every system tells


def vars_of(found: Speed) -> dict[str, object]:
    return {name: getattr(found, name) for name in Speed.__slots__}


# -- measuring ---------------------------------------------------------------------------------------------------------


def test_the_bundled_embedder_its_reranker_and_the_hashing_one_are_measured_and_kept(e5: E5Embedder) -> None:
    settings = load_settings()  # where the embedder was made already
    wanted = {
        E5.name: {"query_ms", "passage_ms", "memory_mb", "load_s"},
        HASHING.name: {"query_ms", "passage_ms", "memory_mb", "load_s"},
        LATE_INTERACTION.name: {"rerank_ms", "memory_mb", "load_s"},
    }
    for name, names in wanted.items():
        steps: list[Progress] = []
        found, notice = measure_here(name, settings, steps.append)
        assert notice == ""
        assert found.speed is not None
        assert figures(found.speed) == names
        assert [step.phase for step in steps] == ["measure"]
        assert row(name, settings).speed == found.speed  # another look reads what was kept
    embedder = row(E5.name, settings).speed
    assert embedder is not None and embedder.memory_mb is not None
    # More than its file cannot be explained away; less than a tenth of it could not hold it.
    size = sum(file.stat().st_size for file in Path(row(E5.name, settings).path).rglob("*")) / 1e6
    assert size / 10 < embedder.memory_mb < 30 * size
    assert embedder.measured.startswith("20")


def test_models_of_ones_own_are_measured(settings: Settings, tmp_path: Path) -> None:
    embedder, reranker = write_embedder(tmp_path / "mine", 8), write_reranker(tmp_path / "ranks")
    write_pooling(embedder, 8)
    own = replace(settings, embed_model=str(embedder), rerank_model=str(reranker))
    first, _ = measure_here(str(embedder), own)
    second, _ = measure_here(str(reranker), own)
    assert first.speed is not None and {"query_ms", "passage_ms"} <= figures(first.speed)
    assert second.speed is not None and "rerank_ms" in figures(second.speed)


@pytest.mark.llm
def test_a_generator_is_measured_reading_and_writing(settings: Settings) -> None:
    found, _ = measure_here(SMOLLM2.name, settings)
    assert found.speed is not None
    assert figures(found.speed) == {"read_tokens", "write_tokens", "memory_mb", "load_s"}


def test_what_is_not_here_or_not_whole_says_so(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"models pull BAAI/bge-small-zh-v1\.5"):
        measure_here("BAAI/bge-small-zh-v1.5", settings)
    with pytest.raises(ModelError, match="there is no model 'nonsense'"):
        measure_here("nonsense", settings)
    broken = write_embedder(tmp_path / "broken", 8)
    (broken / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError) as raised:
        measure_here(str(broken), replace(settings, embed_model=str(broken)))
    assert "broken" in str(raised.value) and "\n" not in str(raised.value)


def test_a_library_that_crashes_is_one_sentence(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda _command, **options: popen([sys.executable, "-c", crash], **options)
    )
    with pytest.raises(ModelError, match=r"hashing could not be measured: .* SIGSEGV"):
        measure_here(HASHING.name, settings)


def test_a_cancel_ends_the_process_that_measures(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[subprocess.Popen[bytes]] = []
    popen, wanted = subprocess.Popen, threading.Event()

    def start(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        children.append(popen([sys.executable, "-c", "input()\nwhile True: pass"], **options))  # type: ignore[call-overload]
        wanted.set()
        return children[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(Cancelled):
        measure_here(HASHING.name, settings, cancelled=wanted.is_set)
    assert [child.poll() is not None for child in children] == [True]
    assert row(HASHING.name, settings).speed is None


def test_the_process_that_measures_ends_with_the_one_that_asked() -> None:
    order = json.dumps({"subject": {"kind": "embedder", "name": "hashing", "path": ""}, "settings": {}})
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys, time; from glassbox_tui.models import measuring as m;"
         "m._measured = lambda *_: time.sleep(600); m.main()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(order.encode() + b"\n")
    child.stdin.close()  # as when its parent is killed
    assert child.wait(60) == 1
    child.stdout.close()


# -- keeping -----------------------------------------------------------------------------------------------------------


def test_a_figure_is_shown_for_the_machine_and_the_file_it_is_of(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    key = ("generator", "m", speed.mark_of(str(file)))
    speed.keep(tmp_path, key, SOME, HERE)
    assert speed.read(tmp_path, HERE) == ({key: SOME}, "")
    assert speed.read(tmp_path, Machine("Another CPU", 4)) == ({}, "")
    assert speed.read(tmp_path, Machine("Some CPU", 2)) == ({}, "")  # as under taskset
    file.write_bytes(b"GGUF, another")
    assert ("generator", "m", speed.mark_of(str(file))) not in speed.read(tmp_path, HERE)[0]


def test_the_list_shows_no_figure_of_another_machine_or_file(settings: Settings, tmp_path: Path) -> None:
    folder = write_embedder(tmp_path / "mine", 8)
    own = replace(settings, embed_model=str(folder))
    key = ("embedder", str(folder), speed.mark_of(str(folder)))
    speed.keep(own.models_dir, key, SOME, Machine(speed.machine().cpu + " II", speed.machine().cpus))
    assert row(str(folder), own).speed is None
    speed.keep(own.models_dir, key, SOME)
    assert row(str(folder), own).speed == SOME
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes() + b" ")
    assert row(str(folder), own).speed is None


def test_a_newer_figure_takes_the_place_of_the_older_and_others_stay(tmp_path: Path) -> None:
    for machine in (HERE, Machine("Other", 1)):
        speed.keep(tmp_path, ("embedder", "a", "1"), SOME, machine)
        speed.keep(tmp_path, ("embedder", "b", "1"), SOME, machine)
    newer = replace(SOME, query_ms=9.0)
    speed.keep(tmp_path, ("embedder", "a", "2"), newer, HERE)
    assert speed.read(tmp_path, HERE)[0] == {("embedder", "b", "1"): SOME, ("embedder", "a", "2"): newer}
    assert len(speed.read(tmp_path, Machine("Other", 1))[0]) == 2
    assert {file.name for file in tmp_path.iterdir()} <= {speed.FILE, f".{speed.FILE}.lock"}


DAMAGED = (
    b"",
    b"\xff\xfe",
    b"[]",
    b"{",
    b'{"version": 1}',
    b'{"version": 1, "speeds": [{"kind": 1}]}',
    b'{"version": 1, "speeds": [{"kind": "a", "name": "b", "file": "", "machine": {}, "speed": {}}]}',
    b'{"version": 1, "speeds": [{"kind": "a", "name": "b", "file": "", "machine": {"cpu": "c", "cpus": 1},'
    b' "speed": {"query_ms": "fast"}}]}',
    b"[" * 100_000,
)


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_ignored_with_one_notice_and_written_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / speed.FILE).write_bytes(content)
    found, notice = speed.read(tmp_path, HERE)
    assert found == {}
    assert str(tmp_path / speed.FILE) in notice and "damaged" in notice
    speed.keep(tmp_path, ("embedder", "a", ""), SOME, HERE)
    assert speed.read(tmp_path, HERE) == ({("embedder", "a", ""): SOME}, "")


def test_figures_that_cannot_be_kept_are_shown_all_the_same(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device", "speeds.json")

    monkeypatch.setattr(speed, "_write", refuse)
    found, notice = measure_here(HASHING.name, settings)
    assert found.speed is not None
    assert "No space left on device" in notice


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_measures_one_and_gives_null_for_what_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GLASSBOX_DATA", str(tmp_path))
    assert cli.main(["models", "list", "--measure", "hashing", "--json"]) == 0
    models = {model["name"]: model for model in json.loads(capsys.readouterr().out)["models"]}
    assert models[HASHING.name]["speed"]["query_ms"] > 0
    assert models[HASHING.name]["speed"]["rerank_ms"] is None
    assert models[E5.name]["speed"] is None
    assert cli.main(["models", "list"]) == 0
    assert "ms a query" in capsys.readouterr().out
    (tmp_path / "models" / speed.FILE).write_text("{")
    assert cli.main(["models", "list"]) == 0
    said = capsys.readouterr()
    assert "is damaged" in said.err and "ms a query" not in said.out


def test_all_that_are_here_are_measured_and_a_fault_of_one_does_not_stop_the_others(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = write_reranker(tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"no graph")
    monkeypatch.setattr(generators, "bundled_file", lambda: None)
    monkeypatch.setenv("GLASSBOX_DATA", settings.data)
    monkeypatch.setenv("GLASSBOX_EMBED_MODEL", "hashing")
    monkeypatch.setenv("GLASSBOX_RERANK_MODEL", str(broken))
    here = {HASHING.name, str(broken)}
    monkeypatch.setattr(command, "model_rows", lambda s: [r for r in model_rows(s) if r.entry.name in here])
    assert cli.main(["models", "list", "--measure"]) == 1
    said = capsys.readouterr()
    assert str(broken) in said.err
    assert "ms a query" in said.out


def test_a_model_that_was_named_and_cannot_be_measured_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "list", "--measure", "nonsense"]) == 1
    assert "there is no model 'nonsense'" in capsys.readouterr().err


def test_one_order_is_read_whatever_a_library_prints(settings: Settings) -> None:
    """What is printed on standard output by others is no figure."""
    subject = measuring.Subject("embedder", "hashing")
    found = measuring.measure(subject, settings)
    assert figures(found) >= {"query_ms", "passage_ms"}
