"""`doctor`, `purge` and `status` as a person runs them, on real files; in this process where none other is needed."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from glassbox_tui import cli

ROOT = Path(__file__).resolve().parents[2]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    for name, value in (("DATA", tmp_path / "data"), ("EMBED_MODEL", "hashing"), ("CONFIG", os.devnull)):
        monkeypatch.setenv(f"GLASSBOX_{name}", str(value))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def go(*args: object, **more: str) -> Done:
        with monkeypatch.context() as patch:
            for name, value in more.items():
                patch.setenv(name, value)
            code = cli.main([str(arg) for arg in args])
        return Done(code, *capsys.readouterr())

    return go


def index_file(run: Run, notes: Path) -> Path:
    return Path(json.loads(run("index", notes, "--json").stdout)["index_file"])


def test_doctor_says_what_is_wrong_and_what_a_repair_does_and_does_it(run: Run, notes: Path) -> None:
    file = index_file(run, notes)
    sound = run("doctor", notes)
    assert sound.returncode == 0 and "nothing is wrong" in sound.stdout
    with closing(sqlite3.connect(file)) as db:
        db.execute("UPDATE vectors SET vector = x'00000000' WHERE key = (SELECT min(key) FROM vectors)")
        db.commit()
    sick = run("doctor", notes)
    text = " ".join(sick.stdout.split())
    assert sick.returncode == 1 and "WRONG vectors" in text and "--repair forgets these vectors" in text
    document = json.loads(run("doctor", notes, "--json").stdout)
    [vectors] = [check for check in document["checks"] if check["name"] == "vectors"]
    assert (vectors["ok"], vectors["repaired"], document["wrong"]) == (False, None, 1)
    mended = run("doctor", notes, "--repair", "--json")
    document = json.loads(mended.stdout)
    assert mended.returncode == 0 and (document["wrong"], document["repaired"]) == (0, 1)
    assert json.loads(run("doctor", notes, "--json").stdout)["wrong"] == 0


def test_doctor_of_a_folder_without_an_index_makes_none(run: Run, notes: Path, tmp_path: Path) -> None:
    done = run("doctor", notes)
    assert done.returncode == 0 and "there is none yet" in " ".join(done.stdout.split())
    assert not list((tmp_path / "data").rglob("index.sqlite"))


def test_doctor_reads_every_byte_of_a_model(run: Run, notes: Path, tmp_path: Path) -> None:
    """I7: a cut or altered model file is named, also where size and time are those it had."""
    folder = tmp_path / "data" / "models" / "pulled" / "some--model"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"weights" * 100)
    about = "from pathlib import Path; from glassbox_tui.models import manifest; import sys\n"
    code = about + "manifest.write(Path(sys.argv[1]), {}, ['model.onnx'])"
    subprocess.run([sys.executable, "-c", code, folder], check=True)
    assert run("doctor", notes).returncode == 0
    times = (folder / "model.onnx").stat()
    (folder / "model.onnx").write_bytes(b"weighty" * 100)
    os.utime(folder / "model.onnx", ns=(times.st_atime_ns, times.st_mtime_ns))
    done = run("doctor", notes)
    text = "".join(done.stdout.split())
    assert done.returncode == 1 and "model.onnx" in text and "modelspullsome/model" in text


def test_purge_removes_the_index_and_never_the_notes(run: Run, notes: Path) -> None:
    file = index_file(run, notes)
    asked = run("purge", notes)
    assert asked.returncode == 2 and "--yes" in asked.stderr and file.exists()
    assert str(file.parent) in asked.stderr and "MB" in asked.stderr and str(notes) in asked.stderr
    assert run("purge", notes, "--yes").returncode == 0
    assert not file.parent.exists() and sorted(p.name for p in notes.iterdir()) == ["a.md", "b.md"]
    gone = run("purge", notes, "--yes")
    assert gone.returncode == 1 and "there is no index of" in gone.stderr
    assert run("purge").returncode == 2 and run("purge", notes, "--gone").returncode == 2


@pytest.mark.parametrize(("answer", "removed"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_purge_asks_at_a_terminal(run: Run, notes: Path, answer: str, removed: bool) -> None:
    file = index_file(run, notes)
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    done = subprocess.run(
        [sys.executable, "-m", "glassbox_tui", "purge", str(notes)], stdin=theirs, stderr=theirs, timeout=60
    )
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "[y/N]" in said
    assert (done.returncode, file.exists()) == ((0, False) if removed else (1, True))


def test_purge_refuses_while_another_process_writes(run: Run, notes: Path) -> None:
    file = index_file(run, notes)
    code = (
        "import sys; from pathlib import Path; from glassbox_tui.index.lock import lock_of, writing\n"
        "with writing(lock_of(Path(sys.argv[1]))): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline()
        done = run("purge", notes, "--yes")
        assert done.returncode == 1 and file.exists()
        assert f"process {other.pid}" in done.stderr and "not removed" in done.stderr
        status = json.loads(run("status", "--notes", notes, "--json").stdout)
        assert str(other.pid) in status["file"]["writer"]
        other.kill()
    assert json.loads(run("status", "--notes", notes, "--json").stdout)["file"]["writer"] is None
    assert run("purge", notes, "--yes").returncode == 0


def test_purge_gone_takes_the_indexes_of_folders_that_are_no_more(run: Run, notes: Path, tmp_path: Path) -> None:
    kept = index_file(run, notes)
    lost = tmp_path / "lost"
    lost.mkdir()
    (lost / "x.md").write_text("x")
    file = index_file(run, lost)
    assert "every index is of a folder that is there" in run("purge", "--gone").stderr
    (lost / "x.md").unlink()
    lost.rmdir()
    with closing(sqlite3.connect(file)) as db:
        [mount] = db.execute("SELECT value FROM meta WHERE key = 'mount'").fetchone()
        assert os.path.ismount(mount)
        db.execute("UPDATE meta SET value = ? WHERE key = 'mount'", (str(tmp_path / "not mounted now"),))
        db.commit()
    assert "every index is of a folder that is there" in run("purge", "--gone", "--yes").stderr
    with closing(sqlite3.connect(file)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'mount'", (mount,))
        db.commit()
    done = run("purge", "--gone", "--yes")
    assert done.returncode == 0 and str(lost) in done.stderr and str(notes) not in done.stderr
    assert not file.exists() and kept.exists()


ENCODED = {
    "utf-8": "混合检索用倒数排名。\n".encode(),
    "utf-8 with a mark": b"\xef\xbb\xbf" + "混合检索用倒数排名。\n".encode(),
    "utf-16-le": b"\xff\xfe" + "混合检索用倒数排名。\n".encode("utf-16-le"),
    "utf-16-be": b"\xfe\xff" + "混合检索用倒数排名。\n".encode("utf-16-be"),
    "utf-16-le without a mark": "混合检索用倒数排名。\n第二行\n".encode("utf-16-le"),
    "utf-16-be without a mark": "混合检索用倒数排名。\n第二行\n".encode("utf-16-be"),
    "gb18030": "混合检索把关键词和向量两路结果按名次相加。\n".encode("gb18030"),
    "big5": "混合檢索把關鍵詞和向量兩路結果按名次相加。\n".encode("big5"),
    "shift_jis": "検索の結果は順位で足し合わせ、点数は比べません。\n".encode("shift_jis"),
}


def test_status_shows_the_encoding_of_each_file(run: Run, tmp_path: Path) -> None:
    """E1: decided explicitly, and shown; also with the locale's codec in the way."""
    notes = tmp_path / "encoded"
    notes.mkdir()
    for kind, raw in ENCODED.items():
        (notes / f"{kind}.txt").write_bytes(raw)
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    index = [sys.executable, "-m", "glassbox_tui", "index", str(notes)]
    subprocess.run(index, env=os.environ | locale, check=True, capture_output=True)
    document = json.loads(run("status", "--notes", notes, "--json").stdout)
    read = {note["path"].removesuffix(".txt"): note["encoding"] for note in document["searchable"]}
    assert read == {kind: kind.split()[0] for kind in ENCODED}
    assert document["encodings"] == {
        "utf-16-be": 2,
        "utf-16-le": 2,
        "utf-8": 2,
        "big5": 1,
        "gb18030": 1,
        "shift_jis": 1,
    }
    shown = run("status", "--notes", notes).stdout
    for kind in ("gb18030", "big5", "shift_jis", "utf-16-le"):
        assert f"{kind}.txt: read as {kind}" in shown


