"""Notes change while somebody searches them: the query runs again by itself, and what the edit did is said."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from samples import sample_trace, sample_trace_two_rounds
from scripted import LIMIT, Gate, ScriptedBackend, Seen, running

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.notes.watch import LIMIT as WATCH_LIMIT
from glassbox_tui.notes.watch import WATCHING, Mode
from glassbox_tui.progress import CancelledFn, Progress, ProgressFn
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings
from glassbox_tui.tui.app import make_app
from glassbox_tui.tui.backend import EngineBackend, Outcome
from glassbox_tui.tui.living import Living, edited, heard
from glassbox_tui.tui.messages import Changed, SearchDone, Updated, Watched


def without_the_first_hit(trace: Trace) -> Trace:
    rounds = (*trace.rounds[:-1], replace(trace.rounds[-1], hits=trace.rounds[-1].hits[1:]))
    return replace(trace, rounds=rounds)


@dataclass
class Edited(ScriptedBackend):
    """Once `is_edited`, each search lacks what it found first before."""

    is_edited: bool = False

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn, scope: str = "", rewriter: str = "") -> Trace:
        super().search(query, rounds=rounds, cancelled=cancelled, scope=scope)
        trace = replace(sample_trace_two_rounds() if rounds else sample_trace(), query=query)
        return without_the_first_hit(trace) if self.is_edited else trace

    def save(self) -> None:
        self.is_edited = True
        self.edit()


async def test_an_edit_runs_the_typed_query_again_and_says_what_it_did() -> None:
    backend = Edited()
    async with running(backend) as stage:
        await stage.ask("rrf")
        first = stage.view.trace
        assert first is not None
        backend.save()
        await stage.seen.until(lambda: stage.view.living.effect is not None)
        await stage.pilot.pause()
        said = stage.panel("notice")
        assert "after the edit: 1 out" in said and f"out {first.last.hits[0].path}" in said
        assert backend.asked[-2:] == [("rrf", False), ("rrf", False)]
        await stage.ask("x")  # another question: that edit is no longer of interest
        assert stage.view.living.effect is None


def test_what_an_edit_did_is_told_though_its_vectors_overtook_its_text() -> None:
    """Text and vectors of an edit each ask again; the first result may be overtaken, but it is no other question's."""
    trace = sample_trace()
    living = edited(edited(Living(), trace.query, trace, 6), trace.query, trace, 7)
    living = heard(living, SearchDone(6, trace, False))
    after = heard(living, SearchDone(7, without_the_first_hit(trace), False))
    assert after.effect is not None
    assert [change.uid for change in after.effect.left] == [trace.last.hits[0].uid]
    assert heard(after, SearchDone(8, trace, False)).effect is None  # another question


async def test_an_edit_runs_a_full_run_again_with_its_rounds() -> None:
    backend = Edited()
    async with running(backend) as stage:
        await stage.ask("rrf", rounds=True)
        backend.save()
        await stage.seen.until(lambda: stage.view.living.effect is not None)
        assert backend.asked[-1] == ("rrf", True)


async def test_the_first_update_is_no_edit() -> None:
    gate = Gate()
    backend = Edited(update_gate=gate)
    async with running(backend, indexed=False) as stage:
        await stage.ask("rrf")
        gate.opened.set()
        await stage.seen.heard(Updated)
        await stage.seen.until(lambda: sum(isinstance(e, SearchDone) for e in stage.seen.events) >= 2)
        assert stage.view.living.effect is None
        assert not any(isinstance(e, Changed) and e.edited for e in stage.seen.events)


@dataclass
class Telling(ScriptedBackend):
    modes: tuple[Mode, ...] = ()

    def watch(self, changed: Callable[[], None], mode: Callable[[Mode], None], stop: threading.Event) -> None:
        for one in self.modes:
            mode(one)


async def test_how_changes_are_noticed_is_on_screen() -> None:
    async with running(Telling(modes=(WATCHING,)), size=(140, 40)) as stage:
        await stage.seen.heard(Watched)
        await stage.pilot.pause()
        assert "watching" in stage.panel("status")
    async with running(Telling(modes=(WATCH_LIMIT,)), size=(80, 24)) as stage:
        await stage.seen.heard(Watched)
        await stage.pilot.pause()
        assert "polling (watch limit reached)" in stage.panel("notice")


