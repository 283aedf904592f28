"""The reader, the editor, the close-ups, copy and export: each key in the running app."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from samples import HOSTILE, sample_trace
from scripted import REPLY, ScriptedBackend, Stage, running

from glassbox_tui.notes.reading import NoteText
from glassbox_tui.retrieval.trace import Candidate, Part, Trace
from glassbox_tui.retrieval.trace_json import from_json
from glassbox_tui.tui.app import GlassboxApp
from glassbox_tui.tui.backend import Source
from glassbox_tui.tui.choosing import EditScreen
from glassbox_tui.tui.messages import AroundRead, NoteRead
from glassbox_tui.tui.readerscreen import ReaderScreen
from glassbox_tui.tui.screens import MainScreen
from glassbox_tui.tui.session import Session
from glassbox_tui.tui.state import selected_hit

TRACE = sample_trace()
FIRST = TRACE.hits[0]  # 04-rrf.md:12-31
LINES = [f"line {i}" for i in range(1, 12)] + FIRST.text.split("\n") + [f"line {i}" for i in range(15, 200)]


def note(text: str = "\n".join(LINES), **more: object) -> NoteText:
    return NoteText("04-rrf.md", text, "utf-8", "md", **more)  # type: ignore[arg-type]


def backend(found: NoteText | None = None, trace: Trace = TRACE) -> ScriptedBackend:
    start = "\n".join(LINES).index(FIRST.text)
    hits = tuple(replace(h, start=start) if h.uid == FIRST.uid else h for h in trace.hits)
    placed = replace(trace, rounds=(*trace.rounds[:-1], replace(trace.last, hits=hits)))
    return ScriptedBackend(trace_for=lambda query, rounds: placed, notes={"04-rrf.md": found or note()})


async def into_reader(stage: Stage) -> None:
    await stage.ask("rrf")
    await stage.press("escape", "R")
    await stage.seen.heard(NoteRead)
    await stage.pilot.pause()
    assert isinstance(stage.app.screen, ReaderScreen)


def head(stage: Stage) -> str:
    return stage.screen().splitlines()[0]


def foot(stage: Stage) -> str:
    return stage.screen().splitlines()[-1]


async def test_R_shows_the_whole_note_with_the_chunk_marked_and_esc_goes_back_to_where_one_was() -> None:
    script = backend()
    async with running(script, (80, 24)) as stage:
        await into_reader(stage)
        assert script.read == ["04-rrf.md"]
        assert "04-rrf.md" in head(stage)
        assert "lines 12-31" in head(stage)
        assert re.search(r"^ *12 ⣿ BM25 分数无上界", stage.screen(), re.MULTILINE)
        assert re.search(r"^ *11 +line 11", stage.screen(), re.MULTILINE)
        await stage.press("G")
        assert "line 199" in stage.screen()
        await stage.press("escape")
        assert isinstance(stage.app.screen, MainScreen)
        assert stage.view.reading is None
        assert selected_hit(stage.view) == selected_hit(replace(stage.view, selected=(FIRST.uid, FIRST.content)))


@pytest.mark.parametrize(
    ("keys", "sight"),
    [
        (("g",), "line 1"),
        (("home",), "line 1"),
        (("G",), "line 199"),
        (("end",), "line 199"),
        (("g", "j"), "line 2"),
        (("g", "down", "down", "k", "up"), "line 1"),
        (("g", "pagedown"), "line 21"),
        (("g", "space", "b"), "line 1"),
        (("G", "pageup", "pagedown"), "line 199"),
    ],
)
async def test_keys_of_the_reader_scroll_the_note(keys: Sequence[str], sight: str) -> None:
    async with running(backend(), (80, 24)) as stage:
        await into_reader(stage)
        await stage.press(*keys)
        lines = [line[6:].strip() for line in stage.screen().splitlines()[1:-1]]
        assert sight == (lines[-1] if sight == "line 199" else lines[0])


async def test_J_and_K_walk_the_notes_chunks_among_the_hits() -> None:
    text = "\n".join([*LINES, *TRACE.hits[1].text.split("\n")])  # 04-rrf.md#0, the other hit of this note
    async with running(backend(note(text)), (80, 24)) as stage:
        await into_reader(stage)
        assert "chunk 2 of 2" in head(stage)
        await stage.press("J")
        assert "chunk 1 of 2" in head(stage)
        assert re.search(r"⣿ RRF 把几份排名合成一份", stage.screen())
        await stage.press("K")
        assert "chunk 2 of 2" in head(stage)
        assert re.search(r"⣿ BM25 分数无上界", stage.screen())


async def test_slash_finds_words_in_the_note_and_n_N_walk_along() -> None:
    async with running(backend(), (80, 24)) as stage:
        await into_reader(stage)
        await stage.press("slash")
        assert isinstance(stage.app.screen, EditScreen)
        await stage.press(*"LINE", "space", *"19", "enter")
        assert "1 of 11 found: LINE 19" in foot(stage)
        assert "line 19" in stage.screen()
        await stage.press("n", "n")
        assert "3 of 11 found" in foot(stage)
        assert "line 191" in stage.screen()
        await stage.press("N")
        assert "2 of 11 found" in foot(stage)
        await stage.press("slash", *"zzz", "enter")
        assert "not found: LINE 19zzz" in foot(stage)


async def test_a_file_that_changed_says_so_and_one_that_is_gone_shows_what_was_indexed() -> None:
    async with running(backend(note("new\n" + "\n".join(LINES), changed=True)), (80, 24)) as stage:
        await into_reader(stage)
        assert "this file changed since it was indexed; lines may be off" in stage.screen()
        assert re.search(r"^ *13 ⣿ BM25 分数无上界", stage.screen(), re.MULTILINE)
    script = backend()
    script.notes.clear()
    async with running(script, (80, 24)) as stage:
        await into_reader(stage)
        assert "04-rrf.md is gone from notes; this is what was indexed of it" in stage.screen()
        assert "BM25 分数无上界" in stage.screen()


async def test_the_text_of_a_note_left_meanwhile_is_dropped() -> None:
    async with running(backend(), (80, 24)) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "R")
        await stage.press("escape")
        await stage.seen.heard(NoteRead)
        await stage.pilot.pause()
        assert stage.view.reading is None
        assert isinstance(stage.app.screen, MainScreen)


async def test_resizing_keeps_the_place_in_the_note() -> None:
    async with running(backend(), (120, 40)) as stage:
        await into_reader(stage)
        for size in ((60, 16), (20, 5), (120, 40)):
            await stage.pilot.resize_terminal(*size)
            await stage.pilot.pause()
            assert stage.view.reading is not None
            assert stage.view.reading.size == size
        assert "BM25 分数无上界" in stage.screen()


async def test_hostile_text_in_the_reader_is_text() -> None:
    async with running(backend(note(HOSTILE + "\n" + FIRST.text)), (80, 24)) as stage:
        await into_reader(stage)
        await stage.press("g")
        assert "[red]red[/red]" in stage.screen()
        assert not any(c in stage.screen() for c in "\x1b\x07\x9b\u202e\x00")


def with_meetings(trace: Trace) -> Trace:
    """The sample trace as the real reranker explains it: what each token met, and a levelling by language."""
    last = trace.last
    stages = tuple(
        replace(s, candidates=tuple(_met(c) for c in s.candidates)) if s.name == "rerank" else s for s in last.stages
    )
    return replace(trace, rounds=(replace(last, stages=stages),))


def _met(c: Candidate) -> Candidate:
    level = 0.05
    parts = [replace(p, detail="met 加权 at 0.61", value=p.value + level / len(c.parts)) for p in c.parts]
    return replace(c, parts=(*parts, Part("language", -level, "average cjk text")))


async def test_t_lists_what_each_word_met_and_the_sum_is_the_score() -> None:
    async with running(backend(trace=with_meetings(TRACE))) as stage:
        await stage.ask("rrf")
        await stage.press("escape")
        text = stage.panel("evidence")
        await stage.press("t")
        rows = stage.panel("evidence").splitlines()
        place = FIRST.stages["rerank"]
        assert place is not None
        total = next(row for row in rows if row.startswith("sum"))
        assert float(total.split()[1]) == pytest.approx(place.score, abs=5e-5)
        assert len(rows) >= 7
        shares = [float(m[1]) for row in rows if (m := re.match(r"\S+ +(-?\.\d{4}) ", row)) and row is not total]
        assert sum(shares) == pytest.approx(place.score, abs=5e-5 * (len(shares) + 1))
        await stage.press("t")
        assert stage.panel("evidence") == text


async def test_a_shows_what_stands_around_each_chunk_that_is_selected() -> None:
    script = backend()
    async with running(script) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "a")
        await stage.seen.heard(AroundRead)
        await stage.pilot.pause()
        assert f"before {FIRST.uid}" in stage.panel("evidence")
        assert f"after {FIRST.uid}" in stage.panel("evidence")
        await stage.press("j")
        await stage.seen.until(lambda: len(stage.seen.events) and script.around[-1] == TRACE.hits[1].uid)
        await stage.seen.until(lambda: isinstance(stage.seen.events[-1], AroundRead))
        assert f"before {TRACE.hits[1].uid}" in stage.panel("evidence")
        asked = len(script.around)
        await stage.press("r")  # the folder is read again: the text around may be another one
        await stage.seen.until(lambda: len(script.around) > asked and stage.view.closeup.around is not None)
        await stage.pilot.pause()
        asked = len(script.around)
        await stage.press("a")
        assert "before" not in stage.panel("evidence")
        await stage.press("k", "j")
        assert script.around[:2] == [FIRST.uid, TRACE.hits[1].uid]
        assert len(script.around) == asked  # nothing is fetched that nobody wants


async def test_on_the_answers_panel_j_and_k_choose_a_citation_and_enter_and_o_follow_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "glassbox_tui.tui.features.reader.open_editor", lambda app, path, line: opened.append((path, line))
    )
    script = backend()
    other = Source(2, "07-grade.md:41", "07-grade.md#2", "07-grade.md", (41, 41))
    script.reply = replace(REPLY, sources=(*REPLY.sources, other))
    script.notes["07-grade.md"] = NoteText("07-grade.md", "\n".join(f"row {i}" for i in range(1, 90)), "utf-8", "md")
    async with running(script) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("5")
        assert "> [1] 04-rrf.md:12-31" in stage.panel("answer")
        await stage.press("j")
        assert "> [2] 07-grade.md:41" in stage.panel("answer")
        assert "> [2] 07-grade.md:41" in stage.screen()  # brought in sight
        hit = selected_hit(stage.view)
        assert hit is not None and hit.uid == "07-grade.md#2"
        await stage.press("o")
        assert opened == [("07-grade.md", 41)]
        await stage.press("enter")
        await stage.seen.heard(NoteRead)
        await stage.pilot.pause()
        assert re.search(r"^ *41 .*row 41", stage.screen(), re.MULTILINE)
        await stage.press("o", "escape")
        assert opened[-1] == ("07-grade.md", 41)
        await stage.press("k")
        assert "> [1]" in stage.panel("answer")
        await stage.press("1", "j")
        assert "> [1]" not in stage.panel("answer")


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would have had the terminal."""
    ran: list[list[str]] = []

    def run(self: GlassboxApp, command: Sequence[str]) -> str:
        ran.append(list(command))
        return ""

    monkeypatch.setattr(GlassboxApp, "outside", run)
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", "sh -c")
    return ran


