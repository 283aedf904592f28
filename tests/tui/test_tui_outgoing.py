"""What leaves the app: editors' command lines, the clipboard's sequence, files for the user."""

from __future__ import annotations

import base64
import re
import shlex
import stat
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.tui.clipboard import osc52
from glassbox_tui.tui.editor import opener, run_in_terminal
from glassbox_tui.tui.outbox import new_file, replace_file, stem_of

NOTE = Path("/notes/a b's 笔记;$(x).md")


def everything(name: str) -> str:
    return f"/usr/bin/{name}"


@pytest.mark.parametrize(
    ("value", "command"),
    [
        ("vim", ["vim", "+12", str(NOTE)]),
        ("/usr/local/bin/nvim -R", ["/usr/local/bin/nvim", "-R", "+12", str(NOTE)]),
        ("nano", ["nano", "+12", str(NOTE)]),
        ("emacs -nw", ["emacs", "-nw", "+12", str(NOTE)]),
        ("emacsclient -t", ["emacsclient", "-t", "+12", str(NOTE)]),
        ("micro", ["micro", "+12", str(NOTE)]),
        ("hx", ["hx", f"{NOTE}:12"]),
        ("code", ["code", "--wait", "--goto", f"{NOTE}:12"]),
        ("code --wait", ["code", "--wait", "--goto", f"{NOTE}:12"]),
        ("subl -w", ["subl", "-w", f"{NOTE}:12"]),
        ("'/opt/my editor/it' --flag", ["/opt/my editor/it", "--flag", str(NOTE)]),
    ],
)
def test_each_editor_gets_the_line_in_its_own_way_and_the_name_as_one_word(value: str, command: list[str]) -> None:
    assert list(opener({"EDITOR": value}, NOTE, 12, everything).command) == command


def test_visual_comes_before_editor_before_pager_before_what_is_installed() -> None:
    names = {"VISUAL": "vim", "EDITOR": "nano", "PAGER": "less"}
    for variable, program in names.items():
        rest = {k: v for k, v in names.items() if list(names).index(k) >= list(names).index(variable)}
        assert opener({"VISUAL": "", "EDITOR": " "} | rest, NOTE, 3, everything).command[0] == program
    assert opener({}, NOTE, 3, lambda name: "/bin/vi" if name == "vi" else None).command == ("vi", "+3", str(NOTE))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"EDITOR": "no-such-editor -x"}, "$EDITOR names 'no-such-editor', which is not installed"),
        ({"VISUAL": "vim 'unclosed"}, "$VISUAL cannot be read"),
        ({}, "set EDITOR"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_sentence(environ: dict[str, str], words: str) -> None:
    found = opener(environ, NOTE, 1, lambda name: None)
    assert not found.command
    assert words in found.problem


def test_a_file_name_is_never_read_by_a_shell(tmp_path: Path) -> None:
    note = tmp_path / 'a\'; touch owned; "$(touch owned2)" \n.md'
    note.write_text("text")
    seen = tmp_path / "seen"
    editor = tmp_path / "ed itor"
    editor.write_text(f"#!/bin/sh\nprintf '%s' \"$1\" > {shlex.quote(str(seen))}\n")
    editor.chmod(0o755)
    found = opener({"EDITOR": shlex.quote(str(editor))}, note, 5)
    assert run_in_terminal(found.command, None) == ""
    assert seen.read_text() == str(note)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([note.name, "seen", "ed itor"])


def test_an_editor_that_fails_or_cannot_start_is_said(tmp_path: Path) -> None:
    assert run_in_terminal(["false"], None) == "false ended with status 1"
    assert "cannot be run" in run_in_terminal([str(tmp_path / "gone")], None)


@given(st.text(max_size=80), st.integers(1, 90), st.booleans())
def test_the_clipboard_gets_the_text_itself_or_its_whole_beginning(text: str, limit: int, tmux: bool) -> None:
    sequence, cut = osc52(text, tmux=tmux, limit=limit)
    data = text.encode("utf-8", "replace")
    found = re.findall(r"52;c;([A-Za-z0-9+/=]*)\x07", sequence)
    assert len(found) == (2 if tmux else 1)
    sent = base64.b64decode(found[0])
    assert data.startswith(sent)
    sent.decode()  # whole characters
    assert cut == (sent != data) == (len(data) > limit)
    assert len(data) <= limit or limit - len(sent) < 4
    # Whatever the text, nothing but the sequence's own controls is in it.
    assert re.fullmatch(r"\x1b]52;c;[\w+/=]*\x07(\x1bPtmux;\x1b\x1b]52;c;[\w+/=]*\x07\x1b\\)?", sequence)


def test_a_new_file_never_writes_over_an_older_one_and_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "exports"
    paths = [new_file(folder, "20261130-report", "md", f"text {i} 中") for i in range(3)]
    assert [p.name for p in paths] == ["20261130-report.md", "20261130-report-2.md", "20261130-report-3.md"]
    assert [p.read_text("utf-8") for p in paths] == ["text 0 中", "text 1 中", "text 2 中"]
    assert {stat.S_IMODE(p.stat().st_mode) for p in paths} == {0o600}
    assert len(list(folder.iterdir())) == 3  # nothing half-written is left
    replace_file(paths[0], "other")
    assert paths[0].read_text() == "other"
    assert len(list(folder.iterdir())) == 3


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError):
        new_file(tmp_path / "file", "a", "md", "text")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@given(st.text(max_size=200))
def test_a_name_for_any_query_is_one_safe_path_component(query: str) -> None:
    stem = stem_of(query, datetime(2026, 11, 30, 17, 15, 2))
    assert stem.startswith("20261130-171502")
    assert re.fullmatch(r"[\w-]+", stem)
    assert len(stem.encode()) < 200
