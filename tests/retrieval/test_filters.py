"""A query's conditions: which chunks they leave, in every stage and round, and that the Trace says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.filters import choose, holds_phrase, question_of, rows_with, take_apart
from glassbox_tui.retrieval.moves import Edit, First, Own
from glassbox_tui.retrieval.stepping import step
from glassbox_tui.retrieval.trace import Filter, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings
from glassbox_tui.text.operators import Condition
from glassbox_tui.text.tokens import terms
from glassbox_tui.views.evidence import evidence, to_text

NOTES = {
    "cats/jaguar.md": "# Jaguar\n\nThe jaguar is a big cat with a scar. It discards nothing.",
    "cars/jaguar.md": "# Jaguar\n\nThe jaguar is a car from Coventry.",
    "cars/more.md": "# Jaguar again\n\nJaguar CARS are rare, say two cars' owners.",
    "law.md": "# Licences\n\nAn *open* source licence. Opened sources are no such thing.",
    "river.md": "# River\n\nThe source is open to all; open the source.",
    "lock.md": "# 锁\n\n分布式\n锁依赖租约。",
    "lock2.md": "# 锁\n\n分布的锁式样很多。",
    "tar.md": "# Archives\n\nUnpack it with `tar -xzf file.tgz` or tar -tvf.",
    "list.md": "# Shopping\n\n-milk\n- bread\n",
}


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(HashingEmbedder(), settings=Settings()).build(NOTES)


def found(trace: Trace) -> set[str]:
    """Every note that any stage of any round shows, or learnt from."""
    uids = [c.uid for r in trace.rounds for s in r.stages for c in s.candidates]
    uids += [uid for r in trace.rounds for t in r.added_terms for uid in t.sources]
    uids += [hit.uid for r in trace.rounds for hit in r.hits]
    return {uid.partition("#")[0] for uid in uids}


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("jaguar -car", set(NOTES) - {"cars/jaguar.md", "cars/more.md"}),
        ("jaguar -cars", set(NOTES) - {"cars/jaguar.md", "cars/more.md"}),
        ("jaguar -card", set(NOTES)),
        ("-jaguar licence", set(NOTES) - {"cats/jaguar.md", "cars/jaguar.md", "cars/more.md"}),
        ('jaguar -"big cat"', set(NOTES) - {"cats/jaguar.md"}),
        ('"open source"', {"law.md"}),
        ('“Open  Source” licence', {"law.md"}),
        ('"open"', {"law.md", "river.md"}),
        ('"the source"', {"river.md"}),
        ('"jaguar again"', {"cars/more.md"}),
        ("「分布式锁」", {"lock.md"}),
        ("锁 -分布式锁", set(NOTES) - {"lock.md"}),
        ('"jaguar" -car', {"cats/jaguar.md"}),
        ('jaguar "big cat" "a scar"', {"cats/jaguar.md"}),
    ],
)  # fmt: skip
def test_the_conditions_hold_in_every_stage_and_round(engine: Engine, query: str, left: set[str]) -> None:
    trace = engine.search(query, max_rewrites=3)
    assert found(trace) <= left
    assert {hit.path for hit in trace.hits}
    assert trace.query == trace.rounds[0].query == query
    # Nothing but the filters keeps a chunk out: where there is room, all that is left is found.
    assert {hit.path for hit in engine.search(query, top_k=50, bm25_floor=0.0, max_rewrites=0).hits} == left


def test_in_scope_the_conditions_are_met_too_and_count_what_is_searched(engine: Engine) -> None:
    trace = engine.search("jaguar -car", scope="cars")
    assert found(trace) == set()
    assert trace.rounds[0].filters == (Filter("exclude", "-car", 2),)
    assert {hit.path for hit in engine.search('jaguar "again"', scope="cars").hits} == {"cars/more.md"}


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_a_filtered_list_is_the_endless_one_filtered_and_then_cut(e5: E5Embedder, cut: int) -> None:
    engine = Engine(e5, settings=Settings(max_rewrites=0, bm25_floor=0.0)).build(NOTES)
    # Both ask the same words, so only the filter makes a difference.
    whole, filtered = engine.search("jaguar car", fanout=1000), engine.search('jaguar "car"', fanout=cut)
    for name in ("bm25", "dense"):
        endless, cut_one = whole.rounds[0].stage(name), filtered.rounds[0].stage(name)
        assert endless is not None
        assert cut_one is not None
        inside = [c for c in endless.candidates if c.uid == "cars/jaguar.md#0"][:cut]
        assert [c.uid for c in cut_one.candidates] == [c.uid for c in inside]
        assert [c.score for c in cut_one.candidates] == pytest.approx([c.score for c in inside], abs=1e-5)


def test_the_trace_says_what_each_filter_removed_in_json_and_in_words(engine: Engine) -> None:
    trace = engine.search('"jaguar" -car')
    expected = (Filter("phrase", '"jaguar"', len(NOTES) - 3), Filter("exclude", "-car", 2))
    assert from_json(to_json(trace)).rounds[0].filters == expected
    for text in (trace.xray, to_text(evidence(trace, width=100), width=100)):
        assert 'only chunks with "jaguar": 6 left out' in text
        assert "-car: 2 left out" in text
    assert engine.search("jaguar car").rounds[0].filters == ()


def test_a_trace_from_before_there_were_filters_is_read(engine: Engine) -> None:
    import json

    document = json.loads(to_json(engine.search("jaguar")))
    for r in document["rounds"]:
        del r["filters"]
        for s in r["stages"]:
            del s["lacking"]
    assert from_json(json.dumps(document)).rounds[0].filters == ()


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ('"open sauce"', 'no chunk holds the phrase "open sauce": without the marks 0 hold its words'),
        (
            '"source licence open"',
            'no chunk holds the phrase "source licence open": without the marks 1 hold its words',
        ),
        ('"big cat" "open source"', 'the filters "big cat" "open source" leave no chunk'),
        ('"open source" -licence', 'the filters "open source" -licence leave no chunk'),
    ],
)
def test_where_nothing_is_left_a_sentence_says_so_and_nothing_is_shown(engine: Engine, query: str, reason: str) -> None:
    trace = engine.search(query, max_rewrites=3)
    assert (trace.hits, trace.decision, trace.last.grade.reasons) == ((), "insufficient", (reason,))
    assert len(trace.rounds) == 1
    assert reason in to_text(evidence(trace, width=200), width=200)


def test_a_dash_that_the_notes_write_is_part_of_the_word_and_that_is_said(engine: Engine) -> None:
    trace = engine.search("tar -xzf", max_rewrites=0)
    assert trace.rounds[0].filters == ()
    assert trace.hits[0].path == "tar.md"
    assert any(n.startswith("-xzf stands in the notes as it is") for n in trace.notices)
    assert "tar.md" not in found(engine.search('archives -"xzf"'))
    # A list item is no such word, nor is a dash that the notes write before another one.
    assert "list.md" not in found(engine.search("shopping -milk"))
    assert "tar.md" not in found(engine.search("archives -unpack"))


def test_a_stop_word_excludes_nothing(engine: Engine) -> None:
    assert engine.search("jaguar -the", max_rewrites=0).rounds[0].filters == ()


class Everything:
    name = "own"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def retrieve(self, query: str, k: int) -> list[str]:
        self.asked.append(query)
        return [f"{path}#0" for path in sorted(NOTES)][:k]


def test_a_plugged_in_list_is_filtered_too_and_hears_the_bare_question() -> None:
    own = Everything()
    trace = Engine(HashingEmbedder(), retrievers=[own]).build(NOTES).search('jaguar -car "big cat"', fanout=2)
    assert found(trace) == {"cats/jaguar.md"}
    assert set(own.asked) == {"jaguar big cat"}


class Sees:
    """A reranker and a judge that note what they are asked."""

    name = "sees"

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        self.asked.add(query)
        return [0.0] * len(passages)

    def judge(self, query: str, evidence: Sequence[str]) -> bool:
        self.asked.add(query)
        return True


def test_models_are_asked_the_question_and_not_its_operators() -> None:
    sees = Sees()
    engine = Engine(HashingEmbedder(), sees, judge=sees).build(NOTES)
    assert engine.search('"jaguar" speed -car').decision == "answer"
    assert sees.asked == {"jaguar speed"}
    # No judge finds an answer where nothing is left to read.
    assert engine.search('"open sauce"').decision == "insufficient"


def test_the_question_of_a_trace_is_what_was_asked_in_words(engine: Engine) -> None:
    for query, asked in (
        ("jaguar -car", "jaguar"),
        ('"open source" licence?', "open source licence?"),
        ("tar -xzf", "tar -xzf"),
        ("tar -xzf -car", "tar -xzf"),
        ("/jaguar?", "/jaguar?"),
    ):
        assert question_of(engine.search(query, max_rewrites=0)) == asked


def test_by_hand_the_conditions_of_the_edited_query_hold(engine: Engine) -> None:
    first = step(engine, First("jaguar -car"), go_on=False).trace
    kept = step(engine, Own(first, "jaguar -cat"), go_on=False).trace
    assert [f.text for f in kept.last.filters] == ["-cat"]
    assert "cats/jaguar.md#0" not in [c.uid for s in kept.last.stages for c in s.candidates]
    free = step(engine, Edit(first, first.last, "jaguar speed"), go_on=False).trace
    assert free.last.filters == ()
    # What round 0 had filtered out is found by the new query's own lists.
    assert "cars/jaguar.md" in {hit.path for hit in free.last.hits}


def test_without_conditions_the_query_is_searched_as_before(engine: Engine) -> None:
    pipe = engine.pipeline(replace(engine.settings, max_rewrites=0))
    assert take_apart("what is a jaguar-like cat - or -5", pipe.snapshot)[0].conditions == ()


WORDS = [
    *("open", "Source", "sources", "it's", "C++", "C", "err_code", "v1.2", "a/b.c", "iPhone", "café", "1,000", "-"),
    *("分布", "式锁", "的", "かな", "서울", "*so*", "\n", "IT", "don’t", "ab-cd"),
]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_postings_leave_out_no_chunk_that_holds_the_phrase(texts: list[list[str]], data: st.DataObject) -> None:
    """The second path reads every chunk."""
    glue = data.draw(st.sampled_from([" ", "  ", "\n"]))
    notes = {f"n{i}": glue.join(words) + " end" for i, words in enumerate(texts)}
    engine = Engine(HashingEmbedder(), settings=Settings(disable_dense=True)).build(notes)
    words = data.draw(st.sampled_from(texts))
    at = data.draw(st.integers(0, len(words) - 1))
    phrase = " ".join(words[at : data.draw(st.integers(at + 1, len(words)))])
    phrase = data.draw(st.sampled_from([phrase, phrase.upper(), phrase.lower()]))
    if not phrase.strip():
        return
    rows = rows_with(Condition("phrase", phrase.strip()), engine.snapshot).tolist()
    scanned = [i for i, c in enumerate(engine.snapshot.chunks) if holds_phrase(c.index_text, phrase.strip())]
    assert rows == scanned


@given(
    st.lists(st.lists(st.sampled_from(["car", "cars", "card", "scar", "Car", "car's", "cat"]), max_size=4), max_size=4)
)
def test_an_excluded_word_is_one_as_the_index_has_it(texts: list[list[str]]) -> None:
    engine = Engine(HashingEmbedder(), settings=Settings(disable_dense=True))
    engine.build({f"n{i}": " ".join([*words, "end"]) for i, words in enumerate(texts)})
    chosen = choose([Condition("exclude", "car", False)], engine.snapshot, None)
    assert chosen.rows is not None
    left = [i for i, c in enumerate(engine.snapshot.chunks) if terms("car")[0] not in terms(c.index_text)]
    assert chosen.rows.tolist() == left
    assert all(not re.search(r"\bcars?\b", engine.snapshot.chunks[i].text, re.I) for i in left)
