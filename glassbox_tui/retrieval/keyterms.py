"""What of a question must survive its rewriting: entities, quoted phrases, and the rarest terms that the notes hold."""

from __future__ import annotations

import math
import re

from glassbox_tui.index.sparse import SparseIndex, idf
from glassbox_tui.text.folding import simplified
from glassbox_tui.text.language import CJK, language_of
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.tokens import content_terms, terms, tokenize

RARE_SHARE, MOST_RARE = 1 / 3, 3  # of a question's content terms, and at most

_quoted = re.compile(
    r'"([^"\n]{2,80})"|“([^”\n]{2,80})”|「([^」\n]{2,80})」|『([^』\n]{2,80})』|《([^》\n]{2,80})》|`([^`\n]{2,80})`'
)
# A word of letters and digits that are not CJK, with the marks that join it: DEC-0054, src/app.py, R&D, C++.
_char = "(?:(?![\u3040-\u30ff\u3105-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff])\\w)"
_word = re.compile(f"(?!_){_char}(?:{_char}|[-./:#+&@]+(?={_char}))*(?:\\+\\+|#(?!\\w))?")
_opening = re.compile(r"(?:^|[.!?。！？:：]\s*)$")


def lost(question: str, rewrite: str, sparse: SparseIndex, *, rare: bool = True, min_token_len: int = 1) -> str | None:
    """What `rewrite` dropped that it must not, as the question has it; None: all is there.

    Entities and quoted phrases must stand in every rewrite. The rarest terms, too, where both are of one language (a
    translation has its own) and `rare` asks for it: of the terms that the index holds, the highest idf counts. Where it
    holds none, one of the question's words must stay, or it would be another question.
    """
    have = _folded(rewrite)
    for phrase in quoted(question):
        if " ".join(_folded(phrase).split()) not in " ".join(have.split()):
            return phrase
    held = set(terms(rewrite, min_token_len))
    for name in entities(question):
        if _folded(name) not in have and not set(terms(name, min_token_len)) <= held:
            return name
    if not rare or language_of(question) != language_of(rewrite):
        return None
    for term in rarest(question, sparse, min_token_len):
        if term not in held and not (language_of(term) == CJK and _straddles(term, _folded(question), have)):
            return _as_typed(term, question)
    dropped = left_out(question, rewrite, sparse, min_token_len)
    if dropped and not rarest(question, sparse, min_token_len):
        kept = [word for word in unknown(question, sparse, min_token_len) if word not in dropped]
        return None if kept else dropped[0]
    return None


def unknown(question: str, sparse: SparseIndex, min_token_len: int = 1) -> tuple[str, ...]:
    """The words of the question, as typed, that the index does not hold; no Chinese ones, which have no bounds."""
    words = (match.group() for match in _word.finditer(question))
    return tuple(
        word
        for word in dict.fromkeys(words)
        if (found := content_terms(word, min_token_len)) and not any(map(sparse.document_frequency, found))
    )


def left_out(question: str, rewrite: str, sparse: SparseIndex, min_token_len: int = 1) -> tuple[str, ...]:
    """The `unknown` words of the question that a rewrite does not have. It may do without them: they find nothing."""
    held = set(terms(rewrite, min_token_len))
    return tuple(
        word for word in unknown(question, sparse, min_token_len) if not set(terms(word, min_token_len)) <= held
    )


def quoted(question: str) -> tuple[str, ...]:
    """The phrases in quotation marks of any kind."""
    return tuple(next(group for group in match.groups() if group) for match in _quoted.finditer(question))


def entities(question: str) -> tuple[str, ...]:
    """Numbers, identifiers and names: what has a digit, a mark or a capital inside; a capital anywhere but at the
    beginning of a sentence; and every Latin word of a Chinese question."""
    foreign = language_of(question) == CJK
    found: dict[str, None] = {}
    for match in _word.finditer(question):
        word = match.group()
        marked = any(c.isdigit() or c in "_./:#+@&" for c in word) or any(c.isupper() for c in word[1:])
        named = word[0].isupper() and not _opening.search(question[: match.start()].rstrip())
        if marked or (len(word) > 1 and (named or foreign) and content_terms(word)):
            found[word] = None
    return tuple(found)


def rarest(question: str, sparse: SparseIndex, min_token_len: int = 1) -> tuple[str, ...]:
    """The content terms of the question with the highest idf among those that the index holds."""
    held = [term for term in content_terms(question, min_token_len) if sparse.document_frequency(term)]
    count = min(MOST_RARE, math.ceil(len(held) * RARE_SHARE))
    return tuple(sorted(held, key=lambda term: -idf(sparse, term))[:count])


def _straddles(pair: str, question: str, rewrite: str) -> bool:
    """Whether a pair of Chinese characters is no word but the seam of two, one of which the rewrite has: the 茶用 of
    绿茶用水 where it says 绿茶."""
    at = question.find(pair)
    beside = (question[max(0, at - 1) : at + 1], question[at + 1 : at + 3])
    return at >= 0 and any(len(other) == 2 and language_of(other) == CJK and other in rewrite for other in beside)


def _folded(text: str) -> str:
    """`text` as its terms are, so that they are found in it: traditional characters as simplified ones."""
    return simplified(fold(text))


def _as_typed(term: str, question: str) -> str:
    """The word of the question that a term stands for."""
    return next((question[token.start : token.end] for token in tokenize(question) if token.term == term), term)
