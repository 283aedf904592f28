"""The verdict on a round's evidence: a calibrated probability that the answer is in it, from a few signals.

log-odds = start + the sum over signals of weight * (value - usual value), and the probability is their logistic. The
weights are fitted (`lab.fit_verdict`) and stand in `models.fitted`. What is looked at is the best chunk, the notes of
the first LEADING chunks, and how far they stand out from the rest of the first DEPTH: never the number of hits shown.

words           share of the idf weight of the question's content words that one note holds in the leading chunks
words across    the same, where the best chunk is in another language than the question
rare            what the missing words weigh, the rare ones most (the square of idf over the highest idf)
literals        -1 where a version, date, id or amount is not held whole
named           1 where the best chunk holds every rare thing that the question names: a version, an id, a date, ...
names           what share of the names in the question the leading note lacks, negative: capitals inside a sentence
meaning         as words, but a word also counts as far as the best chunk's tokens come near it
words margin    words of the best note, less those of the third best
dense           the best chunk's levelled cosine, less that of an average text
dense margin    the same, less that of the third best note
rerank margin   as dense margin, by the reranker's score; of late interaction, the highest similarity
agreement       how many of the lists bm25, dense and rerank have the best chunk first
other language  how far the best chunk is in another language than the question, 0 to 1
chinese         1 where the question is Chinese, whose words are cut and held in another way

A margin is held against the third best note and not the second, for a fact may be written down twice. Where there are
not that many notes, an average text stands in for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import SparseIndex, idf
from glassbox_tui.models.calibration import Calibration
from glassbox_tui.models.late_interaction import best_similarities, contributions
from glassbox_tui.models.relevance import sigmoid
from glassbox_tui.models.verdict_weights import VerdictWeights
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.reasons import AGAINST, UNSURE
from glassbox_tui.retrieval.stages import Meetings, Ranking
from glassbox_tui.retrieval.trace import ANSWERED, NOTHING, RELATED, START, Grade, Signal
from glassbox_tui.text.content import Word, content_words
from glassbox_tui.text.language import CJK, language_of, language_share
from glassbox_tui.text.values import describe

DEPTH = 30  # chunks of the final order that a verdict knows of
LEADING = 3  # chunks whose words count
RIVAL = 2  # which of the other notes a margin is held against: the second best of them
MOST_MARGIN = 0.25  # of a rerank score; more says nothing more
NEAR, SAME = 0.35, 0.65  # similarity at which a token begins to be near, and counts as the same word
TELLING = 0.25  # share of the log-odds from which a signal is named as a reason

# 3.3.4, 13 March 2024, DEC-0055, 77204981; not 50, the 15th, 2015年: counts and years are often left unsaid in a note.
_literal = re.compile(r"\d\D*[^\d\s]\D*\d|[^\W\d_][.-]?\d|\d{5}")

Span = tuple[int, int]
# uid -> the spans of the question that this chunk holds in other words: translated, or spelled in another way.
OtherwiseFn = Callable[[str], Sequence[Span]]


class Fact(NamedTuple):
    """A signal's value, and how it came about."""

    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a verdict looks at. `lists`: the stages that ran, by name.

    `dense`: of the first DEPTH of `final`, the levelled cosines with what was asked; empty: nothing to compare by.
    `meetings`: of late interaction, if it ran.
    """

    query: Query
    final: Ranking
    lists: Mapping[str, Ranking]
    dense: Mapping[str, float]
    meetings: Meetings
    snapshot: Snapshot
    min_token_len: int = 1
    otherwise: OtherwiseFn = lambda uid: ()


def judge(grade: Grade, seen: Seen, weights: VerdictWeights) -> Grade:
    """`grade` with the verdict in place of the thresholds' one."""
    found = facts(seen)
    if not found:
        return replace(grade, sufficient=False, thresholds={}, level=NOTHING)
    signals = tuple(
        Signal(name, found[name].value, weight * (found[name].value - usual), found[name].detail)
        for name, (weight, usual) in weights.signals.items()
        if name in found
    )
    signals = (Signal(START, None, weights.start), *signals)
    log_odds = sum(signal.share for signal in signals)
    probability = sigmoid(log_odds)
    level = ANSWERED if probability >= weights.answered else RELATED if probability >= weights.related else NOTHING
    sufficient = level == ANSWERED
    return replace(
        grade,
        sufficient=sufficient,
        thresholds={},
        reasons=() if sufficient else against(signals),
        level=level,
        probability=probability,
        log_odds=log_odds,
        signals=signals,
    )


