"""What the user wants left out: patterns of a setting and of .glassboxignore files, each skip with its reason (W8)."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui.notes.ignore import IGNORE_FILE, Rules, rules_of, split
from glassbox_tui.notes.scan import Scan, scan
from glassbox_tui.settings import Settings, SettingsError


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Scan) -> dict[str, str]:
    return {skip.path: skip.reason for skip in found.skipped}


def test_patterns_of_the_setting_leave_files_and_folders_out_and_are_named(tmp_path: Path) -> None:
    make(tmp_path, "keep.md", "draft-1.md", "sub/draft-2.md", "old/a.md", "sub/old/b.md")
    found = scan(tmp_path, Rules(("draft-*", "/old/")))
    assert paths(found) == ["keep.md", "sub/old/b.md"]
    assert found.reasons() == {
        "left out by 'draft-*' in GLASSBOX_IGNORE": 2,
        "left out by '/old/' in GLASSBOX_IGNORE": 1,
    }


def test_an_ignore_file_counts_from_its_own_folder_and_the_deeper_one_decides(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "log.md", "sub/a.md", "sub/log.md", "sub/deep/a.md", "other/sub/a.md")
    (tmp_path / IGNORE_FILE).write_text("# comment\n\nlog.md\n/sub/deep/\n")
    (tmp_path / "sub" / IGNORE_FILE).write_text("!log.md\n/a.md\n")
    found = scan(tmp_path)
    assert paths(found) == ["a.md", "other/sub/a.md", "sub/log.md"]
    assert reasons(found) == {
        "log.md": "left out by 'log.md' in .glassboxignore",
        "sub/a.md": "left out by '/a.md' in sub/.glassboxignore",
        "sub/deep/": "left out by '/sub/deep/' in .glassboxignore",
    }
    assert paths(scan(tmp_path, Rules(("a.md",)))) == ["sub/log.md"]


def test_a_file_may_take_back_what_the_setting_leaves_out(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md")
    (tmp_path / IGNORE_FILE).write_text("!b.md\n")
    assert paths(scan(tmp_path, Rules(("*.md",)))) == ["b.md"]


def test_a_link_is_left_out_by_its_own_name(tmp_path: Path) -> None:
    make(tmp_path, ".store/a.md", "keep.md")
    (tmp_path / "linked").symlink_to(".store")
    assert paths(scan(tmp_path)) == ["keep.md", "linked/a.md"]
    assert paths(scan(tmp_path, Rules(("linked/",)))) == ["keep.md"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"!\nskip.md\n", "line 1, '!', is no pattern"),
        (b"skip.md\n" + b"*a" * 40 + b"b\n", "line 2"),
        (b"\xff\xfe\x00\nskip.md\n", ""),
        (b"x\n" * 100_000, "larger than"),
    ],
    ids=["no pattern", "too many stars", "no text", "too large"],
)
def test_what_is_wrong_with_an_ignore_file_is_said_and_the_rest_of_it_counts(
    tmp_path: Path, content: bytes, why: str
) -> None:
    make(tmp_path, "keep.md", "skip.md", "a" * 200 + ".md")
    (tmp_path / IGNORE_FILE).write_bytes(content)
    started = time.monotonic()
    found = scan(tmp_path)
    assert time.monotonic() - started < 5
    assert "keep.md" in paths(found)
    assert ("skip.md" in paths(found)) == ("larger" in why)
    assert why in reasons(found).get(IGNORE_FILE, "")


def test_an_ignore_file_that_is_a_link_or_a_folder_has_no_say(tmp_path: Path) -> None:
    make(tmp_path, "notes/a.md", "notes/sub/b.md", "rules")
    (tmp_path / "rules").write_text("*.md\n")
    (tmp_path / "notes" / IGNORE_FILE).symlink_to("../rules")
    (tmp_path / "notes" / "sub" / IGNORE_FILE).mkdir()
    found = scan(tmp_path / "notes")
    assert paths(found) == ["a.md", "sub/b.md"]
    assert "not a regular file" in reasons(found)[IGNORE_FILE]


def test_the_setting_takes_commas_and_lines_and_refuses_what_is_no_pattern() -> None:
    assert split(" a.md, b/ \n\n,*.txt\n") == ("a.md", "b/", "*.txt")
    assert rules_of(Settings(ignore="a.md,b/", follow_links=True)) == Rules(("a.md", "b/"), True)
    with pytest.raises(SettingsError, match=r"GLASSBOX_IGNORE: '!' is no pattern"):
        rules_of(Settings(ignore="a.md,!"))


def test_links_out_of_the_folder_are_followed_when_asked_for_and_loops_still_end(tmp_path: Path) -> None:
    make(tmp_path, "outside/x.md", "outside/.hidden/y.md", "notes/in.md", "far/one.md")
    root = tmp_path / "notes"
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "one.md").symlink_to(tmp_path / "far" / "one.md")
    (tmp_path / "outside" / "back").symlink_to(root)
    (tmp_path / "outside" / "self").symlink_to(tmp_path / "outside")
    assert paths(scan(root)) == ["in.md"]
    found = scan(root, Rules(follow_links=True))
    assert paths(found) == ["folder/x.md", "in.md", "one.md"]
    assert {reasons(found)[f"folder/{name}/"] for name in ("back", "self")} == {
        "link to a folder that is searched already"
    }


NAMES = st.sampled_from(["a.md", "b.md", "sub/a.md", "sub/c.txt", "sub/deep/a.md", "deep/b.md", "x/sub/a.md"])
PATTERNS = st.lists(
    st.sampled_from(
        [
            "a.md",
            "/a.md",
            "*.md",
            "!a.md",
            "sub/",
            "/sub/",
            "deep/",
            "**/deep",
            "sub/**",
            "!sub/c.txt",
            "x/*/a.md",
            "?.md",
        ]
    ),
    max_size=4,
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the second opinion")
@given(st.sets(NAMES, min_size=1), PATTERNS, PATTERNS)
@settings(max_examples=25, deadline=None)
def test_git_leaves_out_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, names: set[str], top: list[str], below: list[str]
) -> None:
    root = tmp_path_factory.mktemp("git")
    make(root, *sorted(names))
    (root / "sub").mkdir(exist_ok=True)
    for folder, patterns in ((root, top), (root / "sub", below)):
        text = "\n".join(patterns)
        (folder / IGNORE_FILE).write_text(text)
        (folder / ".gitignore").write_text(text)
    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, env=environ)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True, env=environ
    )
    kept = {name for name in listed.stdout.decode().splitlines() if not name.rpartition("/")[2].startswith(".")}
    assert set(paths(scan(root))) == kept
