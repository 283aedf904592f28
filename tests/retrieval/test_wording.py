"""A rewritten query as a person reads, edits and gets it back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import sample_trace

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.trace import AddedTerm, Round
from glassbox_tui.retrieval.wording import added_words, base_of, editable, joined, query_key, read_edited
from glassbox_tui.settings import Settings

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


def test_surfaces_stand_in_the_chunk_they_came_from() -> None:
    notes = {
        "lock.md": "Redlocks hand out leases. 分布式锁依赖租约。 err_code_17 means expired.",
        "tea.md": "Green tea.",
    }
    made = Engine(HashingEmbedder(), settings=Settings()).build(notes)
    second = made.search("hand the unheard over", max_rewrites=1).rounds[1]
    shown = {w.text for w in added_words(second.added_terms)}
    assert all(any(w in text for text in notes.values()) for w in shown)
    assert second.query == " ".join(["hand the unheard over", *(w.text for w in added_words(second.added_terms))])
    stems = {t.term: t.surface for t in second.added_terms}
    assert stems.get("redlock", "Redlocks") == "Redlocks"
    assert stems.get("leas", "leases") == "leases"
    assert len(shown) < len(stems)
