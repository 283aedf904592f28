"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): score(d) = sum over lists of w / (k + rank of d).

Only ranks enter, so lists whose scores share no scale can be added. Lists are pure data; nothing leans on dict order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from glassbox_tui.retrieval.trace import Candidate, Part


@dataclass(frozen=True, slots=True)
class RankedList:
    """One list to fuse: chunk uids, best first, and how much it weighs. A weight of 0 keeps ids but adds nothing.

    `said`: what a part says of a uid's place beside its number. `silent`: uids that keep their places and add nothing.
    """

    name: str
    weight: float
    uids: Sequence[str]
    said: Mapping[str, str] = field(default_factory=dict)
    silent: Collection[str] = ()


def uid_key(uid: str) -> tuple[str, int, str]:
    """The order of ties everywhere: by path, then position in the note. Foreign uids without #number go by name."""
    path, mark, ordinal = uid.rpartition("#")
    return (path, int(ordinal), uid) if mark and ordinal.isascii() and ordinal.isdigit() else (uid, -1, uid)


def rrf(lists: Sequence[RankedList], k: float, explain: bool = True) -> tuple[Candidate, ...]:
    """The union of the lists, best first; ties by (path, position). An id repeated in a list counts once."""
    parts: dict[str, list[Part]] = {}
    for ranked in lists:
        for rank, uid in enumerate(dict.fromkeys(ranked.uids), start=1):
            if uid in ranked.silent:
                continue
            weight = "1" if ranked.weight == 1 else f"{ranked.weight:g}"
            said = f", {ranked.said[uid]}" if uid in ranked.said else ""
            part = Part(ranked.name, ranked.weight / (k + rank), f"{weight}/({k:g}+{rank}){said}")
            parts.setdefault(uid, []).append(part)
    return rank_candidates(
        (Candidate(uid, 0, sum(p.value for p in ps), tuple(ps) if explain else ()) for uid, ps in parts.items())
    )


def heard_once(lists: Sequence[RankedList], k: float) -> list[RankedList]:
    """The lists, where of keywords as asked and keywords translated a chunk is heard in one: where it says more.

    A chunk with words of both languages holds the question once, and not twice: in both lists, it would stand before
    one that holds all of it in the question's own language.
    """
    by_name = {ranked.name: i for i, ranked in enumerate(lists)}
    heard = list(lists)
    for name, i in by_name.items():
        other = by_name.get(name.replace("translated", "bm25", 1)) if name.startswith("translated") else None
        if other is None:
            continue
        own, translated = (_says(lists[j], k) for j in (other, i))
        both = own.keys() & translated.keys()
        heard[other] = replace(lists[other], silent={uid for uid in both if own[uid] < translated[uid]})
        heard[i] = replace(lists[i], silent={uid for uid in both if own[uid] >= translated[uid]})
    return heard


def _says(ranked: RankedList, k: float) -> dict[str, float]:
    return {uid: ranked.weight / (k + rank) for rank, uid in enumerate(dict.fromkeys(ranked.uids), start=1)}


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
