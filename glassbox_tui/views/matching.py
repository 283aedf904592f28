"""What of a hit's text answered the query: spans of matched terms, and the word that each query token met.

Everything is read off the Trace. Index terms (stems, CJK pairs) and model tokens (pieces of words) are turned back into
the words that people typed and see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from glassbox_tui.retrieval.trace import Candidate, Hit, Part, Round

Span = tuple[int, int]

STRONGEST = 3  # late-interaction matches that are marked in the text
# How `retrieval.stages` words what a query token met.
_MET = re.compile(r"met (.*) at (-?\d+(?:\.\d+)?)(?:, (.*)stands here)?", re.DOTALL)
# CJK characters are words of their own here: a token's span is never widened over them.
_CJK = "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3105-\u318e\u31f0-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_LETTERS = re.compile(f"[^\\W{_CJK}]")


@dataclass(frozen=True, slots=True)
class Meeting:
    """One query token: its `piece` of the query's word, the word of the chunk it `met` at this cosine, its share.

    `stands`: "" if its word stands in the chunk, "防守 = defend" if a translation does; None if neither.
    """

    piece: str
    met: str
    cosine: float | None
    span: Span | None
    share: float
    stands: str | None = None


@dataclass(frozen=True, slots=True)
class WordShare:
    """What one word of the query adds to the rerank score: the sum of its tokens' shares.

    Without meetings it is a summand that no token made (`note` says what: levelling by language, a model's score).
    """

    word: str
    share: float
    meetings: tuple[Meeting, ...] = ()
    note: str = ""


def candidate(now: Round, stage: str, uid: str) -> Candidate | None:
    """The chunk's entry in a stage's list, or None."""
    ran = now.stage(stage)
    return None if ran is None else next((c for c in ran.candidates if c.uid == uid), None)


def matched_spans(hit: Hit, now: Round) -> list[Span]:
    """Where the hit's text holds terms that BM25 matched, overlapping ones joined, in order."""
    found = candidate(now, "bm25", hit.uid)
    if found is None:
        return []
    from glassbox_tui.text.tokens import tokenize  # its tables would delay the app's first paint

    # `fusio… = fusion`: what was typed, and the terms of the chunk that it met.
    terms = {term for p in found.parts for term in p.name.rpartition(" = ")[2].split(", ")} or set(now.terms)
    return joined((t.start, t.end) for t in tokenize(hit.text) if t.term in terms)


def strongest_spans(hit: Hit, now: Round, count: int = STRONGEST) -> list[Span]:
    """Where the words of the `count` strongest late-interaction matches stand in the hit's text, strongest first."""
    found = candidate(now, "rerank", hit.uid)
    parts = [] if found is None else sorted(found.parts, key=lambda p: -p.value)
    spans = (p.span for p in parts if p.span is not None and 0 <= p.span[0] < p.span[1] <= len(hit.text))
    return list(dict.fromkeys(widened(hit.text, *span) for span in spans))[:count]


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, overlapping or touching ones made one."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def surface_forms(
    now: Round, query: str, texts: Iterable[str] = (), say: Callable[[str, str], str] = str.format
) -> Mapping[str, str]:
    """Each term of the round as it was written: in `query` (fusing for fuse), else in one of `texts`, else itself.

    What a value was read as, which a spelling does not tell, is said instead: date 2024-01-16.
    """
    from glassbox_tui.text.tokens import tokenize
    from glassbox_tui.text.values import describe

    wanted = dict.fromkeys([*now.terms, *(t.term for t in now.added_terms)])
    found = {term: shown for term in wanted if (shown := describe(term, say)) != term}
    for text in (query, now.query, *texts):
        if len(found) == len(wanted):
            break
        for token in tokenize(text):
            if token.term in wanted and token.term not in found:
                found[token.term] = text[token.start : token.end]
    return {term: found.get(term, term) for term in wanted}


def token_shares(hit: Hit, now: Round, query: str) -> tuple[WordShare, ...]:
    """The rerank score of a hit by the words of `query` (what the person asked), in their order. Shares add up to it.

    Empty where the stage did not run, did not see the chunk, or kept no parts.
    """
    found = candidate(now, "rerank", hit.uid)
    if found is None:
        return ()
    tokens = [p for p in found.parts if _MET.fullmatch(p.detail) or (not p.detail and p.name.strip() in query)]
    others = [p for p in found.parts if p not in tokens]
    words = tuple(
        WordShare(word, sum(p.value for p in parts), tuple(_meeting(p, hit) for p in parts))
        for word, parts in _by_word(tokens, query)
    )
    return (*words, *(WordShare(p.name, p.value, note=p.detail) for p in others))


def _by_word(tokens: Sequence[Part], query: str) -> list[tuple[str, list[Part]]]:
    """The tokens' parts under the words of the query that they are pieces of."""
    groups: list[tuple[str, list[Part]]] = []
    blanks: list[Part] = []  # the blank before a word may be a token of its own: it counts as the word's
    at, word_of_last = 0, None
    for part in tokens:
        piece = part.name.strip()
        if not piece:
            blanks.append(part)
            continue
        start = query.find(piece, at)
        word = None if start < 0 else widened(query, start, start + len(piece))
        at = at if start < 0 else start + len(piece)
        if word is not None and word == word_of_last and not blanks:
            groups[-1][1].append(part)
        else:
            # A piece that the model read otherwise than the query has it stands for itself.
            groups.append((piece if word is None else query[slice(*word)], [*blanks, part]))
        blanks, word_of_last = [], word
    return [*groups, ("", blanks)] if blanks else groups


def widened(text: str, start: int, end: int) -> Span:
    """The span grown to the whole word it is a part of. CJK characters are not grown over."""
    while 0 < start < end and _LETTERS.match(text[start]) and _LETTERS.match(text[start - 1]):
        start -= 1
    while start < end < len(text) and _LETTERS.match(text[end - 1]) and _LETTERS.match(text[end]):
        end += 1
    return start, end


def _meeting(part: Part, hit: Hit) -> Meeting:
    told = _MET.fullmatch(part.detail)
    met, cosine = (told[1], float(told[2])) if told else ("", None)
    span = part.span
    if span is not None and not 0 <= span[0] < span[1] <= len(hit.text):
        span = None
    if span is not None:
        a, b = widened(hit.text, *span)
        met = hit.text[a:b]
    stands = told[3].strip() if told and told[3] is not None else None
    return Meeting(part.name.strip(), met, cosine, span, part.value, stands)
