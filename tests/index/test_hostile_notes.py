"""Hostile folders: no crash, no hang, every file searchable or listed with a reason, nothing obeyed when shown."""

from __future__ import annotations

import io
import os
import random
import re
import time
from functools import partial
from pathlib import Path

import pytest
from hostile import KINDS, make
from rich.console import Console, RenderableType

from glassbox_tui import Engine
from glassbox_tui.answer.answers import answer
from glassbox_tui.commands.status import status
from glassbox_tui.index import indexer
from glassbox_tui.index.check import check_index
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.notes.load import Limits, load
from glassbox_tui.notes.scan import kind_of, path_text
from glassbox_tui.retrieval.listing import NoteInfo
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings
from glassbox_tui.views.answer import answer_view
from glassbox_tui.views.doctor import doctor_view
from glassbox_tui.views.report import report as as_markdown
from glassbox_tui.views.status import report_view, status_view

QUERIES = ("kettle steam", "混合检索 排名", "\x1b[31m [/] \u202e", "DEC-0054", "的了吗", "？！")
# What a terminal obeys, and what turns text around: C0 and C1 without the line feed, bidi controls, tags, surrogates.
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]")
LIMITS = Limits(pdf_seconds=1.5, pdf_memory=600_000_000)
SECONDS_A_FILE = 5.0  # a hang is longer


def test_there_are_many_kinds_and_each_has_a_name() -> None:
    assert len(KINDS) == len(set(KINDS)) >= 100


def test_each_kind_of_hostile_note_is_searchable_or_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survives(tmp_path, 1, monkeypatch)


@pytest.mark.full
def test_a_folder_of_thousands_of_hostile_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survives(tmp_path, 18, monkeypatch)


def survives(place: Path, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind `rounds` times over, in folders of their own; then index, search, show, check, index again."""
    notes, data = place / "notes", place / "data"
    for number in range(rounds):
        rng = random.Random(number)
        folder = notes / f"{number:02}"
        folder.mkdir(parents=True)
        for kind in KINDS:
            make(folder, kind, rng, number)
    monkeypatch.setattr(indexer, "load", partial(timed_load, limits=LIMITS))
    monkeypatch.setenv("GLASSBOX_EMBED_MODEL", "hashing")
    settings = Settings(data=str(data), embed_model="hashing", answers="extract")
    with Engine.open(notes, settings, embedder=HashingEmbedder()) as engine:
        report = engine.update()
        assert report.added >= 90 * rounds
        files = engine.files()
        assert_listed(notes, files)
        known = {note.path for note in engine.notes() if note.status == "ok"}
        assert known == {chunk.path for chunk in engine.snapshot.chunks}
        # A picture's data stays out of what is indexed; a heading and a table's header come on top.
        longest = max(engine.snapshot.chunks, key=lambda chunk: len(chunk.index_text))
        assert len(longest.index_text) <= 2 * settings.chunk_chars, longest.path
        for query in QUERIES:
            trace = engine.search(query)
            assert from_json(to_json(trace)) == trace
            assert_harmless(trace.xray, query)
            assert_harmless(shown(partial_evidence(trace)), query)
            assert_harmless(as_markdown(trace), query)
            assert_harmless(shown(answer_view(answer(trace, engine), trace)), query)
        assert_harmless(shown(report_view(report, str(notes))), "index")
        again = engine.update()
        assert (again.added, again.changed, again.removed, again.embedded) == (0, 0, 0, 0)
        file = engine.index_file
    assert file is not None
    monkeypatch.setattr("glassbox_tui.commands.status.Engine.open", partial(Engine.open, embedder=HashingEmbedder()))
    text = shown(status_view(status(notes, settings)))
    assert_harmless(text, "status")
    found = check_index(file, notes, settings)
    assert_harmless(shown(doctor_view(found, None, "unicode")), "doctor")
    assert [finding for finding in found if not finding.ok] == []


def timed_load(absolute: Path, relative: str, limits: Limits) -> object:
    started = time.process_time()  # PDFs are read in a child that has a clock of its own
    loaded = load(absolute, relative, limits)
    assert time.process_time() - started < SECONDS_A_FILE, f"{relative!r} took too long"
    return loaded


def assert_listed(notes: Path, files: list[NoteInfo]) -> None:
    """Every file on disk that is a note by its name is searchable, or it or a folder above it has a reason."""
    told = {file.path: file for file in files}
    assert len(told) == len(files)
    assert all(file.status == "ok" or file.reason for file in files)
    for folder, _, names in os.walk(notes):
        for name in names:
            path = path_text(os.path.relpath(os.path.join(folder, name), notes))  # noqa: PTH118 - a name may be any bytes
            above = {path[: at + 1] for at in range(len(path)) if path[at] == "/"}
            if kind_of(name) is not None:
                assert path in told or above & told.keys(), f"{path!r} is neither searchable nor listed"


def partial_evidence(trace: object) -> RenderableType:
    from glassbox_tui.views.evidence import evidence

    return evidence(trace, width=100)  # type: ignore[arg-type]


def shown(view: RenderableType) -> str:
    out = io.StringIO()
    Console(file=out, width=100, markup=False, emoji=False, highlight=False, no_color=True).print(view)
    return out.getvalue()


def assert_harmless(text: str, what: str) -> None:
    found = OBEYED.search(text)
    assert found is None, f"{what!r} shows {found[0]!r} in {text[max(0, found.start() - 40) : found.end()]!r}"
