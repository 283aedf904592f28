"""Operators and half-typed words in the app, over the real engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from scripted import LIMIT, Seen, Stage, settled

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings
from glassbox_tui.tui.app import make_app
from glassbox_tui.tui.backend import EngineBackend
from glassbox_tui.tui.messages import Updated
from glassbox_tui.tui.words import speak

NOTES = {
    "cat.md": "# Jaguar\n\nThe jaguar is a big cat.",
    "car.md": "# Jaguar\n\nThe jaguar is a car.",
    "fusion.md": "# Lists\n\nReciprocal rank fusion joins them.",
    "bread.md": "# Bread\n\nFlour, water and salt.",
}


@asynccontextmanager
async def on_notes(tmp_path: Path) -> AsyncIterator[Stage]:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    settings, seen = Settings(data=str(tmp_path / "data"), max_rewrites=0), Seen()
    app = make_app(
        lambda progress: EngineBackend(Engine.open(notes, settings, progress, embedder=HashingEmbedder())),
        notes="notes",
        observer=seen,
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await seen.heard(Updated)
        await pilot.pause()
        yield Stage(app, pilot, seen)
    assert app.crew.stop(LIMIT)


def keywords(stage: Stage) -> list[str]:
    trace = stage.view.trace
    assert trace is not None
    found = trace.rounds[0].stage("bm25")
    assert found is not None
    return [c.uid for c in found.candidates]


async def test_half_a_word_finds_its_note_until_it_is_entered(tmp_path: Path) -> None:
    async with on_notes(tmp_path) as stage:
        await stage.ask("fusio")
        assert keywords(stage) == ["fusion.md#0"]
        assert "fusio… = fusion" in stage.screen()
        await stage.ask(" ")
        assert keywords(stage) == []
        await stage.press("backspace")
        await settled(stage.app, stage.seen, False)
        assert keywords(stage) == ["fusion.md#0"]
        await stage.ask("", rounds=True)
        assert keywords(stage) == []


@pytest.mark.parametrize(("language", "left_out"), [("en", "-car: 1 left out"), ("zh", "-car：略去 1 个片段")])
async def test_what_a_filter_left_out_is_said_below_the_verdict_and_in_the_loop(
    tmp_path: Path, language: str, left_out: str
) -> None:
    async with on_notes(tmp_path) as stage:
        await stage.ask("jaguar -car", rounds=True)
        try:
            speak(language)
            await stage.press("escape", "4")
            assert left_out in stage.panel("loop")
            assert left_out in stage.panel("notice")
            assert stage.view.trace is not None
            assert "car.md" not in {hit.path for hit in stage.view.trace.hits}
        finally:
            speak("en")


@pytest.mark.parametrize(
    ("language", "said"), [("en", 'no chunk holds the phrase "big car"'), ("zh", '没有片段含短语 "big car"')]
)
async def test_a_phrase_that_stands_nowhere_is_said_where_the_hits_would_be(
    tmp_path: Path, language: str, said: str
) -> None:
    async with on_notes(tmp_path) as stage:
        await stage.ask('"big car"', rounds=True)
        try:
            speak(language)
            await stage.press("escape", "3")
            assert said in stage.panel("evidence").replace("\n", "")
            assert stage.view.trace is not None
            assert stage.view.trace.hits == ()
        finally:
            speak("en")
