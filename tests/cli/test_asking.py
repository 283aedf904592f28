"""Before a command embeds a large index anew, it says how long that takes, and asks where somebody can answer."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from glassbox_tui import Engine
from glassbox_tui.commands.asking import held_back
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings


class Renamed(HashingEmbedder):
    name = "another"


class Answers(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr("glassbox_tui.index.fingerprint.MANY", 4)
    monkeypatch.setattr("glassbox_tui.index.fingerprint.ASKED_FROM", 0.0)
    for i in range(6):
        (tmp_path / f"{i}.md").write_text(f"Note {i} of the herons.", "utf-8")
    settings = Settings(data=str(tmp_path / "data"))
    with Engine.open(tmp_path, settings, embedder=HashingEmbedder()) as before:
        before.update()
    return Engine.open(tmp_path, settings, embedder=Renamed())


@pytest.mark.parametrize(
    ("typed", "waits"), [("n\n", True), ("\n", True), ("", True), ("y\n", False), ("YES\n", False)]
)
def test_no_is_the_answer_unless_it_is_yes(
    changed: Engine, typed: str, waits: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Answers(typed))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert held_back(changed) is waits
    said = capsys.readouterr().err
    assert "embedded by hashing-512: embedding its 6 chunks by another takes about 1 min" in said
    assert ("they wait" in said) is waits
    report = changed.update(hold=lambda: waits)
    assert (report.embedded, report.pending) == ((0, 6) if waits else (6, 0))
    assert changed.search("herons", max_rewrites=0).hits
    assert (changed.new_embedder() is None) is not waits
    changed.close()


def test_where_nobody_can_answer_it_is_said_and_done(
    changed: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert held_back(changed) is False
    assert "takes about" in capsys.readouterr().err
    changed.close()
