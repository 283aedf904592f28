"""Reading a note again: only what a scan could have found, said when it changed, its passages found again."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.notes.reading import note_file, read_note
from glassbox_tui.notes.refind import find_again
from glassbox_tui.notes.scan import NotesError, scan


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("# A\n\ntext of a\n")
    (root / "sub" / "名 [x].txt").write_bytes("中文笔记".encode("gb18030"))
    (root / ".hidden.md").write_text("hidden")
    (root / "data.csv").write_text("1,2")
    (tmp_path / "secret.md").write_text("secret")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "in.md").symlink_to(root / "a.md")
    return root


def test_every_note_that_a_scan_finds_can_be_read(notes: Path) -> None:
    (notes / "odd\n name.md").write_text("odd")
    for file in scan(notes).files:
        digest = hashlib.sha256(file.absolute.read_bytes()).hexdigest()
        found = read_note(notes, file.path, digest)
        assert (found.problem, found.changed) == ("", False)
        assert found.text
    assert read_note(notes, "sub/名 [x].txt", "").text == "中文笔记"
    assert note_file(notes, "in.md").read_text() == "# A\n\ntext of a\n"
    assert read_note(notes / "a.md", "a.md", "").text.startswith("# A")  # a folder of one note


@pytest.mark.parametrize(
    "path",
    ["../secret.md", "sub/../../secret.md", "/etc/passwd", "out.md", ".hidden.md", "data.csv", "gone.md", "", "sub",
     "a.md/b.md", "nul\0.md", "sub/" + "x" * 300 + ".md"],
)  # fmt: skip
def test_nothing_else_is_opened_and_one_sentence_says_why(notes: Path, path: str) -> None:
    with pytest.raises(NotesError) as caught:
        note_file(notes, path)
    assert "\n" not in str(caught.value)
    assert read_note(notes, path, "x").problem == str(caught.value)


def test_a_folder_of_one_note_opens_no_other(notes: Path) -> None:
    with pytest.raises(NotesError):
        note_file(notes / "a.md", "in.md")


def test_an_edited_note_is_said_to_have_changed(notes: Path) -> None:
    digest = hashlib.sha256((notes / "a.md").read_bytes()).hexdigest()
    (notes / "a.md").write_text("# A\n\nother text\n")
    found = read_note(notes, "a.md", digest)
    assert found.changed
    assert found.text == "# A\n\nother text\n"
    (notes / "a.md").unlink()
    assert "gone" in read_note(notes, "a.md", digest).problem


@given(
    st.text("ab\n ", max_size=30), st.text("ab\n ", min_size=1, max_size=12), st.text("ab\n ", max_size=30), st.data()
)
def test_a_passage_that_is_still_there_is_found_whole_at_its_nearest(
    before: str, passage: str, after: str, data: st.DataObject
) -> None:
    text = before + passage + after
    start = data.draw(st.integers(0, len(text)))
    span = find_again(text, passage, start)
    assert span is not None
    assert text[slice(*span)] == passage
    places = [i for i in range(len(text)) if text.startswith(passage, i)]
    assert abs(span[0] - start) == min(abs(p - start) for p in places)


def test_an_edited_passage_is_found_by_its_longest_line_that_is_left() -> None:
    passage = "first line of it\na longer second line of it\nthe end"
    text = "new head\n\na longer second line of it\nanother end\n"
    span = find_again(text, passage, 500)
    assert span is not None
    assert text[slice(*span)] == "a longer second line of it"
    assert find_again("nothing of it", passage, 0) is None
    assert find_again("text", "", 0) is None
