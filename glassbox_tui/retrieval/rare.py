"""Which of a question's terms name a rare thing: a version, an id, a code, a date, an amount, a number, a path."""

from __future__ import annotations

import re
from collections.abc import Sequence

from glassbox_tui.index.sparse import SparseIndex
from glassbox_tui.text.tokens import Token
from glassbox_tui.text.values import KINDS

# A thing is rare in at most this share of the chunks, or in this many.
RARE_SHARE, RARE_COUNT = 0.02, 3

_JOINED = re.compile(r"(?=\S*\d)[^\W_]+(?:[-_./:#@+][^\W_]+)+|[#@$]\w*\d\w*|v\d[\w.]*")
_MIXED = re.compile(r"(?=[^\W\d_]*\d)(?=\d*[^\W\d_])[^\W_]{4,}")  # a1b2c3: an id, a plate, part of a hash
_NUMBER = re.compile(r"\d{4,}")
# What names a time or a place in a row, and seldom a note: 1984, the 15th.
_COMMON = re.compile(r"1\d{3}|20\d\d|\d+(?:st|nd|rd|th)")
_WIDE = ("day", "month")  # readings that a whole date has beside its own


def literals(found: Sequence[Token], index: SparseIndex) -> tuple[str, ...]:
    """The rare things among a question's terms that some chunk holds, in the order of the question."""
    most = max(RARE_COUNT, RARE_SHARE * index.size)
    things = [t for t in found if _is_literal(t.term)]
    named = (t.term for t in things if not any(_contains(other, t) for other in things))
    return tuple(dict.fromkeys(term for term in named if 0 < index.document_frequency(term) <= most))


def _contains(whole: Token, part: Token) -> bool:
    """Is `part` less than `whole` about the same thing: a piece of DEC-0054, the bare day of a date?

    Whether any chunk holds the whole does not matter: where none does, its pieces are about something else.
    """
    if not (whole.start <= part.start and part.end <= whole.end):
        return False
    if part.term.partition("=")[0] in _WIDE:
        return whole.term.startswith("date=")
    return whole.end - whole.start > part.end - part.start and whole.term != f"v{part.term}"


def _is_literal(term: str) -> bool:
    kind, equals, _ = term.partition("=")
    if equals:
        return kind in KINDS and kind != "month"
    if _COMMON.fullmatch(term):
        return False
    return any(form.fullmatch(term) for form in (_NUMBER, _JOINED, _MIXED))
