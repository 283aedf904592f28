"""One text file to one note: title, body, status. Nothing in a file makes `load` raise."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassbox_tui.notes.load import Limits, LoadedNote, load


def note(tmp_path: Path, text: str | bytes, name: str = "my_note.md", limits: Limits | None = None) -> LoadedNote:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load(path, name, limits or Limits())


def body(loaded: LoadedNote) -> str:
    return loaded.text[loaded.body_start :]


def test_front_matter_names_the_note_and_stays_out_of_the_body(tmp_path: Path) -> None:
    loaded = note(tmp_path, "---\ntitle: 混合检索\ntags: [a, b]\ndate: 2024-03-01\n---\n# Heading\nText.\n")
    assert loaded.title == "混合检索"
    assert body(loaded) == "# Heading\nText.\n"
    assert (loaded.status, loaded.reason, loaded.warnings) == ("ok", "", ())


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("title: 007", "007"),
        ("title: 2024-13-45", "2024-13-45"),
        ("title: 2024-03-01", "2024-03-01"),
        ("title: yes", "yes"),
        ("title: 'Plan: draft'", "Plan: draft"),
        ("Title: Upper", "Upper"),
        ('title: "two\n\n  lines"', "two lines"),
        ("a: &x One\ntitle: *x", "One"),
    ],
)
def test_a_title_is_taken_as_it_is_written(tmp_path: Path, raw: str, title: str) -> None:
    loaded = note(tmp_path, f"---\n{raw}\n---\n# Heading\n")
    assert loaded.title == title
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("raw", "title"),
    [('"nul \\0 in it"', "nul \ufffd in it"), ('"a\\nb"', "a b")],
)
def test_escapes_in_yaml_cannot_smuggle_in_what_a_store_cannot_hold(tmp_path: Path, raw: str, title: str) -> None:
    assert note(tmp_path, f"---\ntitle: {raw}\n---\nBody\n").title == title


BROKEN_METADATA = {
    "colon": "title: Plan: draft",
    "tab": "title: x\nlist:\n\t- a",
    "unbalanced": "title: [a, b",
    "unquoted": "title: @home",
    "undefined alias": "title: *nobody",
    "template": "title: {{ title }}",
    "title is a list": "title: [a, b]",
    "deep": "title: x\na: " + "[" * 5_000 + "]" * 5_000,
    "control": "title: a\x07b",
}


@pytest.mark.parametrize("kind", BROKEN_METADATA)
def test_broken_front_matter_costs_one_warning_and_never_the_note(tmp_path: Path, kind: str) -> None:
    """C3: the body is indexed, the metadata does not leak into it, the title falls back."""
    loaded = note(tmp_path, f"---\n{BROKEN_METADATA[kind]}\n---\n\n# Heading\n\nBody text.\n")
    assert loaded.status == "ok"
    assert body(loaded) == "\n# Heading\n\nBody text.\n"
    assert loaded.title == "Heading"
    assert len(loaded.warnings) == 1
    assert "front matter" in loaded.warnings[0]


def test_the_warning_says_the_line_of_the_file(tmp_path: Path) -> None:
    loaded = note(tmp_path, "---\nok: 1\ntitle: Plan: draft\n---\nBody\n")
    assert "line 3" in loaded.warnings[0]
    assert loaded.title == "my note"


@pytest.mark.parametrize("text", ["---\n# Heading\n\nBody\n", "---\ntitle: never closed\n# Heading\n\nBody\n"])
def test_a_lone_rule_keeps_everything(tmp_path: Path, text: str) -> None:
    loaded = note(tmp_path, text)
    assert (body(loaded), loaded.title, len(loaded.warnings)) == (text, "Heading", 1)


@pytest.mark.parametrize("block", ["Some prose between two rules.", "- a\n- list", "* x: [unclosed"])
def test_prose_between_two_rules_is_body(tmp_path: Path, block: str) -> None:
    text = f"---\n{block}\n---\n\n# Heading\n"
    loaded = note(tmp_path, text)
    assert (body(loaded), loaded.title, len(loaded.warnings)) == (text, "Heading", 1)


@pytest.mark.parametrize("text", ["---\n---\n# Heading\n", "---\n# a comment\n---\n# Heading\n"])
def test_empty_front_matter_is_fine(tmp_path: Path, text: str) -> None:
    loaded = note(tmp_path, text)
    assert (body(loaded), loaded.title, loaded.warnings) == ("# Heading\n", "Heading", ())


def test_an_alias_bomb_is_harmless(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40))
    loaded = note(tmp_path, f"---\n{bomb}title: Still here\n---\nBody\n")
    assert (loaded.title, body(loaded)) == ("Still here", "Body\n")


def test_endless_front_matter_is_body(tmp_path: Path) -> None:
    text = "---\ntitle: x\n" + "k: v\n" * 20_000 + "---\n# Heading\n"
    loaded = note(tmp_path, text)
    assert (body(loaded), loaded.title, len(loaded.warnings)) == (text, "Heading", 1)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Plain\n", "Plain"),
        ("intro\n\n# Late #\n", "Late"),
        ("Underlined\n===\n", "Underlined"),
        ("## Second level only\n", "my note"),
        ("```\n# a comment in code\n```\n# Real\n", "Real"),
        ("~~~~\n# a\n~~~\n# b\n~~~~\n# Real\n", "Real"),
        ("# **Bold** [link](http://x) `code`\n", "Bold link code"),
        ("#hashtag\n", "my note"),
        ("#\n# Second\n", "Second"),
        ("# [/] [b + \n", "[/] [b +"),
        ("# C#\n", "C#"),
        ("no heading", "my note"),
    ],
)
def test_the_first_heading_is_the_title(tmp_path: Path, text: str, title: str) -> None:
    assert note(tmp_path, text).title == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("meeting_notes.txt", "meeting notes"),
        ("rrf-vs-weights.txt", "rrf vs weights"),
        ("DEC-0054.txt", "DEC-0054"),
        ("2024-03-01_周报.txt", "2024-03-01 周报"),
        ("_.txt", "_"),
        ("v1.2.notes.txt", "v1.2.notes"),
    ],
)
def test_a_file_name_makes_a_readable_title(tmp_path: Path, name: str, title: str) -> None:
    assert note(tmp_path, "text", name).title == title


def test_a_plain_text_file_has_no_front_matter_and_no_markdown_heading(tmp_path: Path) -> None:
    loaded = note(tmp_path, "---\ntitle: x\n---\n# y\n", "plain_file.txt")
    assert (loaded.kind, loaded.title, loaded.body_start, loaded.warnings) == ("txt", "plain file", 0, ())


def test_the_encoding_is_named_and_the_digest_is_of_the_bytes(tmp_path: Path) -> None:
    raw = "会议纪要\r\n第二行\r\n".encode("gb18030")
    loaded = note(tmp_path, raw, "n.txt")
    assert (loaded.text, loaded.encoding) == ("会议纪要\n第二行\n", "gb18030")
    assert loaded.digest == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize("raw", [b"", b" \n\t\n", b"\xef\xbb\xbf", b"---\ntitle: only\n---\n\n"])
def test_a_note_without_text_is_empty(tmp_path: Path, raw: bytes) -> None:
    loaded = note(tmp_path, raw)
    assert loaded.status == "empty"
    assert loaded.reason


def test_binary_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    loaded = note(tmp_path, b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "photo.md")
    assert (loaded.status, loaded.text) == ("binary", "")
    assert "PNG" in loaded.reason


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    limits = Limits(text_bytes=1_000_000)
    assert note(tmp_path, b"x" * 1_000_000, "fits.txt", limits).status == "ok"
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(50_000_000_000)  # sparse: reading it would never end
    loaded = load(tmp_path / "huge.txt", "huge.txt", limits)
    assert (loaded.status, loaded.reason, loaded.digest) == ("too-large", "larger than 1 MB", "")


def test_files_that_cannot_be_opened_say_why(tmp_path: Path) -> None:
    gone = load(tmp_path / "gone.md", "gone.md")
    assert (gone.status, gone.reason) == ("unreadable", "cannot be read: No such file or directory")
    assert load(tmp_path, "folder.md").status == "unreadable"
    os.mkfifo(tmp_path / "pipe.md")
    assert load(tmp_path / "pipe.md", "pipe.md").status == "unreadable"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.sampled_from([b"", b"---\n", b"---\ntitle: ", b"# ", b"\xff\xfe"]))
def test_whatever_is_in_it_a_note_comes_out(tmp_path: Path, raw: bytes, start: bytes) -> None:
    loaded = note(tmp_path, start + raw)
    loaded.text.encode()
    loaded.title.encode()
    assert loaded.title
    assert 0 <= loaded.body_start <= len(loaded.text)
    assert (loaded.status == "ok") == (not loaded.reason)
    assert "\n" not in loaded.title