def test_status_lists_every_file_that_is_not_searchable(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "many"
    notes.mkdir()
    for i in range(40):
        (notes / f"empty-{i}.md").write_text("")
        (notes / f".hidden-{i}.md").write_text("x")
        (notes / f"draft-{i}.md").write_text("x")
    (notes / "binary.md").write_bytes(b"\x00\x01\xff\xfe")
    (notes / "b.md").write_text("words")
    (notes / ".glassboxignore").write_text("draft-*\n")
    run("index", notes)
    shown = run("status", "--notes", notes).stdout
    document = json.loads(run("status", "--notes", notes, "--json").stdout)
    listed = {file["path"]: file["reason"] for file in document["not_searchable"]}
    assert listed.keys() == {p.name for p in notes.iterdir()} - {"b.md", ".glassboxignore"}
    assert all(f"{path}: " in shown for path in listed) and all(listed.values())
    assert "left out by 'draft-*' in .glassboxignore" in listed["draft-7.md"]
    assert document["file"]["size"] > 0 and document["file"]["schema"] > 0


@pytest.mark.parametrize("command", [("index",), ("status", "--notes"), ("retrieve", "x", "--notes"), ("doctor",)])
def test_a_file_that_is_no_note_is_refused_in_one_sentence(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04")
    done = run(*command, tmp_path / "x.xlsx")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "'x.xlsx' is not a note" in done.stderr and ".md" in done.stderr
    assert not list((tmp_path / "data").rglob("index.sqlite"))


def test_a_note_asked_for_by_name_that_cannot_be_searched_is_a_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"PK\x03\x04\x00\x00")
    done = run("index", tmp_path / "x.md")
    assert done.returncode == 1 and "ZIP" in done.stdout


def test_a_pattern_that_is_none_is_wrong_use(run: Run, notes: Path) -> None:
    done = run("index", notes, GLASSBOX_IGNORE="a.md,!")
    assert done.returncode == 2 and "GLASSBOX_IGNORE: '!' is no pattern" in done.stderr
    assert json.loads(run("index", notes, "--json", GLASSBOX_IGNORE="a.md").stdout)["index"]["notes"] == 1


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_what_the_readme_says_of_sqlite3_works(run: Run, notes: Path, readme: str) -> None:
    (notes / "empty.md").write_text("")
    queries = re.findall(r'sqlite3 -readonly INDEX "(.+)"', (ROOT / readme).read_text("utf-8"))
    assert len(queries) == 3
    with closing(sqlite3.connect(f"{index_file(run, notes).as_uri()}?mode=ro", uri=True)) as db:
        assert all(db.execute(query).fetchall() for query in queries)
