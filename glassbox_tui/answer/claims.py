"""Each sentence of an answer, tied to the sentence of the evidence that supports it best, with a verdict.

Support is the mean of two: late interaction (each token of the claim meets its best token in the source, levelled by
language) and idf-weighted coverage (the share of the claim's words the source holds). Across languages words do not
meet; there the sentences' own vectors join late interaction, with thresholds of their own. A number, name or quotation
that the source does not hold takes most of the support away: that is what embeddings do not see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.answer.details import exchanged_names, missing, odd_words
from glassbox_tui.answer.orders import ordered
from glassbox_tui.answer.passages import Passage, meetings, passages
from glassbox_tui.answer.quoting import quotes
from glassbox_tui.answer.statements import Statement, said
from glassbox_tui.index.sparse import idf
from glassbox_tui.models.e5 import NAME as E5_NAME
from glassbox_tui.models.entries import E5, HASHING
from glassbox_tui.models.levelling import end_of
from glassbox_tui.notes.lines import line_range
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.query import Query, read_query
from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.text.language import language_of
from glassbox_tui.text.tokens import content_terms, tokenize

VERDICTS = ("supported", "weak", "unsupported")
# What a missing detail leaves of the support: a copy that is word for word but for a number falls below any threshold.
DETAIL_FACTOR = 0.35
# The same for words that a claim adds to a source it otherwise copies. Such a claim is weak at best.
ODD_FACTOR = 0.75
# Of the best sentences, how many are looked at for the claim's details.
LOOKED_AT = 3
# Of the best sentences in another language, how many are encoded (some milliseconds each) to be compared as a whole;
# what the cosine adds, and the cosine that adds nothing: about the mean of the best sentences of claims from elsewhere.
ENCODED = 5
COSINE_SHARE, USUAL_COSINE = 0.5, 0.9


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """The sentence of the evidence that supports a claim best. `number`: its [n] in the answer, None if it has none."""

    number: int | None
    uid: str
    path: str
    lines: tuple[int, int]
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer and what the evidence says to it.

    `support` is in [0, 1]; `verdict` is one of VERDICTS; `missing` are its numbers, names and quotations that the
    source does not hold, and words that it adds to a source it otherwise copies. `cited` are the numbers it gives;
    `citation` is "right", "wrong" (what it cites does not support it, other evidence does), "missing" (it cites nothing
    though there is support) or "" (no support to cite).
    """

    text: str
    support: float
    verdict: str
    source: ClaimSource | None
    missing: tuple[str, ...] = ()
    cited: tuple[int, ...] = ()
    citation: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of the evidence. `around`: it with its neighbours and its heading, where details may stand."""

    hit: Hit
    start: int
    end: int
    around: str
    language: str

    @property
    def text(self) -> str:
        return self.hit.text[self.start : self.end]


def check(
    claims: Sequence[Statement], evidence: Sequence[Hit], cited: Mapping[int, Hit], engine: Engine
) -> tuple[Claim, ...]:
    """Hold each claim against the evidence. `cited`: what each number of the answer stands for, also in `evidence`."""
    held = _Evidence.of(evidence, engine)
    return tuple(_checked(claim, held, cited, engine) for claim in claims if content_terms(claim.text))


@dataclass(frozen=True, slots=True)
class _Evidence:
    sentences: tuple[_Sentence, ...]
    spans: tuple[tuple[tuple[int, int], ...], ...]  # a hit's, in the order of `sentences`
    passages: Sequence[Passage] | None
    terms: tuple[frozenset[str], ...]
    thresholds: Mapping[str, float]

    @classmethod
    def of(cls, hits: Sequence[Hit], engine: Engine) -> _Evidence:
        spans = tuple(tuple(quotes(hit.text)) for hit in hits)
        found = tuple(_sentence(hit, own, at) for hit, own in zip(hits, spans, strict=True) for at in range(len(own)))
        entry = E5 if engine.embedder.name == E5_NAME else HASHING
        # A model whose token scores were never held against labelled claims is not asked: words alone judge.
        tokens = passages(hits, engine) if entry is not HASHING else None
        terms = tuple(frozenset(token.term for token in tokenize(sentence.text)) for sentence in found)
        return cls(found, spans, tokens, terms, entry.claims)


def _sentence(hit: Hit, spans: Sequence[tuple[int, int]], at: int) -> _Sentence:
    first, last = spans[max(0, at - 1)][0], spans[min(len(spans) - 1, at + 1)][1]
    around = "\n".join([hit.title, *hit.heading, hit.text[first:last]])
    return _Sentence(hit, *spans[at], around, language_of(hit.text))


def _checked(claim: Statement, evidence: _Evidence, cited: Mapping[int, Hit], engine: Engine) -> Claim:
    if not evidence.sentences:
        return Claim(claim.text, 0.0, "unsupported", None, cited=claim.cited)
    scores = supports(said(claim.text), evidence, engine)
    best = _judged(claim, evidence, scores, range(len(scores)))
    mine = {cited[n].uid for n in claim.cited if n in cited}
    own = [at for at, sentence in enumerate(evidence.sentences) if sentence.hit.uid in mine]
    by_cited = _judged(claim, evidence, scores, own) if own else None
    if by_cited is not None and VERDICTS.index(by_cited.verdict) <= VERDICTS.index(best.verdict):
        found, status = by_cited, "right"
    else:
        found, status = best, "wrong" if claim.cited else "missing"
    numbers = [n for n in (*claim.cited, *cited) if found.source and n in cited and cited[n].uid == found.source.uid]
    source = replace(found.source, number=numbers[0] if numbers else None) if found.source else None
    return replace(found, source=source, citation="" if found.verdict == "unsupported" else status)


def _judged(claim: Statement, evidence: _Evidence, scores: NDArray[np.float64], among: Sequence[int]) -> Claim:
    """The claim as the best of these sentences supports it, details included."""
    order = sorted(among, key=lambda at: -scores[at])[:LOOKED_AT]
    judged = [(at, *_with_details(said(claim.text), evidence.sentences[at], float(scores[at]))) for at in order]
    at, support, lost = max(judged, key=lambda row: row[1])
    sentence = evidence.sentences[at]
    hit = sentence.hit
    first, last = line_range(hit.text, sentence.start, sentence.end)
    lines = (hit.lines[0] - 1 + first, hit.lines[0] - 1 + last)
    source = ClaimSource(None, hit.uid, hit.path, lines, hit.page, " ".join(sentence.text.split()))
    across = language_of(claim.text) != sentence.language
    verdict = _verdict(support, across and evidence.passages is not None, evidence.thresholds)
    if verdict == "supported" and (lost or ordered(said(claim.text), sentence.text)):
        verdict = "weak"
    return Claim(claim.text, round(support, 4), verdict, source, lost, claim.cited)


def _with_details(claim: str, sentence: _Sentence, score: float) -> tuple[float, tuple[str, ...]]:
    """The support with what the source lacks of the claim taken off, and that."""
    lost = missing(claim, sentence.around)
    odd = (*odd_words(claim, sentence.around), *exchanged_names(claim, sentence.text, sentence.around))
    doubtful = odd or ordered(claim, sentence.text)
    factor = DETAIL_FACTOR if lost else ODD_FACTOR if doubtful else 1.0
    return max(0.0, min(1.0, score * factor)), tuple(dict.fromkeys([*lost, *odd]))


def _verdict(support: float, across: bool, thresholds: Mapping[str, float]) -> str:
    kind = "across" if across else "within"
    if support >= thresholds[f"supported {kind}"]:
        return "supported"
    return "weak" if support >= thresholds[f"weak {kind}"] else "unsupported"


def supports(claim: str, evidence: _Evidence, engine: Engine) -> NDArray[np.float64]:
    """How well each sentence of the evidence supports the claim, details aside."""
    sparse = engine.snapshot.sparse
    weights = {term: idf(sparse, term) for term in content_terms(claim)}
    total = sum(weights.values()) or 1.0
    words = np.array([sum(w for term, w in weights.items() if term in held) / total for held in evidence.terms])
    if evidence.passages is None:
        return words
    query = read_query(claim, engine.embedder, sparse, engine.settings.min_token_len)
    tokens = np.concatenate([_met(query, *pair) for pair in zip(evidence.passages, evidence.spans, strict=True)])
    same = np.array([sentence.language == language_of(claim) for sentence in evidence.sentences])
    mixed: NDArray[np.float64] = np.where(same, (tokens + words) / 2, tokens)
    far = np.flatnonzero(~same)
    near = far[np.argsort(-tokens[far], kind="stable")]
    for at in near[:ENCODED]:
        mixed[at] += COSINE_SHARE * (_cosine(query, evidence.sentences[at], engine) - USUAL_COSINE)
    # What was not encoded ranks behind what was.
    mixed[near[ENCODED:]] -= COSINE_SHARE * (1 - USUAL_COSINE)
    return mixed


def _cosine(query: Query, sentence: _Sentence, engine: Engine) -> float:
    """The cosine of the claim and a sentence, both as queries (one says what the other says), levelled by language."""
    if query.asked is None:
        return USUAL_COSINE
    vector = engine.embedder.embed_query(sentence.text)
    return float(query.asked @ vector) + query.dense_level(query.asked).language(end_of(sentence.language))


def _met(query: Query, passage: Passage, spans: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Late interaction of the claim with each span of the passage (spans,)."""
    if query.tokens is None or not spans:
        return np.zeros(len(spans))
    weights = query.tokens.weights
    shares = weights / weights.sum() if weights.any() else np.full(len(weights), 1 / max(1, len(weights)))
    scores: NDArray[np.float64] = meetings(query.tokens.rows, passage, spans) @ shares
    return scores + query.tokens.level.language(end_of(passage.language))
