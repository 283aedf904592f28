"""Reciprocal rank fusion against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from glassbox_tui.retrieval.fusion import RankedList, rrf
from glassbox_tui.selftest.bench import Bench
from glassbox_tui.selftest.check import Group, need, need_all, need_close

fusion = Group("fusion")

UIDS = [f"{note}.md#{i}" for note in "abc" for i in range(12)]
LISTS = (
    RankedList("bm25", 1.0, UIDS[3:30]),
    RankedList("dense", 1.0, UIDS[::-2]),
    RankedList("bm25@0", 0.5, UIDS[20:5:-1]),
)


def _exact(lists: tuple[RankedList, ...], uid: str, k: int) -> Fraction:
    places = ((x.weight, x.uids.index(uid) + 1) for x in lists if uid in x.uids)
    return sum((Fraction(weight) / (k + rank) for weight, rank in places), Fraction(0))


@fusion.holds("the score is the sum of weight / (k + rank)")
def _(bench: Bench) -> str:
    fused = rrf(LISTS, 60)
    for candidate in fused:
        need_close(candidate.score, float(_exact(LISTS, candidate.uid, 60)), 1e-12, f"the score of {candidate.uid}")
    need(fused and fused[-1].score > 0, "nothing was fused")
    return f"{len(fused)} scores over three lists equal exact fractions, the best is {fused[0].score:.5f}"


@fusion.holds("two firsts score 2/61")
def _(bench: Bench) -> str:
    [first] = rrf([RankedList("bm25", 1.0, ["x.md#0"]), RankedList("dense", 1.0, ["x.md#0"])], 60)
    need_close(first.score, 2 / 61, 1e-12, "first in both lists")
    return f"first in both lists scores {first.score:.6f} = 2/61"


@fusion.holds("first in every list is first")
def _(bench: Bench) -> str:
    champion = "z.md#99"  # last by name, so that no tie helps it
    fused = rrf([RankedList(x.name, x.weight, [champion, *x.uids]) for x in LISTS], 60)
    need(fused[0].uid == champion and fused[0].rank == 1, f"{fused[0].uid} stands before it")
    return f"it leads {len(fused)} candidates with {fused[0].score:.5f}, the next has {fused[1].score:.5f}"


@fusion.holds("an id repeated in a list counts once")
def _(bench: Bench) -> str:
    plain = rrf(LISTS, 60)
    repeated = rrf([RankedList(x.name, x.weight, [x.uids[0], *x.uids, *x.uids[:5]]) for x in LISTS], 60)
    need(plain == repeated, "six repeated ids a list change the result")
    need(len({c.uid for c in plain}) == len(plain), "an id stands twice in the fused list")
    return f"six repeated ids a list change none of {len(plain)} scores and ranks"


@fusion.holds("scores never rise down the list, and ranks have no gaps")
def _(bench: Bench) -> str:
    fused = rrf(LISTS, 60)
    count = need_all((a.score >= b.score, f"{b.uid} outscores {a.uid}") for a, b in pairwise(fused))
    need([c.rank for c in fused] == list(range(1, len(fused) + 1)), f"ranks are {[c.rank for c in fused]}")
    union = {uid for x in LISTS for uid in x.uids}
    need({c.uid for c in fused} == union, "the fused list is not the union of the lists")
    return f"{count + 1} candidates, the union of three lists, stand in order of score, ranked 1 to {len(fused)}"


@fusion.holds("the parts of a score add up")
def _(bench: Bench) -> str:
    fused = rrf(LISTS, 60)
    named = {uid: {x.name for x in LISTS if uid in x.uids} for uid in UIDS}
    count = need_all(
        (
            sum(p.value for p in c.parts) == c.score and {p.name for p in c.parts} == named[c.uid],
            f"{c.uid}: the parts {[p.name for p in c.parts]} sum to {sum(p.value for p in c.parts)}, not {c.score}",
        )
        for c in fused
    )
    return f"{count} scores are the sums of one part for each list that holds the id"


@fusion.holds("ties fall by note, then by place in the note")
def _(bench: Bench) -> str:
    lists = [RankedList(name, 1.0, [uid]) for name, uid in (("a", "n.md#10"), ("b", "n.md#9"), ("c", "a.md#11"))]
    found = [[c.uid for c in rrf(order, 60)] for order in (lists, lists[::-1])]
    need(found == [["a.md#11", "n.md#9", "n.md#10"]] * 2, f"three equal scores come as {found}")
    return "three equal scores come as a.md#11, n.md#9, n.md#10, in whatever order the lists are given"


@fusion.holds("a list of weight 0 moves nobody")
def _(bench: Bench) -> str:
    silent = RankedList("silent", 0.0, UIDS[::-1])
    before, after = rrf(LISTS, 60), rrf([*LISTS, silent], 60)
    need([(c.uid, c.score) for c in after[: len(before)]] == [(c.uid, c.score) for c in before], "scores moved")
    need(all(c.score == 0 for c in after[len(before) :]), "an id of the silent list alone has a score")
    need(len(after) > len(before), "the silent list brought no id of its own")
    return f"{len(before)} scores stay; the {len(after) - len(before)} ids that it alone holds score 0, behind them"
