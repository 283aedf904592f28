"""The command line as a person runs it: separate processes, the real engine, real files.

The hashing embedder keeps it fast; what the bundled model does is tested where the models are.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from glassbox_tui import cli
from glassbox_tui.retrieval.trace_json import from_dict

ROOT = Path(__file__).resolve().parents[2]
ESC = "\x1b"


class Shell:
    """Runs `glassbox-tui` with an index folder of its own and a clean environment."""

    def __init__(self, home: Path) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GLASSBOX_", "LC_", "LANG", "PYTHON"))}
        own = {"GLASSBOX_DATA": str(home / "data"), "GLASSBOX_EMBED_MODEL": "hashing", "GLASSBOX_ANSWERS": "extract"}
        self.env = kept | own | {"LANG": "C.UTF-8"}
        self.data = home / "data"

    def start(self, *args: str, **env: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "glassbox_tui", *args],
            cwd=ROOT,
            env=self.env | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *args: str, code: int = 0, **env: str) -> tuple[str, str]:
        """(standard output, standard error) of a run that ends with `code` and without a traceback."""
        process = self.start(*args, **env)
        out, err = process.communicate(timeout=120)
        told = err.decode("utf-8", "replace")
        assert "Traceback" not in told, told
        assert process.returncode == code, told
        return out.decode("utf-8"), told

    def json(self, *args: str, **env: str) -> Any:
        return json.loads(self.run(*args, "--json", **env)[0])


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("cli"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "my notes [b]"
    folder.mkdir()
    (folder / "tea.md").write_text("# 绿茶\n\n## 蒸青\n\n绿茶要蒸青，不让叶子发酵。\n", "utf-8")
    (folder / "coffee.txt").write_text("Coffee beans are roasted until they crack.\n", "utf-8")
    (folder / "lock.md").write_text("# Locks\n\nA lease expires; a lock does not.\n", "utf-8")
    return folder


def test_the_question_of_the_readme_finds_the_rrf_note_first(shell: Shell) -> None:
    out, _ = shell.run("retrieve", "为什么混合检索要用 RRF 而不是加权分数相加")
    first = next(row for row in out.splitlines() if re.match(r" *1 ", row))
    assert "04-rrf-fusion.md:" in first
    assert all(stage in out for stage in ("bm25", "dense", "fused", "rerank", "final"))
    assert re.search(r"answered here \d+%", out)
    assert ESC not in out


def test_retrieve_report_is_markdown_that_names_every_hit(shell: Shell, notes: Path) -> None:
    out, _ = shell.run("retrieve", "绿茶 发酵", "--notes", str(notes), "--report")
    hits = shell.json("retrieve", "绿茶 发酵", "--notes", str(notes))["rounds"][-1]["hits"]
    assert out.startswith("# Search: `绿茶 发酵`\n")
    assert all(f"### [{place}] `{hit['path']}:" in out for place, hit in enumerate(hits, start=1))


def test_retrieve_json_is_a_trace_that_reads_back(shell: Shell, notes: Path) -> None:
    document = shell.json("retrieve", "绿茶 发酵", "--notes", str(notes), "--top-k", "2", "--rounds", "1")
    trace = from_dict(document)
    assert trace.hits[0].path == "tea.md"
    assert len(trace.hits) == 2
    assert len(trace.rounds) == 1
    assert (trace.index.notes, trace.query) == (3, "绿茶 发酵")


@pytest.mark.parametrize(("mode", "empty"), [("bm25", "dense"), ("dense", "bm25")])
def test_a_mode_leaves_the_other_first_stage_out(shell: Shell, notes: Path, mode: str, empty: str) -> None:
    document = shell.json("retrieve", "coffee roasted", "--notes", str(notes), "--mode", mode)
    assert document["rounds"][0]["hits"][0]["path"] == "coffee.txt"
    assert document["rounds"][0]["hits"][0]["stages"][empty] is None
    assert document["rounds"][0]["hits"][0]["stages"][mode]["rank"] == 1


def test_ask_quotes_the_note_and_cites_its_line(shell: Shell, notes: Path) -> None:
    answer = shell.json("ask", "does a lease expire", "--notes", str(notes))["answer"]
    assert answer["mode"] == "extract"
    assert "A lease expires; a lock does not. [1]" in answer["text"]
    assert answer["citations"][0]["path"] == "lock.md"
    assert answer["citations"][0]["lines"] == [3, 3]
    out, _ = shell.run("ask", "does a lease expire", "--notes", str(notes))
    assert "[1] lock.md:3 " in out
    assert "extract" in out


def test_index_tells_what_it_did_and_does_it_once(shell: Shell, notes: Path) -> None:
    first = shell.json("index", str(notes))
    assert (first["added"], first["unchanged"]) == (3, 0)
    again = shell.json("ingest", str(notes))
    assert (again["added"], again["changed"], again["unchanged"], again["embedded"]) == (0, 0, 3, 0)
    (notes / "tea.md").write_text("# 红茶\n\n红茶要发酵。\n", "utf-8")
    (notes / "lock.md").unlink()
    last = shell.json("index", str(notes))
    assert (last["changed"], last["removed"], last["unchanged"]) == (1, 1, 1)
    assert last["index"]["notes"] == 2
    assert last["index"]["dense_coverage"] == 1.0


def test_one_file_is_a_notes_folder_of_one(shell: Shell, notes: Path) -> None:
    document = shell.json("retrieve", "coffee", "--notes", str(notes / "coffee.txt"))
    assert document["index"]["notes"] == 1


def test_nothing_is_written_into_the_notes(shell: Shell, notes: Path) -> None:
    shell.run("index", str(notes))
    assert sorted(p.name for p in notes.iterdir()) == ["coffee.txt", "lock.md", "tea.md"]


def test_status_looks_without_making_an_index(shell: Shell, notes: Path) -> None:
    before = shell.json("status", "--notes", str(notes))
    assert before["index"] is None
    assert not Path(before["index_file"]).exists()
    (notes / "blank.md").write_text("\n\n")
    shell.run("index", str(notes))
    after = shell.json("status", "--notes", str(notes))
    assert after["index"]["notes"] == 3
    assert after["index"]["embedder"].startswith("hashing")
    assert after["data_dir"] == str(shell.data)
    assert [(f["path"], bool(f["reason"])) for f in after["not_searchable"]] == [("blank.md", True)]
    assert "blank.md" in shell.run("status", "--notes", str(notes))[0]


def test_an_empty_folder_is_searched_and_said_to_be_empty(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    out, err = shell.run("retrieve", "anything", "--notes", str(tmp_path / "none"))
    assert "nothing was found" in out
    assert "the index is empty" in err
    out, _ = shell.run("ask", "anything", "--notes", str(tmp_path / "none"))
    assert "no answer" in out


@pytest.fixture
def here(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same settings for runs inside this process, where a process of their own would prove nothing more."""
    for name in ("GLASSBOX_DATA", "GLASSBOX_EMBED_MODEL"):
        monkeypatch.setenv(name, shell.env[name])


