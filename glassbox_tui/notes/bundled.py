"""Where the demo notes are that come with the program."""

from __future__ import annotations

from pathlib import Path

from glassbox_tui.errors import GlassboxError


def bundled_corpus() -> Path:
    """The demo notes: beside the package in a checkout, inside it in an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "corpus", package.parent / "corpus"):
        if (folder / "queries.jsonl").is_file():
            return folder
    raise GlassboxError("the bundled notes are missing from this installation: name a folder of notes")
