"""What a person's query asks beyond its words: filters, half-typed words, and an index that is still being embedded."""

from __future__ import annotations

from collections.abc import Iterator

from glassbox_tui.retrieval.places import kept_places
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.selftest.bench import Bench
from glassbox_tui.selftest.check import Group, need

asking = Group("asking")

CAT, CAR, SCAR = (
    "The jaguar is a big cat.",
    "The jaguar is a fast car.",
    "A big scar, a card, a cat; big cars they were.",
)


def _seen(trace: Trace) -> Iterator[str]:
    for r in trace.rounds:
        yield from (c.uid for s in r.stages for c in s.candidates)
        yield from (uid for term in r.added_terms for uid in term.sources)


@asking.holds("what a filter leaves out is in no stage and no round")
def _(bench: Bench) -> str:
    engine = bench.small([CAT, CAR, SCAR])
    wanted = {
        "jaguar -car": {"0000.txt#0"},
        '"big cat" jaguar': {"0000.txt#0"},
        'cat -"big cat"': {"0001.txt#0", "0002.txt#0"},
    }
    for query, left in wanted.items():
        seen = set(_seen(engine.search(query, bm25_floor=0.0)))
        need(seen == left, f"{query} shows {sorted(seen)}, and {sorted(left)} are left")
    removed = [f.removed for f in engine.search('"jaguar" -cars').rounds[0].filters]
    need(removed == [1, 2], f"the Trace says that {removed} were left out")
    return f"{len(wanted)} queries show what a reader would leave, and say how many chunks they removed"


@asking.holds("half a word meets what it may become, as one word")
def _(bench: Bench) -> str:
    texts = ["rank fusion of lists", "the fusing of ranks, a fused rank", "bread and water"]
    told = ["rank fusx of lists", "the fusx of ranks, a fusx rank", "bread and water"]

    def scores(texts: list[str], query: str, typing: bool) -> list[tuple[str, float]]:
        stage = bench.small(texts).search(query, mode="bm25", typing=typing).rounds[0].stage("bm25")
        return [(c.uid, round(c.score, 9)) for c in stage.candidates] if stage is not None else []

    half, whole = scores(texts, "rank fus", True), scores(told, "rank fusx", False)
    need(half == whole and half, f"{half} is not {whole}, what one word in place of all would score")
    need([uid for uid, _ in scores(texts, "fus", False)] == [], "a word is taken for half a word where nobody types")
    return f"fus scores in {len(half)} texts like one word written in place of fusion, fusing and fused"


@asking.holds("what has no vector yet keeps its place")
def _(bench: Bench) -> str:
    uids = [f"n.md#{i}" for i in range(9)]
    for lacking in ([], uids[:1], uids[2:5], uids):
        own = [uid for uid in reversed(uids) if uid not in lacking]
        order = kept_places(own, uids, lacking)
        need(all(order[i] == uid for i, uid in enumerate(uids) if uid in lacking), f"{lacking} left their places")
        need([uid for uid in order if uid not in lacking] == own, "the others do not stand in the stage's order")
    return "with none, one, three and all of nine candidates unseen, these stand where they stood"
