"""What a folder's scan lists and what it leaves out, with reasons (W8)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from glassbox_tui.notes.scan import NotesError, Scan, kind_of, locate, scan


def make(root: Path, *paths: str) -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path, encoding="utf-8")


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Scan) -> dict[str, str]:
    return {skip.path: skip.reason for skip in found.skipped}


def test_notes_are_listed_by_suffix_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.TXT", "a/y.markdown", "c.Pdf", "image.png", "a/code.py", "noext", "md")
    found = scan(tmp_path)
    assert paths(found) == ["a/y.markdown", "a/z.TXT", "b.md", "c.Pdf"]
    assert found.skipped == ()
    assert found.other == 4
    size, absolute = found.files[2].size, found.files[2].absolute
    assert (size, absolute) == (4, tmp_path / "b.md")
    assert found.files[2].mtime_ns == absolute.stat().st_mtime_ns
    assert [kind_of(path) for path in paths(found)] == ["md", "txt", "md", "pdf"]


def test_hidden_and_tool_folders_are_left_out_and_counted(tmp_path: Path) -> None:
    folders = [".git", ".obsidian", ".trash", ".venv", "node_modules", "__pycache__", "sub/node_modules", "myenv"]
    make(tmp_path, "keep.md", ".hidden.md", "venv/kept-too.md", *(f"{folder}/lost.md" for folder in folders))
    make(tmp_path, "myenv/pyvenv.cfg")
    found = scan(tmp_path)
    assert paths(found) == ["keep.md", "venv/kept-too.md"]
    assert found.reasons() == {"hidden folder": 4, "tool folder": 4, "hidden file": 1}
    assert reasons(found)["sub/node_modules/"] == "tool folder"


@pytest.mark.parametrize(
    "name",
    [
        "plan.sync-conflict-20240301-101500-ABCDEFG.md",
        "plan (Ann's conflicted copy 2024-03-01).md",
        "plan (conflicted copy 2024-03-01 101500).md",
        "plan (Case Conflict).md",
        "plan_conflict-20240301-101500.md",
        "计划 (小明 的冲突副本 2024-03-01).md",
    ],
)
def test_sync_conflict_copies_are_left_out(tmp_path: Path, name: str) -> None:
    make(tmp_path, "plan.md", name)
    found = scan(tmp_path)
    assert paths(found) == ["plan.md"]
    assert reasons(found) == {name: "sync-conflict copy"}


@pytest.mark.parametrize("name", ["conflict.md", "merge conflicts (git).md", "conflict resolution.md", "解决冲突.md"])
def test_notes_about_conflicts_are_notes(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)
    assert paths(scan(tmp_path)) == [name]


def test_a_linked_root_is_searched(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md", "real/sub/b.md")
    (tmp_path / "link").symlink_to("real")
    assert paths(scan(tmp_path / "link")) == ["a.md", "sub/b.md"]


def test_a_relative_root_gives_absolute_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "notes/a.md")
    monkeypatch.chdir(tmp_path)
    for root in (Path("notes"), Path("notes/a.md")):
        (file,) = scan(root).files
        assert (file.path, file.absolute) == ("a.md", tmp_path / "notes/a.md")


def test_a_root_below_a_hidden_folder_is_searched(tmp_path: Path) -> None:
    make(tmp_path, ".notes/a.md")
    assert paths(scan(tmp_path / ".notes")) == ["a.md"]


def test_link_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "a/note.md")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "again").symlink_to("a")
    found = scan(tmp_path)
    assert paths(found) == ["a/note.md"]
    assert reasons(found)["a/up/"] == "link to a folder that is searched already"
    assert reasons(found)["again/"] == "link to a folder that is searched already"
    assert reasons(found)["a/self"].startswith("broken link")


def test_links_never_lead_outside(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret.md", "notes/in.md", "notes-2/near.md")
    root = tmp_path / "notes"
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "file.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "near").symlink_to("../notes-2")
    (root / "gone.md").symlink_to("nowhere.md")
    found = scan(root)
    assert paths(found) == ["in.md"]
    outside = "link that leads outside the notes folder"
    assert {path: reasons(found)[path] for path in ("folder/", "file.md", "near/")} == dict.fromkeys(
        ("folder/", "file.md", "near/"), outside
    )
    assert reasons(found)["gone.md"].startswith("broken link")


def test_a_note_reached_both_ways_is_listed_once_under_its_own_path(tmp_path: Path) -> None:
    make(tmp_path, "z/real.md")
    (tmp_path / "a.md").symlink_to("z/real.md")
    found = scan(tmp_path)
    assert paths(found) == ["z/real.md"]
    assert reasons(found) == {"a.md": "link to a note that is searched already"}


def test_a_link_is_the_way_into_a_hidden_folder_of_the_root(tmp_path: Path) -> None:
    make(tmp_path, ".store/2024/a.md")
    (tmp_path / "now").symlink_to(".store/2024")
    assert paths(scan(tmp_path)) == ["now/a.md"]


@pytest.mark.parametrize(
    "name", ["two\nlines.md", "emoji 🧪.md", "a b.md", "引号\"'.md", "\x1b[31mred.md", "-rf.md", "a\\b.md"]
)
def test_odd_names_survive(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)
    (file,) = scan(tmp_path).files
    assert file.path == name
    assert file.absolute.read_text(encoding="utf-8") == name
    assert locate(tmp_path, file.path) == file.absolute


def test_names_that_are_no_utf_8_are_escaped_and_found_again(tmp_path: Path) -> None:
    """A GBK name from an old archive: JSON and SQLite can hold its path, and it leads back to the file."""
    raw = os.fsencode(tmp_path) + "/中文".encode("gb18030")
    os.mkdir(raw)  # noqa: PTH102 - a bytes path
    with open(raw + b"/\xff.md", "wb") as file:  # noqa: PTH123
        file.write(b"hello")
    (found,) = scan(tmp_path).files
    assert found.path == r"\xd6\xd0\xce\xc4/\xff.md"
    assert json.loads(json.dumps(found.path).encode()) == found.path
    assert found.absolute.read_bytes() == b"hello"
    assert locate(tmp_path, found.path).read_bytes() == b"hello"


def test_the_locale_has_no_say_in_names(tmp_path: Path) -> None:
    """E1: with Python's ASCII file names of LANG=C, paths are still the UTF-8 that is on the disk."""
    make(tmp_path, "笔记/计划.md", "计划 (小明 的冲突副本 2024-03-01).md")
    code = (
        "import sys; from pathlib import Path; from glassbox_tui.notes.scan import locate, scan;"
        "root = Path(sys.argv[1]); found = scan(root);"
        "print(ascii([(f.path, locate(root, f.path).read_bytes()) for f in found.files]));"
        "print(ascii(found.reasons()))"
    )
    environ = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, env=environ, check=True)
    files, reasons_given = done.stdout.decode("ascii").splitlines()
    assert files == ascii([("笔记/计划.md", "笔记/计划.md".encode())])
    assert reasons_given == "{'sync-conflict copy': 1}"