async def test_o_opens_the_editor_at_the_chunk_and_reads_the_folder_again_if_the_note_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outside: list[list[str]]
) -> None:
    (tmp_path / "04-rrf.md").write_text("text")
    script = backend()
    async with running(script) as stage:
        stage.app.change(replace(stage.view, notes=str(tmp_path)))
        await stage.ask("rrf")
        await stage.press("escape", "o")
        assert outside == [["sh", "-c", str(tmp_path / "04-rrf.md")]]
        assert script.updates == 1
        monkeypatch.setattr(
            GlassboxApp, "outside", lambda self, command: (tmp_path / "04-rrf.md").write_text("other text") and ""
        )
        await stage.press("o")
        await stage.seen.until(lambda: script.updates == 2)


@pytest.mark.parametrize(
    ("path", "editor", "words"),
    [
        ("gone.md", "sh", "gone.md is gone from"),
        ("../secret.md", "sh", "no path inside the notes folder"),
        ("a.pdf", "sh", "a PDF does not open in an editor"),
        ("a.md", "no-such-editor", "$EDITOR names 'no-such-editor', which is not installed"),
    ],
)
async def test_what_cannot_be_opened_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outside: list[list[str]], path: str, editor: str, words: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (notes / "a.md").write_text("text")
    (notes / "a.pdf").write_bytes(b"%PDF-1.4")
    monkeypatch.setenv("EDITOR", editor)
    trace = replace(TRACE, rounds=(replace(TRACE.last, hits=(replace(FIRST, path=path),)),))
    async with running(ScriptedBackend(trace_for=lambda q, r: trace)) as stage:
        stage.app.change(replace(stage.view, notes=str(notes)))
        await stage.ask("rrf")
        await stage.press("escape", "o")
        assert words in stage.panel("notice")
        assert outside == []


