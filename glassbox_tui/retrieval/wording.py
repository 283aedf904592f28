"""A round's query in words: what was asked, " + ", and the added words; as it is shown, edited and read back.

The terms that BM25 adds are stems and pairs of characters. A person sees, keeps and deletes the words they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from glassbox_tui.retrieval.trace import AddedTerm, Round
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.operators import parse

PLUS = " + "
_plus = re.compile(r"(?<!\S)\+(?!\S)")
TYPED_WEIGHT = 1.0  # what a person adds behind the plus counts like the rest of what they typed


@dataclass(frozen=True, slots=True)
class Word:
    """One added word, its weight (of its strongest term), its terms and the chunks it came from (none: typed)."""

    text: str
    weight: float
    terms: tuple[str, ...]
    sources: tuple[str, ...]


def added_words(added: Iterable[AddedTerm]) -> tuple[Word, ...]:
    """The added terms as words, in order of their first terms."""
    groups: dict[str, list[AddedTerm]] = {}
    for term in added:
        groups.setdefault(term.surface or term.term, []).append(term)
    return tuple(
        Word(
            text,
            max(t.weight for t in terms),
            tuple(t.term for t in terms),
            tuple(dict.fromkeys(source for t in terms for source in t.sources)),
        )
        for text, terms in groups.items()
    )


def joined(base: str, added: Iterable[AddedTerm]) -> str:
    """A round's `query`: the wording, then the added words, blanks between."""
    return " ".join([base, *(word.text for word in added_words(added))])


def base_of(query: str, added: Iterable[AddedTerm]) -> str:
    """A round's `query` without its added words."""
    return query.removesuffix(joined("", added).rstrip(" "))


def editable(round_: Round) -> str:
    """`redlock 选型 + 分布式锁 租约`: one line that `read_edited` reads back; without added terms the bare query."""
    words = " ".join(word.text for word in added_words(round_.added_terms))
    return with_filters(round_) + (PLUS + words if words else "")


def with_filters(round_: Round) -> str:
    """A round's wording as a person would type it, with the filters that it ran under.

    What a machine worded keeps the filters of the question without naming them; edited, the line is all there is.
    """
    text = base_of(round_.query, round_.added_terms)
    named = {condition.typed for condition in parse(text).conditions}
    for filter in round_.filters:
        if filter.text in named:
            continue
        bare = filter.text.strip('"')
        at = text.lower().find(bare.lower()) if filter.kind == "phrase" else -1
        if at >= 0:
            text = f'{text[:at].rstrip()} "{text[at : at + len(bare)]}" {text[at + len(bare) :].lstrip()}'.strip()
        else:
            text = f"{text} {filter.text}"
    return text


def read_edited(text: str, template: Round, min_token_len: int = 1) -> tuple[str, tuple[AddedTerm, ...]]:
    """The wording and the added terms of an edited line. What was deleted is gone, what stayed keeps its weights.

    Behind the plus a word that `template` did not have is added at TYPED_WEIGHT. The pluses that stand in the
    template's own wording are not counted: "C + Rust" is a query.
    """
    from glassbox_tui.text.tokens import content_terms  # here, because its tables would delay the first paint

    pluses = list(_plus.finditer(text))
    own = len(_plus.findall(base_of(template.query, template.added_terms)))
    base, tail = (text[: pluses[own].start()], text[pluses[own].end() :]) if len(pluses) > own else (text, "")
    by_word = {fold(word.text): set(word.terms) for word in added_words(template.added_terms)}
    added: dict[str, AddedTerm] = {}
    for word in tail.split():
        kept = by_word.get(fold(word))
        if kept is not None:
            added.update((t.term, t) for t in template.added_terms if t.term in kept)
            continue
        for term in content_terms(word, min_token_len):
            added.setdefault(term, AddedTerm(term, TYPED_WEIGHT, (), word))
    return base.strip(), tuple(added.values())


def query_key(query: str, added: Sequence[AddedTerm]) -> tuple[str, tuple[str, ...]]:
    """What makes a query the same as another one: the wording and the added words, in order."""
    return fold(base_of(query, added)), tuple(fold(word.text) for word in added_words(added))
