"""A search: as many results as asked for, each with its evidence, twice the same, and the right note found."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

from glassbox_tui.index.dense import search_dense
from glassbox_tui.models.catalog import HASHING
from glassbox_tui.models.levelling import FLAT
from glassbox_tui.retrieval.trace import ALL_STAGES, STAGES, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.selftest.bench import CROSS, EN, LEVEL, ZH, Bench
from glassbox_tui.selftest.check import Group, NotRun, need, need_all
from glassbox_tui.text.tokens import terms

retrieval = Group("retrieval")

# The question and the note that answers it share no word.
SEMANTIC = "My internet is terribly sluggish; how might an app transmit fewer kilobytes?"
SEMANTIC_NOTE = "25-slow-connections.md"
CROSS_NOTE = "16-sqlite-wal.md"
# Everyday notes, and three that belong to no language: code, a list of names in two scripts, a bibliography.
PLAIN = (
    "Sourdough needs a long, cool rise. Bake it in a closed pot, then take off the lid for a dark crust.",
    "The chain was worn by almost one per cent, so the shop replaced it together with the cassette.",
    "The tax office wants the form by the end of July, with receipts for everything above fifty euros.",
    "Ferns like shade and damp air. Water them from below and turn the pot every other week.",
    "绿茶用八十度的水冲泡，第一泡不超过一分钟，否则会发苦。",
    "猫打了第二针疫苗，医生说一个月后再来复查，体重四公斤。",
    "房租每月五号之前交，押金两个月，水电费另算，网费由房东出。",
    "周三跑了十公里，膝盖有点疼，下周改成游泳，先休息两天。",
)
ODD = (
    '#!/bin/sh\ncurl -s "$URL" -d \'{"type": "text", "source": {"data": "\'$IMAGE\'", "media": "x/y"}}\' | jq .id',
    "曲目：1. Yesterday Once More 2. Hotel California 3. 月亮代表我的心 4. Let It Be 5. Moon River 6. 甜蜜蜜",
    "王力 (1980). 汉语史稿. 北京: Zhonghua. Smith, J. & 李明 (2004). Grammar of 中文. Oxford Univ. Press, pp. 3-9.",
)
UNRELATED = (
    "最近的药店几点关门", "怎么去掉衬衫上的咖啡渍", "孩子发烧多少度要去医院", "高铁票可以改签几次", "哪种漆适合旧木门",
    "邻居半夜很吵怎么办", "冰箱里的鸡蛋能放多久", "护照过期了要带什么材料", "外婆的生日送什么好", "阳台上能种番茄吗",
    "when does the swimming pool open on sundays", "how do I get candle wax out of a carpet",
    "which bus goes to the old harbour", "what should I feed a lost hedgehog", "why does my dishwasher smell",
    "how long can cooked rice stay in the fridge", "who repairs violins around here", "is the museum free for students",
    "what is a fair price for a used piano", "how often should a chimney be swept",
)  # fmt: skip


def _needs_meaning(bench: Bench) -> None:
    if bench.embedder.name.startswith(HASHING.name):
        raise NotRun("the hashing embedder compares spelling and not meaning")


def _best_rank(trace: Trace, stage: str, note: str) -> int | None:
    found = trace.rounds[0].stage(stage)
    ranks = [c.rank for c in found.candidates if c.uid.rpartition("#")[0] == note] if found else []
    return min(ranks, default=None)


@retrieval.holds("exactly top_k results")
def _(bench: Bench) -> str:
    counts = {k: len(bench.engine.search(EN, top_k=k, max_rewrites=0).hits) for k in (1, 3, 8, 20)}
    need(all(k == n for k, n in counts.items()), f"asked for -> got: {counts}")
    return "asked for 1, 3, 8 and 20, got as many"


@retrieval.holds("ranks have no gaps and scores never rise")
def _(bench: Bench) -> str:
    lists = [stage.candidates for r in bench.rounds for stage in r.stages]
    for candidates in lists:
        ranks = [c.rank for c in candidates]
        need(ranks == list(range(1, len(ranks) + 1)), f"ranks are {ranks[:12]}")
        need(all(a.score >= b.score for a, b in pairwise(candidates)), "a later candidate scores more")
        need(len({c.uid for c in candidates}) == len(ranks), "a chunk stands twice in one stage")
    longest = max(map(len, lists), default=0)
    need(longest > 1, "no stage found two candidates")
    return f"{len(lists)} stage lists, the longest of {longest} candidates"


@retrieval.holds("every hit shows its evidence of every stage")
def _(bench: Bench) -> str:
    def problem(trace: Trace) -> str | None:
        for round_ in trace.rounds:
            listed = {s.name: {c.uid: (c.rank, c.score) for c in s.candidates} for s in round_.stages}
            for hit in round_.hits:
                if not set(STAGES) <= set(hit.stages) <= set(ALL_STAGES):
                    return f"{hit.uid} speaks of the stages {sorted(hit.stages)}"
                shown = {name: None if p is None else (p.rank, p.score) for name, p in hit.stages.items()}
                wrong = [name for name in hit.stages if shown[name] != listed.get(name, {}).get(hit.uid)]
                if wrong or shown["final"] is None or shown["fused"] is None:
                    return f"{hit.uid} shows {shown} for {wrong}"
        return None

    problems = [p for trace in bench.traces if (p := problem(trace))]
    need(not problems, problems[0] if problems else "")
    hits = [hit for r in bench.rounds for hit in r.hits]
    need(hits and any(hit.stages["dense"] for hit in hits) and any(hit.stages["bm25"] for hit in hits), "no evidence")
    return f"{len(hits)} hits name rank and score in each of {', '.join(STAGES)}, or that the stage did not see them"


@retrieval.holds("hits are the head of the final list")
def _(bench: Bench) -> str:
    k = bench.settings.top_k
    for round_ in bench.rounds:
        final = round_.stage("final")
        need(final is not None, f"round {round_.number} has no final stage")
        assert final is not None
        need([h.uid for h in round_.hits] == [c.uid for c in final.candidates[:k]], "the hits are others")
        need(round_.hits, f"{round_.query!r} has no hits")
    return f"{len(bench.rounds)} rounds show the first {k} of their final list, in its order"


@retrieval.holds("a hit is quoted as it stands in the file")
def _(bench: Bench) -> str:
    hits = [hit for r in bench.rounds for hit in r.hits if hit.path.endswith((".md", ".txt"))]
    count = need_all(
        ((bench.corpus / h.path).read_text(encoding="utf-8")[h.start : h.end] == h.text, f"{h.uid} is not in its file")
        for h in hits
    )
    return f"{count} quotations equal the characters of the file"


@retrieval.holds("the parts of every score add up")
def _(bench: Bench) -> str:
    worst, count = 0.0, 0
    for round_ in bench.rounds:
        for stage in round_.stages:
            for c in stage.candidates:
                need(c.parts, f"{c.uid} has a score in {stage.name} and no parts")
                worst, count = max(worst, abs(math.fsum(p.value for p in c.parts) - c.score)), count + 1
    need(count and worst <= 1e-6, f"{count} scores, parts off by {worst:.2g}")
    return f"{count} scores of all stages are the sums of their parts within {worst:.1g}"


@retrieval.holds("a semantic query finds its note")
def _(bench: Bench) -> str:
    _needs_meaning(bench)
    shared = {t for c in bench.chunks if c.path == SEMANTIC_NOTE for t in terms(c.index_text)} & set(terms(SEMANTIC))
    need(not shared, f"the question shares {sorted(shared)} with the note: keywords could find it")
    trace = bench.trace(SEMANTIC)
    dense, final = _best_rank(trace, "dense", SEMANTIC_NOTE), _best_rank(trace, "final", SEMANTIC_NOTE)
    need(dense is not None and dense <= 3, f"the dense stage ranks {SEMANTIC_NOTE} at {dense}")
    need(final is not None and final <= 3, f"in the end {SEMANTIC_NOTE} stands at rank {final}")
    return f"without a word in common {SEMANTIC_NOTE} is found: dense {dense}, final {final}"


@retrieval.holds("a cross-language query is rescued by the dense stage")
def _(bench: Bench) -> str:
    _needs_meaning(bench)
    trace = bench.trace(CROSS)
    word, dense = _best_rank(trace, "bm25", CROSS_NOTE), _best_rank(trace, "dense", CROSS_NOTE)
    final = _best_rank(trace, "final", CROSS_NOTE)
    need(dense is not None and dense <= 3, f"the dense stage ranks the Chinese note {CROSS_NOTE} at {dense}")
    need(word is None or word > 3, f"the keywords find it too, at rank {word}: there is nothing to rescue")
    need(final is not None and final <= 3, f"in the end it stands at rank {final}")
    return f"the English question's Chinese note: bm25 {word or '–'}, dense {dense}, final {final}"


@retrieval.holds("the same search gives the same bytes")
def _(bench: Bench) -> str:
    first, second = (to_json(bench.engine.search(q), timings=False) for q in (ZH, ZH))
    need(first == second, "two runs of one engine differ")
    embedded = bench.engine.search(ZH, max_rewrites=0).rounds[0].stages
    need(embedded and all(s.candidates for s in embedded if s.name != "bm25"), "a stage is empty")
    return f"two traces of {len(first)} characters are equal, times left out"


@retrieval.holds("a trace survives JSON")
def _(bench: Bench) -> str:
    sizes = []
    for trace in bench.traces:
        text = to_json(trace)
        back = from_json(text)
        need(back == trace, f"the trace of {trace.query!r} comes back as another")
        need(to_json(back) == text, "written again it is another text")
        sizes.append(len(text))
    return f"{len(sizes)} traces of up to {max(sizes)} characters come back equal"


@retrieval.holds("explaining changes no rank and no score")
def _(bench: Bench) -> str:
    def bare(trace: Trace) -> list[tuple[str, str, int, float]]:
        return [(s.name, c.uid, c.rank, c.score) for r in trace.rounds for s in r.stages for c in s.candidates]

    plain = bench.engine.search(ZH, explain=False)
    need(bare(plain) == bare(bench.trace(ZH)), "ranks or scores differ with explain off")
    need(not any(c.parts for r in plain.rounds for s in r.stages for c in s.candidates), "parts are there all the same")
    return f"{len(bare(plain))} places are the same with and without parts"


@retrieval.holds("a mode runs its own stages only")
def _(bench: Bench) -> str:
    ran = {
        m: {s.name for s in bench.engine.search(ZH, mode=m, max_rewrites=0).rounds[0].stages} for m in ("bm25", "dense")
    }
    need("dense" not in ran["bm25"] and "bm25" in ran["bm25"], f"mode bm25 ran {sorted(ran['bm25'])}")
    need("bm25" not in ran["dense"] and "dense" in ran["dense"], f"mode dense ran {sorted(ran['dense'])}")
    return f"bm25 ran {', '.join(sorted(ran['bm25']))}; dense ran {', '.join(sorted(ran['dense']))}"


@retrieval.holds("levelling languages never changes the order within one")
def _(bench: Bench) -> str:
    dense, query = bench.placed(), bench.embedder.embed_query(CROSS)
    place = dict(zip(dense.rows.tolist(), map(tuple, dense.places.tolist()), strict=True))
    plain, levelled = (search_dense(dense, query, dense.size, level) for level in (FLAT, LEVEL))
    for where in sorted(set(place.values())):
        before, after = ([f[0] for f in found if place[f[0]] == where] for found in (plain, levelled))
        need(before == after, f"the order of the chunks at {where} changes")
    need([f[0] for f in plain] != [f[0] for f in levelled], "the offsets moved nothing at all")
    return f"offsets of ±.07 mix {len(plain)} chunks anew and leave the order of those that stand at one place"


@retrieval.holds("chunks that stand at one place between the languages get one offset")
def _(bench: Bench) -> str:
    seen: dict[tuple[float, str, int], set[float]] = {}
    snapshot = bench.engine.snapshot
    for number, round_ in enumerate(bench.rounds):
        for name in ("dense", "rerank"):
            stage = round_.stage(name)
            for c in stage.candidates if stage else ():
                offset = math.fsum(p.value for p in c.parts if p.name == "language")
                place = round(float(snapshot.place(c.uid)[0]), 6)
                seen.setdefault((place, name, number), set()).add(round(offset, 6))
    need(seen, "neither the dense nor the rerank stage ran")
    odd = [key for key, offsets in seen.items() if max(offsets) - min(offsets) > 2e-6]
    need(not odd, f"chunks at {odd[:1]} got the offsets {[sorted(seen[k]) for k in odd[:1]]}")
    most = max(abs(o) for offsets in seen.values() for o in offsets)
    return f"{len(seen)} lists of one place in one stage each got one offset, at most {most:.3f}"


@retrieval.holds("a mixed text or code is not first for unrelated questions")
def _(bench: Bench) -> str:
    """Hubness. Levelled by a label, code and a list of names in two scripts outscore every answer in one language."""
    _needs_meaning(bench)
    texts = [*PLAIN, *ODD]
    engine = bench.small(texts, embedder=bench.embedder)
    first = Counter(engine.search(question, mode="dense", max_rewrites=0).hits[0].text for question in UNRELATED)
    odd, times = max(((text, first[text]) for text in ODD), key=lambda found: found[1])
    need(times <= len(UNRELATED) // 4, f"{odd[:20]!r} is first for {times} of {len(UNRELATED)} unrelated questions")
    return f"of {len(UNRELATED)} unrelated questions none of {len(ODD)} odd texts leads more than {times}"
