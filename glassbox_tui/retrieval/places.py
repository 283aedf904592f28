"""While the index is being embedded: a stage that cannot see a candidate has nothing against it.

The rule: in the list of such a stage, a candidate without a vector (without token codes) stands where the lists before
have it, and those with one share the places that are left, in the stage's order. At 0 % embedded the list is the one
before; at 100 % it is the stage's own, untouched. In between the stage decides only among those it has seen: its first
of a few stands where one of the few stood, not before the best of all.

The stage's own list in the Trace keeps its ranks; what it could not see has none there. Only what is fused has the
places, and each part says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from glassbox_tui.retrieval.fusion import RankedList

UNSEEN = {"dense": "no vector yet", "rerank": "no token codes yet"}
MOVED = "rank {} of those seen"


def kept_places(ranked: Sequence[str], before: Sequence[str], lacking: Collection[str]) -> tuple[str, ...]:
    """`ranked` with the uids of `lacking` where they stand in `before`, and its own in the places between."""
    seen = set(ranked)
    fixed = {place: uid for place, uid in enumerate(before) if uid in lacking and uid not in seen}
    if not fixed:
        return tuple(ranked)
    placed = list[str]()
    rest = iter(ranked)
    last = max(fixed)
    for place in range(last + 1):
        uid = fixed.get(place) or next(rest, None)
        if uid is not None:
            placed.append(uid)
    return (*placed, *rest)


def placed(own: RankedList, before: Sequence[str], lacking: Collection[str]) -> RankedList:
    """`own` as it is fused, with words on every place that is not its rank. The same list if nothing lacks."""
    order = kept_places(own.uids, before, lacking)
    if len(order) == len(own.uids):
        return own
    rank = {uid: n for n, uid in enumerate(own.uids, start=1)}
    unseen = UNSEEN.get(own.name.partition("/")[0].partition("@")[0], "not seen")
    said = {
        uid: MOVED.format(rank[uid]) if uid in rank else unseen
        for place, uid in enumerate(order, start=1)
        if rank.get(uid) != place
    }
    return replace(own, uids=order, said=said)
