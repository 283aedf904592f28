"""What this program writes is never read as a note, wherever the data folder lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.notes.ignore import rules_of
from glassbox_tui.notes.scan import scan
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings
from glassbox_tui.tui.features.copy import FILE
from glassbox_tui.tui.features.export import FOLDER


def fill(data: Path) -> None:
    """What the app leaves in its data folder that has the name of a note."""
    (data / FOLDER).mkdir(parents=True)
    (data / FOLDER / "20261130-why.md").write_text("An export about marmots.")
    (data / FILE).write_text("A copied marmot.")
    (data / "models").mkdir()
    (data / "models" / "LICENSE.md").write_text("The licence of a marmot.")


@pytest.mark.parametrize("inside", ["data", "deep/down/data", "."])
@pytest.mark.parametrize("link", [False, True])
def test_a_data_folder_in_the_notes_is_left_out_with_a_reason(tmp_path: Path, inside: str, link: bool) -> None:
    notes = tmp_path / "notes"
    data = notes / inside
    data.mkdir(parents=True)
    fill(data)
    (notes / "marmot.md").write_text("A note about marmots.")
    if link:  # named by another way than the scan comes
        (tmp_path / "link").symlink_to(data)
        data = tmp_path / "link"
    with Engine.open(notes, Settings(data=str(data)), embedder=HashingEmbedder()) as engine:
        for _ in range(2):
            engine.update()
            assert [note.path for note in engine.notes()] == ["marmot.md"]
        assert "written by this program" in {skip.reason for skip in engine.skipped}


def test_other_folders_of_those_names_are_notes(tmp_path: Path) -> None:
    fill(tmp_path)
    found = scan(tmp_path, rules_of(Settings(data=str(tmp_path.with_name("elsewhere")))))
    assert [file.path for file in found.files] == ["copied.txt", "exports/20261130-why.md", "models/LICENSE.md"]


def test_an_export_that_is_asked_for_by_name_is_read(tmp_path: Path) -> None:
    fill(tmp_path)
    found = scan(tmp_path / FOLDER, rules_of(Settings(data=str(tmp_path))))
    assert [file.path for file in found.files] == ["20261130-why.md"]
