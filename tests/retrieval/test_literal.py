"""A rare thing that the question names cannot be outvoted (A2): whatever stands beside the chunk that holds it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.fusion import RankedList, rrf
from glassbox_tui.retrieval.literal import LONGEST, with_literal
from glassbox_tui.retrieval.rare import literals
from glassbox_tui.text.tokens import tokenize

UIDS = [f"n{i}.md#0" for i in range(60)]


@given(
    st.lists(st.permutations(UIDS[:40]), min_size=1, max_size=4),
    st.lists(st.floats(0.01, 20), min_size=4, max_size=4),
    st.lists(st.sampled_from(UIDS), min_size=1, max_size=LONGEST, unique=True),
    st.floats(0, 500),
)
@settings(deadline=None)
def test_no_chunk_without_the_thing_stands_before_one_with_it(
    orders: list[list[str]], weights: list[float], holders: list[str], k: float
) -> None:
    lists = [RankedList(str(i), w, order) for i, (w, order) in enumerate(zip(weights, orders, strict=False))]
    fused = [c.uid for c in rrf(with_literal(lists, holders, k), k)]
    assert set(fused[: len(holders)]) == set(holders)
    assert with_literal(lists, (), k) == lists


def alike(form: str, count: int = 60) -> dict[str, str]:
    """Notes that resemble each other but for one thing."""
    return {
        f"{i:02}.md": f"# {form.format(a=i // 10 + 1, b=i % 10, n=i)}\n\nFaster start, fewer crashes, new icons."
        for i in range(count)
    }


KINDS = {
    "version": ("Release 3.{a}.{b}", "3.{a}.{b}", "what is new in 3.{a}.{b}?"),
    "address": ("Host 10.0.{a}.{b}", "10.0.{a}.{b}", "which host is 10.0.{a}.{b}"),
    "ticket": ("Ticket #1{n:02}", "#1{n:02}", "what about #1{n:02}"),
    "clause": ("第{n}条 通则", "第{n}条", "第{n}条规定了什么"),
    "id": ("DEC-{n:04}", "DEC-{n:04}", "why was DEC-{n:04} taken"),
    "code": ("Part zx{n:02}q7", "zx{n:02}q7", "where is zx{n:02}q7 used"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_note_that_holds_it_comes_first(e5: E5Embedder, kind: str) -> None:
    title, bare, asked = KINDS[kind]
    with Engine(e5).build(alike(title)) as engine:
        for i in range(3, 60, 8):
            for form in (bare, asked):
                trace = engine.search(form.format(a=i // 10 + 1, b=i % 10, n=i), max_rewrites=0)
                assert trace.hits[0].path == f"{i:02}.md", trace.query
                for name in ("literal", "rerank", "final"):
                    stage = trace.last.stage(name)
                    assert stage is not None
                    for candidate in stage.candidates:
                        assert candidate.score == pytest.approx(sum(p.value for p in candidate.parts), abs=1e-9)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("release v3.3.3 of the app", ("3.3.3",)),
        ("what was DEC-0054 about", ("dec-0054",)),
        ("who won in 1984", ()),  # a time, and no name of a note
        ("who won the 15th race", ()),
        ("invoice over 1.000,20", ("number=1000.2",)),
        ("3 apples and 12 pears", ()),
        ("what happened on 16.1.2024", ("date=2024-01-16",)),
    ],
)
def test_what_counts_as_a_rare_thing(question: str, named: tuple[str, ...]) -> None:
    notes = {f"{i}.md": f"a note that says nothing, number {i}" for i in range(40)} | {
        "all.md": "v3.3.3 DEC-0054 1984 the 15th, 1,000.20, 3 apples, 12 pears, 2024-01-16"
    }
    with Engine(HashingEmbedder()).build(notes) as engine:
        found = literals(tokenize(question), engine.snapshot.sparse)
        assert set(named) <= set(found) and bool(named) == bool(found)
        assert literals(tokenize("DEC-0055 and v3.3.4"), engine.snapshot.sparse) == ()  # no chunk holds them
