"""Shared by the tests of the command line: two notes."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# 融合\n\n混合检索用 RRF 融合两份名单。\n", encoding="utf-8")
    (folder / "b.md").write_text("# Kettle\n\nThe kettle boils at 100 degrees.\n", encoding="utf-8")
    return folder