COPIES = {
    "c": FIRST.text,
    "l": "04-rrf.md:12",
    "q": "rrf",
    "a": "RRF 只看名次，所以不用调权重。[1]\n\n[1] 04-rrf.md:12-31",
}


@pytest.mark.parametrize("key", COPIES)
async def test_y_copies_to_the_clipboard_and_to_a_file_whose_name_is_said(
    key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    sent: list[str] = []
    monkeypatch.setattr(GlassboxApp, "write_raw", lambda self, sequence: sent.append(sequence))
    async with running(backend(), at=Session(data=tmp_path)) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("1", "y")
        assert "the chunk's text" in stage.screen()
        await stage.press(key)
        assert (tmp_path / "copied.txt").read_text("utf-8") == COPIES[key]
        assert [base64.b64decode(re.fullmatch(r"\x1b]52;c;(.*)\x07", s)[1]).decode() for s in sent] == [COPIES[key]]  # type: ignore[index]
        assert "copied" in stage.panel("notice")
        assert str(tmp_path / "copied.txt") in stage.panel("notice")
        await stage.press("j")
        assert "copied" not in stage.panel("notice")


async def test_copying_what_is_too_long_for_a_clipboard_says_so_and_the_file_has_it_all(tmp_path: Path) -> None:
    long = replace(FIRST, text="长" * 40_000)
    trace = replace(TRACE, rounds=(replace(TRACE.last, hits=(long,)),))
    async with running(ScriptedBackend(trace_for=lambda q, r: trace), at=Session(data=tmp_path)) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "y", "enter")
        assert "the first 56 kB only" in stage.panel("notice")
        assert (tmp_path / "copied.txt").read_text("utf-8") == long.text


