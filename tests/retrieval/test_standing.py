"""What a chunk gets for the question's words that stand in it: each figure by a second route."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.sparse import Bm25, passage_parts, score_rows, search_passages
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.standing import ENOUGH, LEAST, keyword_weight, standing
from glassbox_tui.text.tokens import terms

WORDS = st.lists(
    st.sampled_from(["lease", "clock", "3.3.3", "3.3.4", "redis", "锁", "租约", "DEC-0054"]), min_size=1, max_size=12
)
NOTES = st.lists(st.lists(WORDS.map(" ".join), min_size=1, max_size=3), min_size=1, max_size=8)


@given(NOTES, WORDS, st.floats(0, 3), st.floats(0, 1), st.floats(0, 1))
@settings(deadline=None, max_examples=60)
def test_the_score_of_a_chunk_is_the_one_that_the_search_gives_it(
    notes: list[list[str]], query: list[str], k1: float, b: float, share: float
) -> None:
    with Engine(HashingEmbedder()).build({f"{i}.md": chunks for i, chunks in enumerate(notes)}) as engine:
        passages, how = engine.snapshot.passages, Bm25(k1, b, note_share=share)
        wanted = {term: float(n) for term, n in Counter(terms(" ".join(query))).items()}
        rows = np.arange(len(engine.snapshot.chunks))
        scores, mass = score_rows(passages, wanted, rows, how)
        found = dict(search_passages(passages, wanted, len(rows), how))
        for row in rows.tolist():
            if row in found:
                assert scores[row] == pytest.approx(found[row])
            parts = passage_parts(passages, row, wanted, how)
            assert scores[row] == pytest.approx(sum(own + whole for _, own, whole in parts))
        n, df = len(rows), {t: sum(t in terms(chunk) for chunks in notes for chunk in chunks) for t in wanted}
        assert mass == pytest.approx(sum(w * math.log1p((n - df[t] + 0.5) / (df[t] + 0.5)) for t, w in wanted.items()))


@given(NOTES, WORDS)
@settings(deadline=None, max_examples=60)
def test_a_word_stands_where_the_text_has_it(notes: list[list[str]], query: list[str]) -> None:
    with Engine(HashingEmbedder()).build({f"{i}.md": chunks for i, chunks in enumerate(notes)}) as engine:
        snapshot = engine.snapshot
        wanted = ["", *dict.fromkeys(terms(" ".join(query))), "nowhere"]
        stands = standing(snapshot.sparse, wanted, np.arange(len(snapshot.chunks)))
        for row, chunk in enumerate(snapshot.chunks):
            held = set(terms(chunk.index_text))
            assert stands[row].tolist() == [term in held for term in wanted]


def test_a_keyword_list_has_its_full_say_only_where_it_holds_enough_of_the_question() -> None:
    texts = {"a.md": ["lease clock redis"], "b.md": ["lease"], "c.md": ["other words"]}
    with Engine(HashingEmbedder()).build(texts) as engine:
        index, all_rows = engine.snapshot.sparse, np.arange(3)
        whole = {"leas": 1.0, "clock": 1.0}
        assert keyword_weight(index, whole, all_rows) == 1.0
        stray = {"leas": 1.0, **{f"unknown{i}": 1.0 for i in range(9)}}
        mass = math.log1p(1.5 / 2.5) + 9 * math.log1p(3.5 / 0.5)
        assert keyword_weight(index, stray, all_rows) == LEAST > math.log1p(1.5 / 2.5) / mass / ENOUGH
        assert keyword_weight(index, {}, all_rows) == keyword_weight(index, whole, all_rows[:0]) == 1.0
