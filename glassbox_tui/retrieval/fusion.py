"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): score(d) = sum over lists of w / (k + rank of d).

Only ranks enter, so lists whose scores share no scale can be added. Lists are pure data; nothing leans on dict order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from glassbox_tui.retrieval.trace import Candidate, Part


@dataclass(frozen=True, slots=True)
class RankedList:
    """One list to fuse: chunk uids, best first, and how much it weighs. A weight of 0 keeps ids but adds nothing.

    `said`: what a part says of a uid's place beside its number.
    """

    name: str
    weight: float
    uids: Sequence[str]
    said: Mapping[str, str] = field(default_factory=dict)


def uid_key(uid: str) -> tuple[str, int, str]:
    """The order of ties everywhere: by path, then position in the note. Foreign uids without #number go by name."""
    path, mark, ordinal = uid.rpartition("#")
    return (path, int(ordinal), uid) if mark and ordinal.isascii() and ordinal.isdigit() else (uid, -1, uid)


def rrf(lists: Sequence[RankedList], k: float, explain: bool = True) -> tuple[Candidate, ...]:
    """The union of the lists, best first; ties by (path, position). An id repeated in a list counts once."""
    parts: dict[str, list[Part]] = {}
    for ranked in lists:
        for rank, uid in enumerate(dict.fromkeys(ranked.uids), start=1):
            weight = "1" if ranked.weight == 1 else f"{ranked.weight:g}"
            said = f", {ranked.said[uid]}" if uid in ranked.said else ""
            part = Part(ranked.name, ranked.weight / (k + rank), f"{weight}/({k:g}+{rank}){said}")
            parts.setdefault(uid, []).append(part)
    return rank_candidates(
        (Candidate(uid, 0, sum(p.value for p in ps), tuple(ps) if explain else ()) for uid, ps in parts.items())
    )


def rank_candidates(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Sort by score descending, ties by (path, position), and number from 1."""
    ordered = sorted(candidates, key=lambda c: (-c.score, uid_key(c.uid)))
    return tuple(Candidate(c.uid, rank, c.score, c.parts) for rank, c in enumerate(ordered, start=1))


@dataclass(frozen=True, slots=True)
class ScoreBlend:
    """Another second fusion, to compare with: (1 - share) * fused score + share * rerank score, ranks aside.

    It needs both scores on one scale, which RRF does not; what the reranker did not see keeps its fused share alone.
    Use it as `Engine(fusion=ScoreBlend(0.25))`.
    """

    share: float = 0.25
    name: str = "blend"

    def fuse(self, lists: Mapping[str, Sequence[tuple[str, float]]]) -> list[tuple[str, float]]:
        """The fused list's ids by blended score; ties by (path, position)."""
        rerank = dict(lists.get("rerank", ()))
        blended = [
            (uid, (1.0 - self.share) * score + self.share * rerank.get(uid, 0.0)) for uid, score in lists["fused"]
        ]
        return sorted(blended, key=lambda pair: (-pair[1], uid_key(pair[0])))
