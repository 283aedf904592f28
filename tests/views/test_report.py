"""The Markdown report says what the Trace says, and no text of a note can become a part of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from samples import HOSTILE, sample_trace, sample_trace_empty, sample_trace_hostile, sample_trace_two_rounds

from glassbox_tui.retrieval.trace import STAGES, Trace
from glassbox_tui.views.report import ReportAnswer, code, fenced, report

BREAKERS = st.text(st.sampled_from("`~|#\\\n> *_[]()!<&$a 中\x1b\u2028"), max_size=60)


def parsed(markdown: str) -> list[Token]:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return [inner for token in tokens for inner in (token, *(token.children or ()))]


def kinds(markdown: str) -> list[str]:
    return [token.type for token in parsed(markdown)]


@pytest.mark.parametrize("trace", [sample_trace(), sample_trace_two_rounds(), sample_trace_empty()])
def test_every_rank_and_verdict_of_the_trace_is_in_the_report(trace: Trace) -> None:
    text = report(trace, made="2026-11-30 17:00")
    assert f"# Search: `{trace.query}`" in text
    assert "made: 2026-11-30 17:00" in text
    for round_ in trace.rounds:
        word = "sufficient" if round_.grade.sufficient else "insufficient"
        assert f"### Round {round_.number} ({round_.origin}): {word} evidence" in text
        assert all(f"`{added.term}`" in text for added in round_.added_terms)
    rows = [line for line in text.splitlines() if line.startswith("| ") and ":" in line.split("|")[2]]
    assert len(rows) == len(trace.hits)
    for hit, row in zip(trace.hits, rows, strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        places = [hit.stages[stage] for stage in STAGES]
        assert [cell.split(" ")[0] for cell in cells[-5:]] == ["-" if p is None else str(p.rank) for p in places]
        assert hit.text in text


def test_the_answer_stands_in_it_with_its_sources_and_the_reason_to_doubt_it() -> None:
    answer = ReportAnswer("extract", "RRF 只看名次。[1]", ("[1] 04-rrf.md:12-31",), "graded insufficient")
    text = report(sample_trace(), answer=answer)
    assert "## Answer (extract)" in text
    assert "RRF 只看名次。[1]" in text
    assert "`[1] 04-rrf.md:12-31`" in text
    assert "`graded insufficient`" in text


def test_hostile_notes_change_neither_headings_nor_rows_and_make_no_links() -> None:
    plain, hostile = kinds(report(sample_trace())), kinds(report(sample_trace_hostile()))
    for kind in ("heading_open", "table_open", "fence"):
        assert hostile.count(kind) >= plain.count(kind)
    assert hostile.count("tr_open") == plain.count("tr_open")
    assert not {"html_block", "html_inline", "link_open", "image", "blockquote_open", "hr"} & set(hostile)
    text = report(sample_trace_hostile())
    assert not any(c in text for c in "\x1b\x07\x9b\u202e\x00\ud800")
    assert HOSTILE[:3] in text  # shown all the same


@given(BREAKERS)
def test_a_code_span_holds_any_text_whole(text: str) -> None:
    found = [t for t in parsed(f"before {code(text)} after") if t.type == "code_inline"]
    assert len(found) == 1
    row = parsed(f"| a | b |\n|---|---|\n| {code(text, cell=True)} | end |")
    cells = [t for t in row if t.type == "inline"]
    assert [t.content for t in cells][-1] == "end"
    assert len(cells) == 4


@given(BREAKERS)
def test_a_fence_holds_any_text_whole(text: str) -> None:
    tokens = parsed(f"{fenced(text)}\n\nafter")
    assert [t.type for t in tokens] == ["fence", "paragraph_open", "inline", "text", "paragraph_close"]
