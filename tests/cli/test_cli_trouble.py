"""The command line in bad company: closed streams, odd locales, full disks, names of nobody. Never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from seeding import Seed

from glassbox_tui.settings import Settings, SettingsError, check, knobs

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
# Python as it is where the locale is C and nobody helps: arguments and names arrive as bytes.
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def run(tmp_path: Path, seed: Seed) -> Run:
    """Runs the program as a shell would, with a data folder of its own and the embedder that needs nothing."""
    seed(tmp_path / "data")

    def go(*args: str | bytes, closed: tuple[int, ...] = (), **env: str) -> subprocess.CompletedProcess[bytes]:
        settings = {"GLASSBOX_DATA": str(tmp_path / "data"), "GLASSBOX_EMBED_MODEL": "hashing"}
        shut = " ".join(f"{number}>&-" for number in closed)
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {shut}', "sh", sys.executable, "-m", "glassbox_tui", *args],
            capture_output=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **settings, **env},
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done

    return go


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_closed_streams_never_hurt_the_index(run: Run, notes: Path, closed: tuple[int, ...]) -> None:
    """A file opened while 1 is free would become standard output: native code would then print into the index."""
    first = run("retrieve", "kettle", "--notes", str(notes), "--json", closed=closed)
    assert first.returncode == 0
    if 1 not in closed:
        assert json.loads(first.stdout)["rounds"][0]["hits"][0]["path"] == "b.md"
    again = run("index", str(notes), "--json")
    assert json.loads(again.stdout)["parsed"] == 0 and b"damaged" not in again.stderr


def test_question_from_a_closed_standard_input(run: Run, notes: Path) -> None:
    done = run("retrieve", "-", "--notes", str(notes), closed=(0,))
    assert done.returncode == 2 and b"the query is empty" in done.stderr


@pytest.mark.parametrize("locale", [{}, C_LOCALE], ids=["utf-8", "C"])
def test_query_is_read_as_utf_8_under_any_locale(run: Run, notes: Path, locale: dict[str, str]) -> None:
    done = run("retrieve", "混合检索".encode(), "--notes", str(notes), "--json", **locale)
    trace = json.loads(done.stdout)
    assert trace["query"] == "混合检索" and trace["rounds"][0]["hits"][0]["path"] == "a.md"
    assert trace["rounds"][0]["hits"][0]["stages"]["bm25"]["rank"] == 1
    odd = run("retrieve", b"kettle \xff\xed\xa0\x80", "--notes", str(notes), "--json", **locale)
    assert set(json.loads(odd.stdout)["query"].removeprefix("kettle ")) == {"\ufffd"}


def test_ask_under_a_c_locale_prints_ascii(run: Run, notes: Path) -> None:
    done = run("ask", "kettle", "--notes", str(notes), **C_LOCALE)
    assert done.returncode == 0 and done.stdout.isascii()
    assert b"\\u2013" not in done.stdout  # the dash of an absent value has an ASCII look


@pytest.mark.parametrize("columns", ["0", "1", "20", "40", "100000", "-5", "wide"])
@pytest.mark.parametrize("command", [("retrieve", "kettle"), ("ask", "kettle"), ("status",)], ids=lambda c: str(c[0]))
def test_any_width_shows_the_result_in_bounds(run: Run, notes: Path, command: Any, columns: str) -> None:
    done = run(*command, "--notes", str(notes), COLUMNS=columns)
    text = done.stdout.decode()
    assert len(text.split()) > 5
    assert max(map(len, text.splitlines())) <= 400


def test_long_query_does_not_bury_the_verdict(run: Run, notes: Path) -> None:
    query = "kettle 混合检索 " * 1500
    for command in ("retrieve", "ask"):
        done = run(command, query, "--notes", str(notes))
        assert done.returncode == 0 and len(done.stdout.decode()) < 8_000
    assert json.loads(run("ask", query, "--notes", str(notes), "--json").stdout)["query"] == query.strip()


@pytest.mark.parametrize("given", ["", "~nobody-of-this-name", "~nobody-of-this-name/notes", "missing"])
def test_notes_that_name_nothing_are_wrong_use(run: Run, given: str) -> None:
    for command in (("retrieve", "x", "--notes"), ("status", "--notes"), ("index",)):
        done = run(*command, given)
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1, (command, done.stderr)


@pytest.mark.parametrize(
    "field", [n for n, k in knobs().items() if isinstance(getattr(Settings(), n), str) and not k.choices]
)
def test_no_text_knob_takes_the_home_of_nobody(field: str) -> None:
    settings = Settings(**{field: "~nobody-of-this-name/x"})
    if field == "ignore" or field.startswith(
        ("llm_repo", "llm_file", "llm_server")
    ):  # patterns, names elsewhere: not paths
        check(settings)
        return
    with pytest.raises(SettingsError, match=knobs()[field].env):
        check(settings)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_a_failure(run: Run, notes: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "glassbox_tui", "status", "--notes", str(notes), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert done.returncode == 1 and b"No space left" in done.stderr and b"Traceback" not in done.stderr


def test_index_that_cannot_be_written_still_answers(run: Run, notes: Path, tmp_path: Path) -> None:
    """The lock stands in the way here as it would in a folder that may only be read; root may write anywhere."""
    run("index", str(notes))
    [lock] = (tmp_path / "data" / "indexes").glob("*/lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()
    (notes / "c.md").write_text("new words", encoding="utf-8")
    done = run("retrieve", "kettle", "--notes", str(notes), "--json")
    assert done.returncode == 0 and b"this is the index as it stands" in done.stderr
    assert json.loads(done.stdout)["rounds"][0]["hits"][0]["path"] == "b.md"
    assert run("index", str(notes)).returncode == 1  # asked for an update, and there was none


def test_what_was_mended_in_a_note_is_said_by_index_and_status(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "mended"
    notes.mkdir()
    (notes / "plan.md").write_text("---\ntitle: Plan: draft\n---\nThe body is searchable.\n")
    for command in (["index", str(notes)], ["status", "--notes", str(notes)]):
        shown = run(*command)
        assert "plan.md: front matter" in " ".join(shown.stdout.decode().split()), shown
        [warned] = json.loads(run(*command, "--json").stdout)["warnings"]
        assert warned["path"] == "plan.md" and "front matter" in warned["warning"]
