"""What answered the query is shown in the words of the query and the note, and what is shown adds up."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import sample_trace, sample_trace_empty, sample_trace_hostile

from glassbox_tui import Engine
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval.trace import Candidate, Hit, Part, Place, Round, Stage
from glassbox_tui.views.matching import (
    joined,
    matched_spans,
    strongest_spans,
    surface_forms,
    token_shares,
    widened,
)

TEXT = "The reranking of fused lists: 混合检索 in RRF."


def with_parts(query: str, terms: tuple[str, ...], bm25: list[Part], rerank: list[Part]) -> tuple[Hit, Round]:
    base = sample_trace().last
    hit = replace(base.hits[0], uid="n.md#0", text=TEXT, stages={"rerank": Place(1, sum(p.value for p in rerank))})
    stages = (
        Stage("bm25", 0, (Candidate("n.md#0", 1, 1.0, tuple(bm25)),)),
        Stage("rerank", 0, (Candidate("n.md#0", 1, 1.0, tuple(rerank)),)),
    )
    return hit, replace(base, query=query, terms=terms, added_terms=(), stages=stages, hits=(hit,))


def test_pieces_of_a_word_are_shown_as_the_word_with_what_each_met() -> None:
    parts = [
        Part("", 0.01, "met  at 0.60", (3, 3)),
        Part("re", 0.05, "met re at 0.55", (4, 6)),
        Part("trie", 0.03, "met fus at 0.41", (17, 20)),
        Part("ved", 0.04, "met a title at 0.30", None),
        Part("混", 0.06, "met 混 at 0.80", (30, 31)),
        Part("合", 0.02, "met 合 at 0.70", (31, 32)),
        Part("language", -0.05, "average other text"),
    ]
    hit, now = with_parts("retrieved 混合", ("retriev",), [], parts)
    shares = token_shares(hit, now, "retrieved 混合")
    assert [(s.word, [(m.piece, m.met, m.cosine) for m in s.meetings]) for s in shares] == [
        (
            "retrieved",
            [("", "", 0.6), ("re", "reranking", 0.55), ("trie", "fused", 0.41), ("ved", "a title", 0.3)],
        ),
        ("混", [("混", "混", 0.8)]),
        ("合", [("合", "合", 0.7)]),
        ("language", []),
    ]
    assert shares[-1].note == "average other text"
    assert sum(s.share for s in shares) == pytest.approx(0.16)


def test_with_the_real_model_the_shares_are_the_rerank_score_and_every_word_is_in_the_query(e5: E5Embedder) -> None:
    notes = {
        "a.md": "# Fusion\n\nHybrid retrieval merges rankings: 混合检索 merges 两份名单 by RRF.",
        "b.md": "# Tea\n\nGreen tea is steamed, black tea is oxidised. 绿茶要杀青。",
    }
    query = "why are retrieved rankings merged, 混合检索 RRF ①?"
    with Engine(e5).build(notes) as engine:
        trace = engine.search(query, max_rewrites=0)
    for hit in trace.hits:
        shares = token_shares(hit, trace.last, query)
        place = hit.stages["rerank"]
        assert place is not None
        assert sum(s.share for s in shares) == pytest.approx(place.score, abs=1e-9)
        words = [s for s in shares if s.meetings]
        assert len(words) > 5
        assert any(s.word == "retrieved" and len(s.meetings) > 1 for s in words)
        for share in words:
            assert share.word in query or share.word == "1"  # ① is read as 1
            assert share.share == pytest.approx(sum(m.share for m in share.meetings))
            for met in share.meetings:
                assert met.span is None or hit.text[slice(*met.span)].strip() in met.met


def test_stems_are_shown_as_they_were_typed_or_else_as_the_note_has_them() -> None:
    hit, now = with_parts("why FUSING rankings", ("fuse", "rank", "merg", "混合"), [], [])
    now = replace(now, query="why FUSING rankings merg")
    found = surface_forms(now, "why FUSING rankings", ("lists are merged", hit.text))
    assert found == {"fuse": "FUSING", "rank": "rankings", "merg": "merg", "混合": "混合"}
    now = replace(now, query="why FUSING rankings")
    assert surface_forms(now, "why FUSING rankings", ("lists are merged",))["merg"] == "merged"


def test_matches_are_joined_where_they_overlap_and_only_bm25s_terms_count() -> None:
    parts = [Part("混合", 1.0), Part("合检", 1.0), Part("检索", 1.0), Part("fuse", 1.0)]
    hit, now = with_parts("fuse 混合检索", ("fuse", "混合", "合检", "检索", "list"), parts, [])
    assert [hit.text[a:b] for a, b in matched_spans(hit, now)] == ["fused", "混合检索"]


def test_the_strongest_matches_are_marked_as_whole_words_the_strongest_first() -> None:
    spans = {"re": (4, 6), "fus": (17, 20), "混": (30, 31), "of": (14, 16), "list": (23, 27)}
    assert [TEXT[a:b] for a, b in spans.values()] == list(spans)
    parts = [Part(w, v, "met", s) for (w, s), v in zip(spans.items(), (0.2, 0.4, 0.3, 0.1, 0.05), strict=True)]
    hit, now = with_parts("q", (), [], [*parts, Part("out of the text", 9.0, "", (900, 901))])
    assert [hit.text[a:b] for a, b in strongest_spans(hit, now)] == ["fused", "混", "reranking"]


@given(st.text(st.sampled_from("ab 混。1-"), min_size=1), st.data())
def test_a_widened_span_holds_the_span_and_adds_letters_only(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    a, b = widened(text, start, end)
    assert 0 <= a <= start < end <= b <= len(text)
    assert all(c in "ab1" for c in text[a:start] + text[end:b])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)).map(lambda p: (p[0], p[0] + p[1]))))
def test_joined_spans_cover_the_same_characters_apart_from_each_other(spans: list[tuple[int, int]]) -> None:
    out = joined(spans)
    assert {i for a, b in out for i in range(a, b)} == {i for a, b in spans for i in range(a, b)}
    assert all(before[1] < after[0] for before, after in pairwise(out))


def test_a_hit_that_no_stage_explains_has_nothing_to_show() -> None:
    empty = sample_trace_empty().last
    hit = sample_trace().hits[0]
    assert token_shares(hit, empty, "q") == ()
    assert matched_spans(hit, empty) == strongest_spans(hit, empty) == []


def test_hostile_parts_are_taken_as_they_are() -> None:
    trace = sample_trace_hostile()
    for hit in trace.hits:
        place = hit.stages["rerank"]
        if place is not None:
            assert sum(s.share for s in token_shares(hit, trace.last, trace.query)) == pytest.approx(place.score)