def against(signals: Sequence[Signal]) -> tuple[str, ...]:
    """What speaks against the evidence, in words, the weightiest first."""
    telling = sorted((s for s in signals if s.name in AGAINST and s.share <= -TELLING), key=lambda s: s.share)
    return tuple(dict.fromkeys(AGAINST[signal.name] for signal in telling)) or (UNSURE,)


def facts(seen: Seen) -> dict[str, Fact]:
    """Every signal that can be read, by name; none where nothing was found."""
    pool = [candidate.uid for candidate in seen.final[:DEPTH]]
    if not pool:
        return {}
    best = seen.snapshot.chunk(pool[0])
    words = _beyond_phrases(content_words(seen.query.intent, seen.min_token_len), seen.query)
    apart = 1.0 - language_share(best.text, language_of(seen.query.intent))
    other = apart > 0.5
    found = {"other language": Fact(apart, f"the best chunk is in {best.language}" if other else "")}
    found["chinese"] = Fact(float(language_of(seen.query.intent) == CJK))
    found |= _words(words, pool, seen, other)
    found["named"] = _named(pool[0], seen)
    similar = _similarities(seen)
    lists = {name: seen.lists[name][0].uid for name in ("bm25", "dense", "rerank") if seen.lists.get(name)}
    if similar:
        lists["rerank"] = _nearest(similar, pool[0], seen)
    first = [name for name, uid in lists.items() if uid == pool[0]]
    found["agreement"] = Fact(float(len(first)), f"{', '.join(first) or 'none'} of {', '.join(lists) or 'none'}")
    if seen.dense:
        usual = average_dense(seen.query)
        if usual is not None:
            own = seen.dense.get(pool[0], usual)
            found["dense"] = Fact(own - usual, f"{own:.3f} against {usual:.3f}, an average text")
        found["dense margin"] = _margin(seen.dense, pool[0], lambda: average_dense(seen.query))
    rerank = similar or {candidate.uid: candidate.score for candidate in seen.lists.get("rerank", ())}
    if rerank:
        margin = _margin(rerank, lists["rerank"], lambda: average_late(seen.query) if seen.meetings else None)
        found["rerank margin"] = margin._replace(value=min(margin.value, MOST_MARGIN))
    return found


# -- words -----------------------------------------------------------------------------------------------------------


def _words(words: Sequence[Word], pool: Sequence[str], seen: Seen, other: bool) -> dict[str, Fact]:
    if not words:
        return {}
    sparse = seen.snapshot.sparse
    rows = np.array([seen.snapshot.row_of[uid] for uid in pool], dtype=np.int64)
    weight = {term: idf(sparse, term) for word in words for term in word.terms}
    present = {term: _present(sparse, term, rows) for term in weight}
    weights = np.array([sum(weight[term] for term in word.ways[0]) for word in words])
    of_chunk = np.array([_held(word, present, weight) for word in words])  # (words, pool)
    for i, uid in enumerate(pool):
        of_chunk[:, i] = np.maximum(of_chunk[:, i], _otherwise(words, seen.otherwise(uid)))
    total = float(weights.sum())
    share = weights @ of_chunk / total if total > 0 else of_chunk.mean(axis=0)
    # The leading note: the one whose leading chunks hold most of the words together.
    leading: dict[str, list[int]] = {}
    for i, uid in enumerate(pool[:LEADING]):
        leading.setdefault(_note(uid), []).append(i)
    unions = [_union(words, present, weight, of_chunk, chosen) for chosen in leading.values()]
    shares = [float(weights @ union / total) if total > 0 else float(union.mean()) for union in unions]
    top = int(np.argmax(shares))
    held, covered = unions[top], shares[top]
    highest = float(np.log1p((sparse.size + 0.5) / 0.5))
    relative = np.array([max(weight[term] for term in word.ways[0]) / highest for word in words])
    lost = [word.text for word, h in zip(words, held, strict=True) if h < 0.5]
    gone = [word.text for word, h in zip(words, held, strict=True) if h < 1.0 and _literal.search(word.text)]
    notes = dict(zip(pool, share.tolist(), strict=True))
    ahead = max(range(len(pool[:LEADING])), key=lambda i: share[i])
    detail = f"{covered:.2f} of their weight"
    found = {
        "words across" if other else "words": Fact(covered, detail),
        "rare": Fact(-float(np.mean((1.0 - held) * relative**2)), f"missing: {', '.join(lost)}" if lost else ""),
        "literals": Fact(-float(bool(gone)), f"missing: {', '.join(gone)}" if gone else ""),
        "words margin": _margin(notes, pool[ahead], lambda: 0.0),
        "names": _names(words, held, seen.query.intent),
    }
    near = _near(words, pool[0], seen)
    if near is not None:
        close = np.maximum(of_chunk[:, 0], near)
        value = float(weights @ close / total) if total > 0 else float(close.mean())
        found["meaning"] = Fact(value, f"{value:.2f} of their weight")
    return found