def test_two_names_that_would_be_shown_alike_are_not_merged(tmp_path: Path) -> None:
    make(tmp_path, r"\xff.md")
    with open(os.fsencode(tmp_path) + b"/\xff.md", "wb") as file:  # noqa: PTH123
        file.write(b"hello")
    found = scan(tmp_path)
    assert paths(found) == [r"\xff.md"]
    assert reasons(found) == {r"\xff.md": "its name cannot be told from another file's"}


def test_an_unreadable_folder_is_reported_and_the_rest_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may run as root, whom no mode stops: the refusal is played at the system call."""
    make(tmp_path, "a/x.md", "locked/y.md", "z.md")
    real = os.scandir

    def refuse(path: Path) -> object:
        if os.fspath(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = scan(tmp_path)
    assert paths(found) == ["a/x.md", "z.md"]
    assert reasons(found) == {"locked/": "folder cannot be read: Permission denied"}


def test_only_regular_files_are_notes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    make(tmp_path, "folder.md/in.md")
    found = scan(tmp_path)
    assert paths(found) == ["folder.md/in.md"]
    assert reasons(found) == {"pipe.md": "not a regular file"}


def test_one_file_can_be_the_root(tmp_path: Path) -> None:
    make(tmp_path, "only.md", "other.md", "picture.png")
    (file,) = scan(tmp_path / "only.md").files
    assert (file.path, file.absolute) == ("only.md", tmp_path / "only.md")
    assert locate(tmp_path / "only.md", "only.md") == file.absolute
    for name in ("picture.png", "pipe.md"):
        if name == "pipe.md":
            os.mkfifo(tmp_path / name)
        with pytest.raises(NotesError, match=r"not a note: name a folder|not a regular file"):
            scan(tmp_path / name)


def test_a_root_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotesError, match=r"cannot open the notes folder .*nowhere.*: No such file or directory"):
        scan(tmp_path / "nowhere")


def test_a_very_deep_folder_is_no_problem(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 500)
    make(tmp_path, f"{deep}/bottom.md")
    assert paths(scan(tmp_path)) == [f"{deep}/bottom.md"]