async def test_a_copy_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with running(backend(), at=Session(data=tmp_path / "file")) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "y", "c")
        assert "copied the chunk's text; no file has it" in stage.panel("notice")


async def test_E_writes_the_trace_a_report_and_a_picture_each_to_a_new_file(tmp_path: Path) -> None:
    async with running(backend(), at=Session(data=tmp_path)) as stage:
        await stage.ask("rrf", rounds=True)
        for key in ("j", "m", "s", "j"):
            await stage.press("E", key)
            await stage.pilot.pause()
            assert "written: " in stage.panel("notice")
            assert "exports/" in stage.panel("notice")  # a long path is cut before its end
        files = sorted((tmp_path / "exports").iterdir())
        assert sorted(f.suffix for f in files) == [".json", ".json", ".md", ".svg"]
        trace = stage.view.trace
        assert trace is not None
        for file in files:
            text = file.read_text("utf-8")
            if file.suffix == ".json":
                assert from_json(text) == trace
                assert json.loads(text)["version"] == 1
            elif file.suffix == ".md":
                assert "RRF 只看名次" in text
            else:
                assert text.startswith("<svg")
                assert "copied" not in text
                assert 'url("http' not in text and "url(http" not in text  # it fetches nothing when it is looked at


async def test_before_there_is_a_result_the_keys_do_no_harm() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.press("escape")
        await stage.press("R", "o", "t", "a", "y")
        assert isinstance(stage.app.screen, MainScreen)
        await stage.press("E", "escape")
        assert isinstance(stage.app.screen, MainScreen)


async def test_an_open_note_that_is_edited_or_deleted_meanwhile_says_so_and_stays_at_its_place() -> None:
    notes = backend()
    async with running(notes) as stage:
        await into_reader(stage)
        await stage.press("pagedown")
        top = stage.view.reading.top if stage.view.reading else -1
        notes.edit()  # the folder was looked through, and this note is as it was
        await stage.seen.until(lambda: len(notes.read) == 2)
        await stage.pilot.pause()
        assert "meanwhile" not in stage.screen()
        notes.notes["04-rrf.md"] = note("\n".join(LINES).replace("line 50", "LINE FIFTY"))
        notes.edit()
        await stage.seen.until(lambda: stage.view.told != "")
        await stage.pilot.pause()
        assert "has changed meanwhile" in foot(stage) and "LINE FIFTY" in stage.screen()
        assert stage.view.reading is not None and stage.view.reading.top == top
        del notes.notes["04-rrf.md"]
        notes.edit()
        await stage.seen.until(lambda: "any more" in stage.view.told)
        await stage.pilot.pause()
        assert "cannot be read any more" in foot(stage) and "LINE FIFTY" in stage.screen()