def _beyond_phrases(words: Sequence[Word], query: Query) -> Sequence[Word]:
    """Without the words of a phrase that is a filter, which every chunk holds that is left; all if those are all."""
    text, spans = query.intent.lower(), list[Span]()
    for phrase in (c.text.lower() for c in query.conditions if c.kind == "phrase"):
        at = text.find(phrase)
        while at >= 0:
            spans.append((at, at + len(phrase)))
            at = text.find(phrase, at + len(phrase))
    left = [word for word in words if not any(a <= word.start and word.end <= b for a, b in spans)]
    return left or words


def _named(best: str, seen: Seen) -> Fact:
    """Whether the best chunk holds all the rare things that the question names."""
    row = np.array([seen.snapshot.row_of[best]])
    things = seen.query.literals
    if not things or not all(_present(seen.snapshot.sparse, term, row)[0] for term in things):
        return Fact(0.0)
    return Fact(1.0, f"stands there: {', '.join(map(describe, things))}")


def _names(words: Sequence[Word], held: NDArray[np.float64], question: str) -> Fact:
    named = [(word, h) for word, h in zip(words, held.tolist(), strict=True) if _is_name(word, question)]
    lacking = [word.text for word, h in named if h < 0.5]
    return Fact(-len(lacking) / len(named) if lacking else 0.0, f"missing: {', '.join(lacking)}" if lacking else "")


def _is_name(word: Word, question: str) -> bool:
    """A capital letter inside a sentence, in a word that is not all capitals."""
    before = question[: word.start].rstrip(" \"'“‘(")
    inside = bool(before) and before[-1] not in ".!?:;。！？：；\n"
    return inside and word.text[:1].isupper() and not word.text.isupper() and not question.istitle()


