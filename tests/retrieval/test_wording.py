"""A rewritten query as a person reads, edits and gets it back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import sample_trace

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.feedback import feed_back
from glassbox_tui.retrieval.loop import ask_first
from glassbox_tui.retrieval.rounds import run_round
from glassbox_tui.retrieval.trace import AddedTerm, Filter, Round
from glassbox_tui.retrieval.wording import added_words, base_of, editable, joined, query_key, read_edited
from glassbox_tui.settings import Settings
from glassbox_tui.text.operators import parse

ADDED = (
    AddedTerm("分布", 0.31, ("lock.md#0",), "分布式锁"),
    AddedTerm("leas", 0.22, ("clock.md#1", "lock.md#0"), "leases"),
    AddedTerm("式锁", 0.2, ("lock.md#0",), "分布式锁"),
    AddedTerm("zookeeper", 0.17, ("clock.md#1",)),
)


def round_with(base: str, added: tuple[AddedTerm, ...] = ADDED) -> Round:
    return replace(sample_trace().last, query=joined(base, added), added_terms=added)


def test_terms_are_shown_as_the_words_they_stand_for() -> None:
    assert [(w.text, w.weight, w.terms, w.sources) for w in added_words(ADDED)] == [
        ("分布式锁", 0.31, ("分布", "式锁"), ("lock.md#0",)),
        ("leases", 0.22, ("leas",), ("clock.md#1", "lock.md#0")),
        ("zookeeper", 0.17, ("zookeeper",), ("clock.md#1",)),
    ]
    assert editable(round_with("redlock 选型")) == "redlock 选型 + 分布式锁 leases zookeeper"
    assert editable(round_with("redlock", ())) == "redlock"


@pytest.mark.parametrize(
    ("typed", "worded", "line"),
    [
        ("refnd -tar", "refund", "refund -tar"),
        ('refnd "open source" -"sports car"', "refund open source", 'refund "open source" -"sports car"'),
        ('"Open Source" refnd -tar', "open source refund", '"open source" refund -tar'),
        ('refnd "open source"', "give me my money back", 'give me my money back "open source"'),
        ("refund -tar", "refund -tar", "refund -tar"),
        ('"open source" refund', '"open source" refund', '"open source" refund'),
    ],
)
def test_what_a_machine_worded_is_edited_with_the_filters_that_it_ran_under(typed: str, worded: str, line: str) -> None:
    conditions = parse(typed).conditions
    ran = replace(round_with(worded, ()), filters=tuple(Filter(c.kind, c.typed, 1) for c in conditions))
    assert editable(ran) == line
    again = parse(editable(ran)).conditions
    assert {(c.kind, c.typed.lower()) for c in again} == {(c.kind, c.typed.lower()) for c in conditions}


@given(
    st.sets(st.sampled_from(["分布式锁", "leases", "zookeeper"])), st.sampled_from(["a", "C++ + Rust", "选型 +", "+"])
)
def test_what_stays_in_the_line_is_kept_and_the_rest_is_gone(kept: set[str], base: str) -> None:
    template = round_with(base)
    line = " ".join(
        word for word in editable(template).split(" ") if word not in {w.text for w in added_words(ADDED)} - kept
    )
    wording, added = read_edited(line, template)
    assert wording == base.strip()
    assert set(added) == {t for t in ADDED if (t.surface or t.term) in kept}


@pytest.mark.parametrize(
    ("line", "base", "added"),
    [
        ("redlock", "redlock", []),
        ("redlock + ", "redlock", []),
        ("redlock +", "redlock", []),
        ("redlock + LEASES", "redlock", [("leas", 0.22)]),
        ("redlock + quokkas", "redlock", [("quokka", 1.0)]),
        ("redlock + 时钟漂移", "redlock", [("时钟", 1.0), ("钟漂", 1.0), ("漂移", 1.0)]),
        ("redlock + zookeeper + leases", "redlock", [("zookeeper", 0.17), ("leas", 0.22)]),
    ],
)
def test_words_behind_the_plus(line: str, base: str, added: list[tuple[str, float]]) -> None:
    wording, terms = read_edited(line, round_with("redlock"))
    assert (wording, [(t.term, t.weight) for t in terms]) == (base, added)


def test_the_base_of_a_query_that_was_stored_otherwise_is_all_of_it() -> None:
    assert base_of("redlock", ADDED) == "redlock"
    assert base_of("redlock 分布式锁 leases zookeeper", ADDED) == "redlock"


def test_the_same_words_typed_and_added_are_two_queries() -> None:
    typed, added = round_with("a leases", ()), round_with("a", ADDED[1:2])
    assert typed.query == added.query
    assert query_key(typed.query, ()) != query_key(added.query, added.added_terms)
    assert query_key("A ＢＣ", ()) == query_key("a bc", ())


def test_added_words_are_whole_and_stand_in_the_chunk_they_came_from() -> None:
    text = "Redlocks hand out leases, as err_code_17 of 2024 says. 分布式锁。租约、分布式锁，还有租约的时钟。"
    notes = {"lock.md": text, "tea.md": "Green tea, handed over."}
    pipe = Engine(HashingEmbedder(), settings=Settings()).build(notes).pipeline()
    first = ask_first("hand the unheard over", pipe)
    query, added = feed_back(first.query, run_round(first, pipe).final, pipe.snapshot)
    words = added_words(added)
    assert {"Redlocks", "leases", "err_code_17", "分布式锁", "租约"} <= {w.text for w in words}
    assert not {"err", "code", "17", "2024", "式锁", "布式"} & {w.text for w in words}
    assert all(any(w.text in notes[uid.rpartition("#")[0]] for uid in w.sources) for w in words)
    assert query.text == " ".join(["hand the unheard over", *(w.text for w in words)])
    assert {"redlock", "leas"} <= set(query.terms) and "hand" not in {t.term for t in added}
