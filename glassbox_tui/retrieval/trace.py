"""The Trace: the one product of the pipeline, and its JSON both ways.

A run yields one frozen Trace; the table, the rank flow, the loop log, JSON and reports all render it, and none of them
reaches back into the engine. It replays without its notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TRACE_VERSION = 1
STAGES = ("bm25", "dense", "fused", "rerank", "final")
# `translated` runs only where there are notes in another language than the question.
ALL_STAGES = ("bm25", "translated", "dense", "fused", "rerank", "final")
USED = "used"  # the outcome of an attempt whose reply became a round
# Why no further round was run; "" while one may follow (or in a Trace from before this was recorded).
ENDS = ("sufficient", "rewrites-used", "no-idea", "repeated", "no-change", "stopped", "one-round")
ENDS = ("sufficient", "rewrites-used", "no-idea", "repeated", "stopped", "one-round", "vectors-missing")
# What a verdict comes to: the answer is in the evidence, only its subject is, or neither. "" where it cannot be told.
ANSWERED, RELATED, NOTHING = LEVELS = ("answered", "related", "nothing")
VECTORS_MISSING = "not all notes can be compared by meaning yet"
START = "start"  # the signal that stands for what is known before any other: its value is None


class TraceError(ValueError):
    """A document is not a Trace this version can read; the message says where it stops making sense."""


@dataclass(frozen=True, slots=True)
class Part:
    """One summand of a score. The parts of a candidate add up to its score.

    `detail` is how the value came about ("1/(60+1)", the word a query token met). `span` is the [start, end) inside
    the hit's text that it speaks of, where there is one.
    """

    name: str
    value: float
    detail: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk's place in one stage: 1-based rank, score, and the parts of the score (empty: not explained)."""

    uid: str
    rank: int
    score: float
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage's full candidate list, best first. `ms` is wall time.

    `lacking` are candidates of the lists before that have no vector (dense) or no token codes (rerank) yet: the stage
    could not see them, and when its list is fused they keep their place (see `retrieval.places`).
    """

    name: str
    ms: float
    candidates: tuple[Candidate, ...]
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stage put a chunk."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One of the evidence chunks: where it is from, its text, and its place in every stage (None: not seen there).

    `stages` names those of STAGES, and `translated` if it ran.

    `start`, `end` are character offsets into the note's text; `lines` is 1-based and inclusive; `page` is 1-based,
    None where the note has no pages. `content` identifies the text across edits: selection and labels follow it.
    """

    uid: str
    path: str
    title: str
    heading: tuple[str, ...]
    text: str
    start: int
    end: int
    lines: tuple[int, int]
    page: int | None
    content: str
    stages: Mapping[str, Place | None]


@dataclass(frozen=True, slots=True)
class AddedTerm:
    """A term that was added to a round's query, its weight (1 = as the user's own), and where it came from.

    `surface` is the word as it stands in the first source, for people: "leases" for the stem leas, 分布式锁 for each of
    its pairs; "": the term itself. No sources: a person added it, in a round of origin llm the model, in one of origin
    spelling, translation or synonyms the person's own synonyms.
    """

    term: str
    weight: float
    sources: tuple[str, ...]
    surface: str = ""


@dataclass(frozen=True, slots=True)
class Signal:
    """One summand of a verdict's log-odds: the signal's value, its share, and how the value came about.

    A positive share speaks for an answer, a negative one against it. All shares add up to the log-odds.
    """

    name: str
    value: float | None
    share: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on a round's evidence.

    `probability` that the answer is in the evidence is the logistic of `log_odds`, the sum of the shares of `signals`;
    `level` is one of LEVELS. None and "" where thresholds decide, or where it cannot be told yet: `reasons` says why.

    `coverage`, `idf_coverage` are in [0, 1]; None: the query has no content terms. `top_dense`, `top_rerank` are the
    best scores of those stages, dense with what the person asked and not with the round's moved query; None: the stage
    did not run. `thresholds` has a key per signal that counts where
    thresholds decide. `missing` are the content words found nowhere in the evidence, as the person wrote them.
    """

    coverage: float | None
    idf_coverage: float | None
    top_dense: float | None
    top_rerank: float | None
    thresholds: Mapping[str, float]
    sufficient: bool
    reasons: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    level: str = ""
    probability: float | None = None
    log_odds: float | None = None
    signals: tuple[Signal, ...] = ()

    @property
    def unknown(self) -> bool:
        """Whether nothing can be told yet, for lack of vectors."""
        return VECTORS_MISSING in self.reasons


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition of the query on every chunk that a stage may see: `kind` is "phrase" (must stand there) or "exclude".

    `text` is as a person types it; `removed` is how many of the chunks that are searched it alone leaves out.
    """

    kind: str
    text: str
    removed: int


@dataclass(frozen=True, slots=True)
class Round:
    """One pass through the stages with one query.

    `origin`: user, spelling, translation, synonyms, prf, llm, manual, decompose or hyde. `why` says what is wrong with
    the round before and what this one does about it, a sentence a line ("": nothing is known). `judged_by` is the
    question that the evidence is judged by: the one asked, or that one with its spelling mended ("": not recorded).
    """

    number: int
    query: str
    origin: str
    terms: tuple[str, ...]
    added_terms: tuple[AddedTerm, ...]
    stages: tuple[Stage, ...]
    hits: tuple[Hit, ...]
    grade: Grade
    filters: tuple[Filter, ...] = ()
    why: str = ""
    judged_by: str = ""

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, or None if it did not run."""
        return next((s for s in self.stages if s.name == name), None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A language model was asked for the query of round `round`: `how` is one of `settings.REWRITERS`.

    `prompt` is what it was told, (role, text) a turn; `reply` what it wrote, untouched. `outcome` is USED, or a
    sentence that says why the reply was rejected (feedback or nothing took its place). `ms` is wall time.
    """

    round: int
    how: str
    model: str
    prompt: tuple[tuple[str, str], ...]
    reply: str
    outcome: str
    ms: float


def decided(last: Round) -> str:
    """A Trace's `decision`, which its last round makes."""
    return "answer" if last.grade.sufficient else "insufficient"


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The index a Trace was made from. `dense_coverage` is the share of chunks that have a vector, 0 to 1."""

    notes: int
    chunks: int
    dense_coverage: float
    embedder: str
    reranker: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one search did. `notices` are the fallbacks and warnings, each a sentence for people.

    `ended` is one of ENDS. `attempts` are the rewrites that a language model was asked for, in order.
    """

    query: str
    settings: Mapping[str, Any]
    index: IndexInfo
    rounds: tuple[Round, ...]
    decision: str
    notices: tuple[str, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    version: int = TRACE_VERSION
    ended: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def last(self) -> Round:
        """The round whose evidence the decision is about."""
        return self.rounds[-1]

    @property
    def asked(self) -> str:
        """The question that the last round's evidence is about: as typed, or mended."""
        return self.last.judged_by or self.query

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.last.hits

    @property
    def xray(self) -> str:
        """The whole run as plain text, every stage of every round."""
        # The one upward import (pyproject lists it): the property is a documented door to the views room.
        from glassbox_tui.views.xray import xray

        return xray(self)