def _present(sparse: SparseIndex, term: str, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the chunks `rows` hold the term."""
    holders = sparse.rows[sparse.postings(term)]
    at = np.searchsorted(holders, rows)
    found: NDArray[np.bool_] = np.zeros(len(rows), dtype=bool)
    inside = at < len(holders)
    found[inside] = holders[at[inside]] == rows[inside]
    return found


def _held(word: Word, present: Mapping[str, NDArray[np.bool_]], weight: Mapping[str, float]) -> NDArray[np.float64]:
    """How much of the word each chunk holds, 0 to 1: the idf share of its best way."""
    ways = []
    for way in word.ways:
        terms = np.array([weight[term] for term in way])
        ways.append(terms @ np.array([present[term] for term in way]) / max(float(terms.sum()), 1e-9))
    held: NDArray[np.float64] = np.max(ways, axis=0)
    return held


def _union(
    words: Sequence[Word],
    present: Mapping[str, NDArray[np.bool_]],
    weight: Mapping[str, float],
    of_chunk: NDArray[np.float64],
    chosen: Sequence[int],
) -> NDArray[np.float64]:
    """How much of each word the chosen chunks hold together."""
    if len(chosen) == 1:
        return of_chunk[:, chosen[0]]
    together = {term: np.array([found[list(chosen)].any()]) for term, found in present.items()}
    held = np.array([_held(word, together, weight)[0] for word in words])
    return np.asarray(np.maximum(held, of_chunk[:, list(chosen)].max(axis=1)))


def _otherwise(words: Sequence[Word], spans: Sequence[Span]) -> NDArray[np.float64]:
    """The share of each word's characters that these spans cover."""
    held = np.zeros(len(words))
    for i, word in enumerate(words if spans else ()):
        covered = sum(any(a <= at < b for a, b in spans) for at in range(word.start, word.end))
        held[i] = covered / max(1, word.end - word.start)
    return held


def _near(words: Sequence[Word], uid: str, seen: Seen) -> NDArray[np.float64] | None:
    """How near the chunk's tokens come to each word, 0 to 1; None where late interaction did not see it."""
    tokens, meeting = seen.query.tokens, seen.meetings.get(uid)
    if tokens is None or meeting is None or not tokens.spans:
        return None
    sims, near = meeting[1].astype(np.float64), np.zeros(len(words))
    starts, ends = (np.array(side) for side in zip(*tokens.spans, strict=True))
    for i, word in enumerate(words):
        own = (starts < word.end) & (ends > word.start)
        if own.any():
            mean = float(np.average(sims[own], weights=tokens.weights[own] + 1e-9))
            near[i] = min(1.0, max(0.0, (mean - NEAR) / (SAME - NEAR)))
    return near


def _similarities(seen: Seen) -> dict[str, float]:
    """The late-interaction scores without what words add to them, which the other signals count; none without it."""
    tokens = seen.query.tokens
    if tokens is None or not seen.meetings:
        return {}
    scores = {}
    for candidate in seen.lists.get("rerank", ()):
        sims = seen.meetings[candidate.uid].sims
        level = tokens.level.language(seen.snapshot.place(candidate.uid))
        scores[candidate.uid] = float(contributions(sims, tokens.weights).sum()) + level
    return scores


def _nearest(similar: Mapping[str, float], best: str, seen: Seen) -> str:
    """The chunk of the highest similarity among those that could be the best one: in its language, and, where the
    question names a rare thing, with that thing.
    """
    named = {candidate.uid for candidate in seen.lists.get("literal", ())}
    language = seen.snapshot.chunk(best).language
    like = [uid for uid in similar if seen.snapshot.chunk(uid).language == language and (not named or uid in named)]
    return max(like or similar, key=lambda uid: similar[uid])


# -- margins ---------------------------------------------------------------------------------------------------------


def _margin(scores: Mapping[str, float], uid: str, average: Callable[[], float | None]) -> Fact:
    """How far the chunk is ahead of the best chunk of the RIVAL-th best other note.

    `average`: an average text's score, which stands in where there are not so many; None: the least score does.
    """
    own = _note(uid)
    others: dict[str, float] = {}
    for name, score in scores.items():
        note = _note(name)
        if note != own and score > others.get(note, -np.inf):
            others[note] = score
    rivals = sorted(others.values(), reverse=True)
    if len(rivals) >= RIVAL:
        rival, what = rivals[RIVAL - 1], "the third note"
    else:
        usual = average()
        rival, what = (min(scores.values()), "the last chunk") if usual is None else (usual, "an average text")
    return Fact(
        scores.get(uid, min(scores.values())) - rival, f"{scores.get(uid, 0.0):.3f} against {rival:.3f}, {what}"
    )


def average_dense(query: Query) -> float | None:
    """The cosine of an average text with what was asked: over languages, the average of the averages."""
    if query.calibration is None or query.asked is None:
        return None
    return float(np.mean([float(mean @ query.asked) for mean in query.calibration.means.values()]))


def average_late(query: Query) -> float | None:
    """The late-interaction score of an average text."""
    tokens, calibration = query.tokens, query.calibration
    if tokens is None or calibration is None or not tokens.words:
        return None
    scores = contributions(best_similarities(tokens.rows, calibration.tokens, calibration.offsets), tokens.weights)
    return _by_language(scores.sum(axis=1), calibration)


def _by_language(scores: NDArray[np.float64], calibration: Calibration) -> float:
    languages = np.array(calibration.languages)
    return float(np.mean([scores[languages == language].mean() for language in calibration.means]))


def _note(uid: str) -> str:
    return uid.rpartition("#")[0]