@dataclass
class Embedding(ScriptedBackend):
    """The first update embeds until it is held; then two chunks wait. Later ones are done at once, unless held."""

    begun: threading.Event = field(default_factory=threading.Event)

    def update(
        self, *, progress: ProgressFn, cancelled: CancelledFn, changed: Callable[[], None], hold: CancelledFn
    ) -> Outcome:
        self.updates += 1
        progress(Progress("embed", 1, 3))
        self.begun.set()
        while not (hold() or cancelled()) and self.updates == 1:
            self.begun.wait(0.01)
        return Outcome(pending=2 if hold() else 0)


async def test_embedding_is_paused_and_goes_on_with_one_key() -> None:
    backend = Embedding()
    async with running(backend, indexed=False) as stage:
        await stage.seen.until(lambda: stage.view.progress is not None and stage.view.progress.phase == "embed")
        await stage.press("escape", "p")
        await stage.seen.until(lambda: stage.view.living.pending == 2)
        await stage.pilot.pause()
        assert "embedding is paused, 2 chunks wait: p goes on" in stage.panel("notice")
        await stage.press("p")
        await stage.seen.until(lambda: stage.view.living.pending == 0)
        await stage.pilot.pause()
        assert "paused" not in stage.panel("notice")
        assert backend.updates == 2
        await stage.press("p")
        assert "nothing waits to be embedded" in stage.panel("notice")


async def test_an_edit_during_a_long_embedding_is_read_at_once() -> None:
    backend = Embedding()
    async with running(backend, indexed=False) as stage:
        assert await asyncio.to_thread(backend.begun.wait, LIMIT)
        backend.edit()
        await stage.seen.until(lambda: backend.updates == 2)


async def test_the_app_follows_a_real_folder(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "old.md").write_text("zebra crossing")
    settings = Settings(data=str(tmp_path / "data"))
    seen = Seen()
    app = make_app(
        lambda progress: EngineBackend(Engine.open(notes, settings, progress, embedder=HashingEmbedder())),
        notes="notes",
        observer=seen,
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await seen.heard(Watched)
        await seen.heard(Updated)
        await pilot.press(*"zebra")
        await seen.until(lambda: app.view.trace is not None and app.view.trace.query == "zebra")
        new = notes / "new.tmp"
        new.write_text("zebra zebra")
        new.rename(notes / "new.md")
        await seen.until(
            lambda: (
                app.view.living.effect is not None and [c.uid for c in app.view.living.effect.entered] == ["new.md#0"]
            )
        )
        os.remove(notes / "old.md")  # noqa: PTH107
        await seen.until(
            lambda: app.view.trace is not None and [h.path for h in app.view.trace.last.hits] == ["new.md"]
        )
    assert app.crew.stop(LIMIT)


class NewEmbedder(ScriptedBackend):
    """Another embedder has embedded the notes: what is to be embedded waits as long as `hold()` says so."""

    held: list[bool]

    def update(
        self, *, progress: ProgressFn, cancelled: CancelledFn, changed: Callable[[], None], hold: CancelledFn
    ) -> Outcome:
        self.held = [*getattr(self, "held", []), hold()]
        changed()
        return Outcome((), pending=31_712 if hold() else 0)


async def test_a_large_index_of_another_embedder_is_embedded_anew_only_when_the_person_says_so() -> None:
    plan = "this index was embedded by a: embedding its 31,712 chunks by b takes about 47 min"
    backend = NewEmbedder(plan=plan)
    async with running(backend) as stage:
        assert backend.held == [True]
        assert "31,712 chunks by b takes about 47 min; p begins it" in stage.panel("notice")
        await stage.ask("rrf")
        assert "embedding is paused, 31,712 chunks wait: p goes on" in stage.panel("notice")
        await stage.press("escape", "p")
        await stage.seen.until(lambda: backend.held == [True, False])
        await stage.seen.until(lambda: stage.view.living.pending == 0)
        assert "paused" not in stage.panel("notice")
        await stage.press("r")
        await stage.seen.until(lambda: len(backend.held) == 3)
        assert backend.held[-1] is False  # it is asked once
