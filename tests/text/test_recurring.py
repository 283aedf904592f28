"""Whole words: what feedback may add, and no fragment of a word, a name or a value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.text.recurring import whole_words
from glassbox_tui.text.tokens import tokenize

TEXTS = [
    "昨夜被雨声吵醒，深夜被雷声惊醒。分布式锁依赖租约；租约到期，分布式锁就失效。",
    "The Leases of DEC-0054 cost 1,000.20 EUR on 2024-01-16; the leases ended. 锁的租约。",
]


def words(texts: list[str], e5: E5Embedder | None = None) -> set[str]:
    return {w.text for w in whole_words(texts, segment=e5.token_spans if e5 else None)}


def test_words_are_whole_and_values_are_none() -> None:
    found = words(TEXTS)
    assert {"租约", "分布式锁", "Leases", "DEC-0054", "EUR"} <= found
    assert not {"布式", "式锁", "分布", "dec", "0054", "1", "000.20", "2024", "01", "16", "the", "of"} & found


def test_two_halves_of_two_words_are_no_word(e5: E5Embedder) -> None:
    found = words(TEXTS, e5)
    assert "夜被" not in found and "租约" in found


def test_counts_and_terms() -> None:
    (lease,) = [w for w in whole_words(TEXTS) if w.text == "Leases"]
    assert (lease.terms, lease.counts) == (("leas",), (0, 2))
    (lock,) = [w for w in whole_words(TEXTS) if w.text == "分布式锁"]
    assert (lock.terms, lock.counts) == (("分布", "布式", "式锁"), (2, 0))


@given(st.lists(st.text(max_size=40), max_size=3))
def test_every_word_stands_in_the_texts_and_its_terms_are_index_terms(texts: list[str]) -> None:
    held = {token.term for text in texts for token in tokenize(text)}
    for word in whole_words(texts):
        assert sum(word.counts) > 0 and len(word.counts) == len(texts)
        assert set(word.terms) <= held