@pytest.mark.parametrize(
    "query", ["？！", "the of and", "的了吗", "[/]", "\x1b[31m", "'\"\\", "\ud800", "a" * 5000, "\0"]
)
@pytest.mark.parametrize("command", [["retrieve"], ["retrieve", "--xray"], ["retrieve", "--json"], ["ask"]])
def test_odd_questions_are_answered_not_crashed_on(
    here: None, notes: Path, capsys: pytest.CaptureFixture[str], query: str, command: list[str]
) -> None:
    assert cli.main([*command, "--notes", str(notes), "--", query]) == 0
    seen = capsys.readouterr()
    assert ESC not in seen.out + seen.err
    if "--json" in command:
        json.loads(seen.out)


@pytest.mark.parametrize("columns", ["20", "40", "80", "200"])
def test_any_width_works(
    here: None, notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert cli.main(["retrieve", "绿茶", "--notes", str(notes)]) == 0
    out = capsys.readouterr().out
    assert "绿茶" in out
    assert max(map(cell_len, out.splitlines())) <= int(columns)


def test_escape_sequences_in_notes_never_reach_the_terminal(shell: Shell, notes: Path) -> None:
    (notes / "evil[b].md").write_text("# [/] \x1b[31mred\x1b]0;owned\x07 \u202eabc\n\n[b + evil\x1b[2J text\n", "utf-8")
    for args in (["retrieve"], ["retrieve", "--xray"], ["ask"]):
        out, err = shell.run(*args, "evil text", "--notes", str(notes), FORCE_COLOR="1", TERM="xterm")
        plain = re.sub(r"\x1b\[[0-9;]*m", "", out)  # our own colours
        assert not {ESC, "\x07", "\u202e", "\x9b"} & set(plain + err)
        assert "evil[b].md" in plain
        assert "\x1b[31mred" not in out


def test_no_color_means_none(shell: Shell, notes: Path) -> None:
    assert ESC not in shell.run("retrieve", "coffee", "--notes", str(notes), NO_COLOR="1")[0]


@pytest.mark.parametrize(
    "env",
    [
        {"LANG": "C"},
        {"LC_ALL": "POSIX"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
    ],
)
def test_a_locale_that_knows_no_chinese_never_crashes_and_json_stays_utf8(
    shell: Shell, notes: Path, env: dict[str, str]
) -> None:
    shell.run("retrieve", "绿茶", "--notes", str(notes), **env)
    shell.run("retrieve", "绿茶", "--notes", str(notes), "--xray", **env)
    document = shell.json("retrieve", "绿茶", "--notes", str(notes), **env)
    assert "tea.md" in [hit["path"] for hit in document["rounds"][0]["hits"]]
    assert any("蒸青" in hit["text"] for hit in document["rounds"][0]["hits"])


def test_a_reader_that_stops_reading_is_no_error(shell: Shell, notes: Path) -> None:
    process = shell.start("retrieve", "coffee", "--notes", str(notes), "--xray")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    told = process.stderr.read().decode()
    assert process.wait(timeout=60) == 0
    assert "Traceback" not in told
    assert "Broken pipe" not in told


def test_a_full_disk_behind_standard_output_is_a_sentence(shell: Shell, notes: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "glassbox_tui", "retrieve", "coffee", "--notes", str(notes), "--json"],
            cwd=ROOT, env=shell.env, stdout=full, stderr=subprocess.PIPE, timeout=60,
        )  # fmt: skip
    assert process.returncode == 1
    assert process.stderr.decode().strip().splitlines()[-1] == "glassbox-tui: No space left on device"
    assert b"Traceback" not in process.stderr


def test_interrupting_is_one_line_and_keeps_what_was_done(shell: Shell, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for i in range(400):
        (many / f"{i}.md").write_text(f"# Note {i}\n\n" + f"Word{i} and others follow here. " * 60)
    # Where the tests were started in the background they ignore ctrl+c, and so would what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = shell.start("index", str(many))
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.stderr is not None
    assert b"embedding" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    told = process.stderr.read().decode()
    assert process.wait(timeout=60) == 130
    assert told == "glassbox-tui: stopped; what was indexed so far is kept\n"
    resumed = shell.json("index", str(many))
    assert (resumed["added"], resumed["unchanged"]) == (0, 400)
    assert resumed["index"]["dense_coverage"] == 1.0


def test_a_model_that_cannot_be_had_is_a_sentence(shell: Shell, notes: Path) -> None:
    out, err = shell.run(
        "retrieve", "coffee", "--notes", str(notes), code=1, GLASSBOX_EMBED_MODEL="no/such-model", HF_HUB_OFFLINE="1"
    )
    assert out == ""
    assert "no/such-model" in err


def test_a_data_folder_that_cannot_be_written_is_a_sentence(shell: Shell, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    _, err = shell.run("index", str(notes), code=1, GLASSBOX_DATA=str(tmp_path / "file"))
    assert str(tmp_path / "file") in err
    assert err.count("\n") == 1


def test_a_search_in_one_folder_or_note_and_what_is_said_of_one_that_is_not_there(shell: Shell, notes: Path) -> None:
    (notes / "drinks" / "hot").mkdir(parents=True)
    (notes / "drinks" / "hot" / "cocoa.md").write_text("# Cocoa\n\nCocoa beans are roasted, too.\n", "utf-8")
    (notes / "drinks" / "blank.md").write_text("\n", "utf-8")
    where = ("beans roasted", "--notes", str(notes))
    for given, scope in (
        ("drinks", "drinks"),
        ("drinks/hot/", "drinks/hot"),
        (str(notes / "drinks" / "hot" / "cocoa.md"), "drinks/hot/cocoa.md"),
    ):
        trace = from_dict(shell.json("retrieve", *where, "--in", given))
        assert trace.settings["scope"] == scope
        assert {hit.path for hit in trace.hits} == {"drinks/hot/cocoa.md"}
    assert shell.json("ask", *where, "--in", "coffee.txt")["answer"]["citations"][0]["path"] == "coffee.txt"
    for given, code, words in (
        ("nowhere", 2, "no such file or folder"),
        ("..", 2, "is not inside the notes"),
        ("drinks/blank.md", 1, "nothing in 'drinks/blank.md' can be searched"),
    ):
        out, told = shell.run("retrieve", *where, "--in", given, code=code)
        assert out == ""
        assert words in told
        assert len(told.splitlines()) <= 2  # a notice about the blank note, and the sentence
