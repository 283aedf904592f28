"""While somebody types, keywords match what the last word may become; scores add up and say what was met."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.sparse import Bm25, search_passages, search_sparse, with_unions
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.half_typed import MOST, may_become
from glassbox_tui.retrieval.trace import Candidate, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings
from glassbox_tui.text.tokens import terms
from glassbox_tui.views.matching import matched_spans

NOTES = {
    "fusion.md": "Reciprocal rank fusion joins ranked lists.",
    "retrieval.md": "Retrieving passages is what retrieval means.",
    "organize.md": "The organization calibrated its optimization of happiness.",
    "ids.md": "Decision DEC-0054 and decision DEC-0061 about src/app.py.",
    "cars.md": "A car drove by.",
    "carbon.md": "Carbon dating of old bones.",
    "accent.md": "Łódź and a façade in the crème colour.",
    "zh.md": "分布式锁依赖租约。",
}
FILLER = {f"f{i}.md": f"note number {i} about weather, bread and rivers" for i in range(40)}


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(HashingEmbedder(), settings=Settings(max_rewrites=0)).build({**NOTES, **FILLER})


def keywords(trace: Trace) -> tuple[Candidate, ...]:
    stage = trace.rounds[0].stage("bm25")
    assert stage is not None
    return stage.candidates


def first(trace: Trace) -> str:
    return keywords(trace)[0].uid if keywords(trace) else ""


@pytest.mark.parametrize(
    ("word", "note"),
    [
        ("fusion", "fusion.md"),
        ("reciprocal", "fusion.md"),
        ("retrieving", "retrieval.md"),
        ("retrieval", "retrieval.md"),
        ("organization", "organize.md"),
        ("optimization", "organize.md"),
        ("calibrated", "organize.md"),
        ("happiness", "organize.md"),
        ("passages", "retrieval.md"),
        ("carbon", "carbon.md"),
        ("DEC-0054", "ids.md"),
        ("src/app.py", "ids.md"),
        ("façade", "accent.md"),
    ],
)
def test_a_word_finds_its_note_from_the_fourth_letter_on(engine: Engine, word: str, note: str) -> None:
    """However the stem is cut: no prefix of a word is worse off than the whole word."""
    for end in range(4, len(word) + 1):
        assert first(engine.search(word[:end], typing=True)) == f"{note}#0", word[:end]


@pytest.mark.parametrize("query", ["fusio ", "fusio?", 'fusio "', "the fusio\u3000"])
def test_a_word_with_something_behind_it_is_whole(engine: Engine, query: str) -> None:
    assert not keywords(engine.search(query, typing=True))


def test_headless_searches_take_words_as_they_are(engine: Engine) -> None:
    trace = engine.search("fusio")
    assert not keywords(trace)
    assert "typing" not in trace.settings


def test_a_word_that_the_index_holds_is_that_word(engine: Engine) -> None:
    for query in ("car", "old car", "分布式锁", "租"):
        typed, entered = engine.search(query, typing=True), engine.search(query)
        assert keywords(typed) == keywords(entered)
        assert [s.candidates for s in typed.rounds[0].stages] == [s.candidates for s in entered.rounds[0].stages]


@pytest.mark.parametrize("query", ["fu", "租f", "lease -fusio", "fusio -bread"])
def test_little_of_a_word_and_a_word_that_is_not_asked_for_become_nothing(engine: Engine, query: str) -> None:
    assert "…" not in " ".join(engine.search(query, typing=True).rounds[0].terms)


def test_the_part_says_what_was_typed_and_what_was_met_and_parts_add_up(engine: Engine) -> None:
    trace = engine.search("rank fusio", typing=True)
    [best, *_] = keywords(trace)
    assert best.uid == "fusion.md#0"
    assert "fusio… = fusion" in [p.name for p in best.parts]
    for candidate in keywords(trace):
        assert math.isclose(sum(p.value for p in candidate.parts), candidate.score)
    assert trace.rounds[0].terms == ("rank", "fusio…")
    assert from_json(to_json(trace)) == trace
    hit = trace.hits[0]
    assert {hit.text[a:b] for a, b in matched_spans(hit, trace.rounds[0])} == {"rank", "fusion", "ranked"}


def test_other_words_of_the_query_score_as_they_do_without_it(engine: Engine) -> None:
    alone = {c.uid: c.score for c in keywords(engine.search("weather bread", fanout=100, bm25_floor=0.0))}
    with_it = keywords(engine.search("weather bread fusio", typing=True, fanout=100, bm25_floor=0.0))
    assert {c.uid: c.score for c in with_it if c.uid in alone} == pytest.approx(alone)


def test_what_a_word_may_become_is_capped_at_the_commonest() -> None:
    many = {
        f"n{i}.md": " ".join(f"wordq{chr(97 + j)}k" for j in range(26) if j <= i)
        + f" wordq{chr(97 + i // 26)}{chr(97 + i % 26)}zk"
        for i in range(60)
    }
    engine = Engine(HashingEmbedder(), settings=Settings(max_rewrites=0)).build(many)
    found = may_become("word", engine.snapshot)
    frequency = engine.snapshot.sparse.document_frequency
    assert len(found) == MOST
    assert {f"wordq{chr(97 + j)}k" for j in range(25)} <= set(found)
    assert [frequency(t) for t in found] == sorted((frequency(t) for t in found), reverse=True)


def test_after_an_update_new_words_can_be_begun() -> None:
    engine = Engine(HashingEmbedder(), settings=Settings(max_rewrites=0)).build(dict(NOTES))
    assert not keywords(engine.search("zeppeli", typing=True))
    engine.build({**NOTES, "new.md": "A zeppelin over the harbour."})
    assert first(engine.search("zeppeli", typing=True)) == "new.md#0"


WORD = st.sampled_from(["fuse", "fusion", "fusing", "future", "fun", "bread", "rank"])


@given(st.lists(st.lists(WORD, min_size=1, max_size=6), min_size=1, max_size=8))
def test_a_union_scores_as_one_word_written_in_place_of_all(texts: list[list[str]]) -> None:
    """The second path: an index of notes in which the words were replaced by one."""

    def build(notes: list[list[str]]) -> Engine:
        engine = Engine(HashingEmbedder(), settings=Settings(disable_dense=True))
        return engine.build({f"n{i:02d}": [" ".join(words)] for i, words in enumerate(notes)})

    begun = {terms(w)[0] for words in texts for w in words if w.startswith("fus")}
    real = build(texts).snapshot.sparse
    told = build([["fusxyz" if w.startswith("fus") else w for w in words] for words in texts]).snapshot.sparse
    how = Bm25()
    expected = search_sparse(told, {"fusxyz": 1.0, "rank": 1.0}, 50, how)
    found = search_sparse(with_unions(real, {"fus…": sorted(begun)}), {"fus…": 1.0, "rank": 1.0}, 50, how)
    assert [row for row, _ in found] == [row for row, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


def test_a_search_without_a_begun_word_makes_no_union(engine: Engine) -> None:
    snapshot = engine.snapshot
    assert snapshot.sparse.unions == {}
    assert search_passages(snapshot.passages, {"fusio…": 1.0}, 5, Bm25()) == []
