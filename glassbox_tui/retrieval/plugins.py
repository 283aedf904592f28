"""Parts of a person's own in the pipeline: their lists and verdicts become stages and grades of the same Trace.

A plug-in may raise anything or return nonsense. That never takes a search down: the built-in way serves, and a notice
says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.scope import within
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.models.llm_judge import LLMJudge
from glassbox_tui.models.protocols import FusionStrategy, Judge, QueryTransform, Retriever
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.retrieval.trace import Candidate, Grade, Part


@dataclass(frozen=True, slots=True)
class Plugins:
    """What was injected; None or empty: the built-in way."""

    retrievers: tuple[Retriever, ...] = ()
    fusion: FusionStrategy | None = None
    transform: QueryTransform | None = None
    judge: Judge | None = None


NO_PLUGINS = Plugins()


def retrieved(
    retriever: Retriever,
    query: str,
    k: int,
    snapshot: Snapshot,
    notices: list[str],
    scope: str = "",
    lets_in: Callable[[str], bool] | None = None,
) -> tuple[Candidate, ...] | None:
    """The retriever's ranking as candidates, in its own order; None if it failed. Unknown, repeated uids are dropped,
    and so are those outside the scope or not let in by the query's conditions, of which it knows nothing.

    A retriever that only ranks gets 1 / rank for a score: an order, not a measure.
    """

    def inside(uid: str) -> bool:
        return within(uid.rpartition("#")[0], scope) and (lets_in is None or lets_in(uid))

    try:
        found = _enough(retriever, query, k, len(snapshot.chunks), inside)
    except Exception as error:
        notices.append(f"the retriever {retriever.name} failed ({_said(error)}): its list is left out")
        return None
    known = {uid: score for uid, score in reversed(found) if uid in snapshot.row_of}
    order = [uid for uid in dict.fromkeys(uid for uid, _ in found) if uid in known and inside(uid)][:k]
    strangers = len({uid for uid, _ in found} - known.keys())
    if strangers:
        notices.append(f"the retriever {retriever.name} named {strangers} chunks that are not in the index")
    return tuple(
        Candidate(uid, rank, known[uid], (Part(retriever.name, known[uid]),)) for rank, uid in enumerate(order, start=1)
    )


def _enough(
    retriever: Retriever, query: str, k: int, size: int, inside: Callable[[str], bool]
) -> list[tuple[str, float]]:
    """Its list, asked for deeper and deeper until k of it are inside, or it has no more, or all `size` are asked."""
    depth = k
    while True:
        found = [_uid_and_score(item, rank) for rank, item in enumerate(retriever.retrieve(query, depth), start=1)]
        if len({uid for uid, _ in found if inside(uid)}) >= k or len(found) < depth or depth >= size:
            return found
        depth = min(4 * depth, size)


def _uid_and_score(item: str | tuple[str, float], rank: int) -> tuple[str, float]:
    if isinstance(item, str):
        return item, 1.0 / rank
    uid, score = item
    return uid, _finite(score)


def fused_by(
    strategy: FusionStrategy, fused: Sequence[Candidate], rerank: Sequence[Candidate] | None, notices: list[str]
) -> tuple[Candidate, ...] | None:
    """The final list as the strategy has it, what it leaves out behind; None if it failed."""
    lists = {"fused": [(c.uid, c.score) for c in fused]}
    if rerank is not None:
        lists["rerank"] = [(c.uid, c.score) for c in rerank]
    try:
        given = {uid: _finite(score) for uid, score in reversed(list(strategy.fuse(lists)))}
        strangers = given.keys() - {c.uid for c in fused}
        if strangers:
            raise ValueError(f"it made up {sorted(strangers)[0]!r}")
    except Exception as error:
        notices.append(f"the fusion {strategy.name} failed ({_said(error)}): reciprocal rank fusion serves")
        return None
    # dict order: later duplicates were overwritten by earlier ones; the strategy's own order is restored by score.
    order = sorted(given, key=lambda uid: -given[uid])
    floor = min(given.values(), default=0.0)
    left_out = [c.uid for c in fused if c.uid not in given]
    return tuple(
        Candidate(uid, rank, score, (Part(strategy.name, score),))
        for rank, (uid, score) in enumerate([*((u, given[u]) for u in order), *((u, floor) for u in left_out)], start=1)
    )


def transformed(transform: QueryTransform, query: str, evidence: Sequence[str], notices: list[str]) -> str | None:
    """The rewritten query; None if there is none or it failed."""
    try:
        text = transform.transform(query, evidence)
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{type(text).__name__} came back, not a text")
    except Exception as error:
        notices.append(f"the query transform {transform.name} failed ({_said(error)}): feedback serves")
        return None
    return text.strip() or None if text else None


def judged(
    judge: Judge,
    query: str,
    evidence: Sequence[str],
    verdict: Grade,
    notices: list[str],
    cancelled: CancelledFn = lambda: False,
) -> Grade:
    """The grade with the judge's word in place of the thresholds'. Raises Cancelled."""
    try:
        if isinstance(judge, LLMJudge):  # which takes so long that it must hear of it
            sufficient = judge.judge(query, evidence, cancelled)
        else:
            sufficient = bool(judge.judge(query, evidence))
    except Cancelled:
        raise
    except Exception as error:
        notices.append(f"the judge {judge.name} failed ({_said(error)}): the built-in verdict stands")
        return verdict
    said = f"{judge.name} says sufficient" if sufficient else f"{judge.name} says insufficient"
    return replace(verdict, sufficient=sufficient, reasons=(said, *verdict.reasons))


def _finite(score: float) -> float:
    value = float(score)
    if not math.isfinite(value):
        raise ValueError(f"the score {value} is not a finite number")
    return value


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, GlassboxError) else f"{type(error).__name__}: {error}"
