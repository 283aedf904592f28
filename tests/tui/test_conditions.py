"""Empty, busy, broken: each state has words of its own, and they can be seen at 80x24."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from samples import HOSTILE, sample_trace, sample_trace_empty, sample_trace_two_rounds

import glassbox_tui.tui.registry  # noqa: F401 - gives the commands their keys
from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.tui.conditions import instead_of_evidence, middle, notice_line, notices_in_full
from glassbox_tui.tui.messages import Updated, WorkersGone
from glassbox_tui.tui.state import View, applied
from glassbox_tui.tui.statusline import status

WIDTH = 80
INFO = IndexInfo(14, 61, 1.0, "e5-small (bundled)", "late interaction")
READY = View(notes="/home/u/notes", info=INFO, progress=None)
LOCKED = "another process is indexing this folder; what is indexed so far is searched"
HASHING = "The hashing embedder serves, which compares spelling and not meaning: no wheel."
RERANK = "the reranker late interaction failed (RuntimeError: out of memory): the fused order stands"


def searched(*notices: str, trace: Trace | None = None) -> View:
    return replace(READY, trace=replace(trace or sample_trace(), notices=notices), query="q", run=1, shown=1)


def evidence(view: View) -> str:
    return " ".join(line.plain for line in instead_of_evidence(view, WIDTH - 2))


def nothing(*notices: str, chunks: int = 61, coverage: float = 1.0) -> View:
    index = replace(INFO, chunks=chunks, dense_coverage=coverage)
    trace = replace(sample_trace_empty(), notices=notices, index=index)
    return replace(READY, trace=trace, info=index, query="q")


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (View(), "The index is being opened. You may type already."),
        (View(progress=Progress("model", 3, 9)), "The model is being prepared; the first time this takes a minute."),
        (View(progress=None, problem="the disk is full"), "nothing can be searched: the disk is full"),
        (replace(READY, info=replace(INFO, notes=0, chunks=0)), "There is no note with text in /home/u/notes."),
        (
            replace(READY, info=replace(INFO, notes=0, chunks=0), progress=Progress("text", 1, 9)),
            "The notes are being read for the first time.",
        ),
        (
            replace(READY, info=replace(INFO, dense_coverage=0.25), progress=Progress("embed", 9, 61, left=185.0)),
            "what is ready can be searched: 14 notes so far. By keyword everything that was read; by meaning 25% of it."
            " This step takes about 3 min more.",
        ),
        (nothing(), "No note matches: no stage found anything for this query."),
        (nothing("no keyword terms in the query"), "only stop words or punctuation"),
        (nothing(coverage=0.0), "Nothing has a vector yet, so only the very words are found"),
        (nothing(chunks=0), "There is no note with text in /home/u/notes."),
        (replace(READY, first_time=True), "Welcome. Type a question: every keystroke searches."),
    ],
)
def test_each_state_has_its_own_words_where_the_evidence_would_be(view: View, words: str) -> None:
    assert words in evidence(view)


def test_all_is_well_has_no_words() -> None:
    assert evidence(READY) == ""
    assert notice_line(searched(), WIDTH).plain == ""


@pytest.mark.parametrize("notice", [LOCKED, HASHING, RERANK, "dense search covers 24% of the chunks so far"])
def test_what_fell_back_is_on_screen_at_80_cells(notice: str) -> None:
    """The line may end before the sentence does: then it says which key shows it whole."""
    line = notice_line(searched(notice), WIDTH).plain
    assert line.startswith(" " + notice[:60])
    assert notice in line or line.endswith("(i)")
    assert cell_len(line) <= WIDTH
    assert notice in " ".join(text.plain.strip() for text in notices_in_full(searched(notice), WIDTH))


def test_an_engine_that_ended_is_said_beside_the_hits_it_left() -> None:
    """Killed in the middle of an answer, say: the hits stay, so the sentence has no place of theirs to stand in."""
    view = applied(searched(), WorkersGone("the engine ended (killed by signal 9): r starts it again"))
    assert view.trace is not None
    assert notice_line(view, WIDTH).plain.startswith(" the engine ended (killed by signal 9)")
    assert applied(view, Updated(INFO, ())).problem == ""


def test_a_problem_of_the_index_comes_first_and_the_rest_is_counted() -> None:
    view = replace(searched(HASHING, RERANK, trace=sample_trace_two_rounds()), problem=LOCKED)
    line = notice_line(view, WIDTH).plain
    assert line.startswith(" " + LOCKED[:60])
    assert line.endswith("+3 (i)")
    whole = "\n".join(text.plain for text in notices_in_full(view, 200))
    assert [n for n in (LOCKED, HASHING, RERANK, "not in the evidence: redlock") if n not in whole] == []


def test_a_switched_off_reranker_is_said_before_the_first_search() -> None:
    assert "the rerank stage is off" in notice_line(replace(READY, info=replace(INFO, reranker="")), WIDTH).plain


@given(st.lists(st.text(max_size=200), max_size=6), st.integers(20, 200))
def test_the_notice_line_never_grows_over_its_width(notices: list[str], width: int) -> None:
    assert notice_line(searched(*notices, HOSTILE), width).cell_len <= width


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("notes", ["/srv/" + "very/long/" * 20 + "notes", "/srv/" + "很长的路径" * 30, HOSTILE * 3])
@pytest.mark.parametrize("progress", [None, Progress("embed", 1000, 31_099, left=600.0)])
def test_a_long_path_never_pushes_the_counts_out(width: int, notes: str, progress: Progress | None) -> None:
    view = replace(searched(), notes=notes, info=replace(INFO, notes=1067, dense_coverage=0.5), progress=progress)
    line = status(view, width, 1)[0]
    assert cell_len(line.plain) <= width
    assert "1,067 notes" in line.plain
    assert "dense 50%" in line.plain
    assert progress is None or "embedding 1,000/31,099" in line.plain


@given(st.text(max_size=80), st.integers(1, 60))
def test_a_path_shortened_in_the_middle_fits_and_keeps_both_ends(path: str, cells: int) -> None:
    short = middle(path, cells)
    assert cell_len(short) <= cells


def test_what_is_less_telling_yields_first() -> None:
    view = replace(searched(), info=replace(INFO, embedder="multilingual-e5-small/q8q4s", notes=1067, chunks=31_099))
    wide, middling, narrow = (status(view, width, 1)[0].plain for width in (160, 110, 80))
    for part in (
        " glassbox",
        "/home/u/notes",
        "31,099 chunks",
        "multilingual-e5-small",
        "late interaction",
        "rerank 5",
    ):
        assert part in wide
    assert "rerank 5" not in middling
    for part in (" glassbox", "/home/u/notes", "1,067 notes", "31,099 chunks", "dense 100%", "14 ms"):
        assert part in wide
        assert part in middling
        assert part in narrow


def test_both_ends_of_a_path_survive() -> None:
    assert middle("/home/somebody/projects/2026/notes", 20) == "/home/s~s/2026/notes"
    assert middle("~/notes", 20) == "~/notes"
