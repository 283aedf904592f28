"""Small, realistic Traces made by hand: what the views and the app are tested on, without an index or a model.

The scores are not decoration: BM25 scores are the sums of their parts, fused and final scores are reciprocal rank
fusion worked out from the ranks here (k 60), grades quote the stages, lists are sorted by score and ties by uid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from glassbox_tui.retrieval.trace import (
    AddedTerm,
    Candidate,
    Grade,
    Hit,
    IndexInfo,
    Part,
    Place,
    Round,
    Signal,
    Stage,
    Trace,
)

K = 60
RERANK_WEIGHT = 2.0
RERANK_DEPTH = 12
TOP_K = 8

QUERY = "为什么混合检索要用 RRF 而不是加权分数相加"

# uid -> (title, heading path, first line, last line, text)
NOTES: dict[str, tuple[str, tuple[str, ...], int, int, str]] = {
    "04-rrf.md#1": (
        "倒数排名融合",
        ("倒数排名融合", "为什么不加权求和"),
        12,
        31,
        "BM25 分数无上界且随语料变化，余弦落在 [-1, 1]，两者量纲不可比。\n"
        "加权相加要先归一化，而归一化依赖这一次的候选。\nRRF 只看名次，所以不用调权重。",
    ),
    "04-rrf.md#0": (
        "倒数排名融合",
        ("倒数排名融合",),
        1,
        11,
        "RRF 把几份排名合成一份：每份排名给文档加 1 / (k + rank)。",
    ),
    "07-grade.md#2": (
        "证据评分",
        ("证据评分", "三个信号"),
        40,
        58,
        "覆盖率、最高余弦与最高重排分数，三者都过线才算充分。",
    ),
    "03-dense.md#0": ("稠密检索", ("稠密检索", "余弦与内积"), 5, 19, "向量归一化之后，内积就是余弦。"),
    "09-fusion.txt#0": (
        "09-fusion",
        (),
        1,
        14,
        "Hybrid search merges a lexical list and a dense list; ranks travel, scores do not.",
    ),
    "01-bm25.md#3": (
        "BM25",
        ("BM25", "Why the score has no ceiling"),
        66,
        80,
        "The idf of a rare term grows with the corpus, so does the score.",
    ),
    "05-rerank.md#0": ("重排", ("重排",), 3, 17, "交叉编码器同时读问题与段落，所以更准也更慢。"),
    "02-cjk-tokens.md#1": ("中文分词", ("中文分词", "二元组"), 22, 37, "相邻两字成对，既不用词典也不怕新词。"),
    "11-evaluation.pdf#4": (
        "Evaluation",
        (),
        88,
        97,
        "Recall at k says whether the passage was there at all; nDCG says how high.",
    ),
    "06-rewrite.md#0": ("查询改写", ("查询改写",), 1, 12, "伪相关反馈从前三条结果里取词。"),
    "08-chunks.md#2": (
        "Chunking",
        ("Chunking", "Overlap"),
        30,
        44,
        "Neighbouring chunks share whole sentences, never half of one.",
    ),
    "12-threads.md#0": ("Threads", ("Threads",), 1, 9, "Two threads on two cores; more only make them wait."),
    "10-embedding-models.md#0": (
        "Embedding models",
        ("Embedding models",),
        1,
        20,
        "A small multilingual model serves both languages.",
    ),
    "13-glossary.md#7": ("术语表", ("术语表", "R"), 120, 131, "RRF：倒数排名融合。召回率：找到的占全部的几成。"),
}

# Per term, what it gave to each chunk's BM25 score.
_BM25 = {
    "04-rrf.md#1": {"rrf": 5.2, "融合": 3.9, "加权": 3.31},
    "13-glossary.md#7": {"rrf": 4.8, "融合": 3.1},
    "04-rrf.md#0": {"rrf": 5.1, "混合": 1.7},
    "03-dense.md#0": {"检索": 2.6, "分数": 2.2},
    "07-grade.md#2": {"分数": 4.1},
    "05-rerank.md#0": {"检索": 1.9, "分数": 1.8},
    "06-rewrite.md#0": {"检索": 2.9},
    "02-cjk-tokens.md#1": {"检索": 1.4, "混合": 0.9},
    "08-chunks.md#2": {"rrf": 0.7},
}
_DENSE = {
    "04-rrf.md#1": 0.912,
    "04-rrf.md#0": 0.903,
    "09-fusion.txt#0": 0.894,
    "03-dense.md#0": 0.881,
    "01-bm25.md#3": 0.876,
    "05-rerank.md#0": 0.872,
    "10-embedding-models.md#0": 0.861,
    "11-evaluation.pdf#4": 0.858,
    "07-grade.md#2": 0.855,
    "12-threads.md#0": 0.849,
    "06-rewrite.md#0": 0.845,
}
# Per query token, the best match among the chunk's tokens; the score is the mean of the three.
_RERANK = {
    "04-rrf.md#1": (0.81, 0.72, 0.61),
    "07-grade.md#2": (0.66, 0.70, 0.62),
    "04-rrf.md#0": (0.79, 0.58, 0.55),
    "09-fusion.txt#0": (0.74, 0.61, 0.56),
    "03-dense.md#0": (0.58, 0.60, 0.54),
    "01-bm25.md#3": (0.57, 0.55, 0.53),
    "05-rerank.md#0": (0.51, 0.56, 0.52),
    "13-glossary.md#7": (0.60, 0.50, 0.46),
    "11-evaluation.pdf#4": (0.48, 0.51, 0.49),
    "06-rewrite.md#0": (0.44, 0.50, 0.49),
    "02-cjk-tokens.md#1": (0.42, 0.47, 0.45),
    "08-chunks.md#2": (0.40, 0.42, 0.41),
    "10-embedding-models.md#0": (0.39, 0.44, 0.40),
    "12-threads.md#0": (0.31, 0.36, 0.35),
}
_QUERY_TOKENS = ("RRF", "加权", "混合")
_THRESHOLDS = {"coverage": 0.60, "dense": 0.84, "rerank": 0.55}
_SETTINGS = {
    "rrf_k": K,
    "top_k": TOP_K,
    "fanout": 30,
    "rerank_depth": RERANK_DEPTH,
    "rerank_weight": RERANK_WEIGHT,
    "mode": "hybrid",
    "max_rewrites": 2,
}
_INDEX = IndexInfo(notes=14, chunks=61, dense_coverage=1.0, embedder="e5-small (bundled)", reranker="late interaction")


def ranked(parts: Mapping[str, Sequence[Part]]) -> tuple[Candidate, ...]:
    """Candidates whose scores are the sums of their parts, best first, ties by uid."""
    scored = sorted(
        ((uid, sum(p.value for p in ps), tuple(ps)) for uid, ps in parts.items()), key=lambda row: (-row[1], row[0])
    )
    return tuple(Candidate(uid, rank, score, ps) for rank, (uid, score, ps) in enumerate(scored, start=1))


def fuse(lists: Sequence[tuple[str, float, Sequence[Candidate]]]) -> tuple[Candidate, ...]:
    """Reciprocal rank fusion of (name, weight, list), with a part for each list that knows the chunk."""
    parts: dict[str, list[Part]] = {}
    for name, weight, candidates in lists:
        for c in candidates:
            parts.setdefault(c.uid, []).append(Part(name, weight / (K + c.rank), f"{weight:g}/({K}+{c.rank})"))
    return ranked(parts)


def round_of(
    number: int,
    query: str,
    origin: str,
    bm25: Sequence[Candidate],
    dense: Sequence[Candidate],
    rerank_scores: Mapping[str, Sequence[float]],
    coverage: float,
    missing: tuple[str, ...],
    *,
    earlier: Sequence[tuple[str, float, Sequence[Candidate]]] = (),
    added_terms: tuple[AddedTerm, ...] = (),
    terms: tuple[str, ...] = (),
) -> Round:
    """A whole round from its two first-stage lists: everything after them is worked out."""
    fused = fuse([("bm25", 1.0, bm25), ("dense", 1.0, dense), *earlier])
    reranked = ranked(
        {
            c.uid: [
                Part(token, value / 3, f"{value:.2f}/3")
                for token, value in zip(_QUERY_TOKENS, rerank_scores[c.uid], strict=True)
            ]
            for c in fused[:RERANK_DEPTH]
        }
    )
    final = fuse([("fused", 1.0, fused), ("rerank", RERANK_WEIGHT, reranked)])
    stages = (
        Stage("bm25", 0.3, tuple(bm25)),
        Stage("dense", 3.1, tuple(dense)),
        Stage("fused", 0.1, fused),
        Stage("rerank", 4.9, reranked),
        Stage("final", 0.1, final),
    )
    places = {s.name: {c.uid: Place(c.rank, c.score) for c in s.candidates} for s in stages}
    hits = tuple(_hit(c.uid, {name: seen.get(c.uid) for name, seen in places.items()}) for c in final[:TOP_K])
    grade = _grade(coverage, dense[0].score, reranked[0].score, missing)
    return Round(number, query, origin, terms, added_terms, stages, hits, grade)


def _grade(coverage: float, top_dense: float, top_rerank: float, missing: tuple[str, ...]) -> Grade:
    signals = {"coverage": coverage, "dense": top_dense, "rerank": top_rerank}
    reasons = tuple(
        f"{name} {value:.2f} < {_THRESHOLDS[name]:.2f}" for name, value in signals.items() if value < _THRESHOLDS[name]
    )
    return Grade(coverage, coverage - 0.04, top_dense, top_rerank, _THRESHOLDS, not reasons, reasons, missing)


def _hit(uid: str, stages: Mapping[str, Place | None]) -> Hit:
    title, heading, first, last, text = NOTES[uid]
    path = uid.partition("#")[0]
    start = 40 * first
    page = 3 if path.endswith(".pdf") else None
    return Hit(uid, path, title, heading, text, start, start + len(text), (first, last), page, f"content-{uid}", stages)


def _bm25_list() -> tuple[Candidate, ...]:
    return ranked({uid: [Part(term, value) for term, value in terms.items()] for uid, terms in _BM25.items()})


def _dense_list() -> tuple[Candidate, ...]:
    return ranked({uid: [Part("cosine", value)] for uid, value in _DENSE.items()})


def sample_trace() -> Trace:
    """One round, graded sufficient: 14 candidates, eight hits, several of them absent from some stage."""
    terms = ("混合", "检索", "rrf", "加权", "分数", "融合")
    only = round_of(0, QUERY, "user", _bm25_list(), _dense_list(), _RERANK, 0.82, ("相加",), terms=terms)
    return Trace(
        QUERY,
        _SETTINGS,
        _INDEX,
        (only,),
        "answer",
        (),
        {"encode": 2.1, "bm25": 0.3, "dense": 3.1, "rerank": 4.9, "total": 14.2},
    )


def sample_trace_two_rounds() -> Trace:
    """Round 0 graded insufficient, then a feedback round with added terms, still insufficient, with a notice."""
    query = "redlock 选型"
    bm25 = ranked(
        {
            "13-glossary.md#7": [Part("选型", 2.2)],
            "12-threads.md#0": [Part("选型", 1.4)],
            "08-chunks.md#2": [Part("选型", 0.9)],
        }
    )
    dense = ranked({uid: [Part("cosine", value)] for uid, value in list(_DENSE.items())[2:10]})
    weak = {uid: tuple(v - 0.25 for v in values) for uid, values in _RERANK.items()}
    first = round_of(0, query, "user", bm25, dense, weak, 0.31, ("redlock", "选型"), terms=("redlock", "选型"))
    added = (
        AddedTerm("分布式锁", 0.31, ("13-glossary.md#7", "12-threads.md#0")),
        AddedTerm("租约", 0.22, ("12-threads.md#0",)),
        AddedTerm("zookeeper", 0.17, ("08-chunks.md#2",)),
    )
    bm25_1 = ranked(
        {
            "12-threads.md#0": [Part("选型", 1.4), Part("租约", 1.1)],
            "13-glossary.md#7": [Part("选型", 2.2)],
            "06-rewrite.md#0": [Part("分布式锁", 1.9)],
            "08-chunks.md#2": [Part("选型", 0.9), Part("zookeeper", 0.4)],
        }
    )
    dense_1 = ranked(
        {uid: [Part("cosine", value - 0.01 * (i % 3))] for i, (uid, value) in enumerate(list(_DENSE.items())[1:11])}
    )
    earlier = [("round 0 bm25", 1.0, bm25), ("round 0 dense", 1.0, dense)]
    second = round_of(
        1,
        query,
        "prf",
        bm25_1,
        dense_1,
        weak,
        0.52,
        ("redlock",),
        earlier=earlier,
        added_terms=added,
        terms=("redlock", "选型", "分布式锁", "租约", "zookeeper"),
    )
    return Trace(
        query,
        _SETTINGS,
        replace(_INDEX, dense_coverage=0.5),
        (first, second),
        "insufficient",
        ("half of the chunks have no vector yet: the dense stage sees the other half",),
        {"total": 31.0},
    )


HOSTILE = (
    "[/] [b + [type=x, v={'a[0]'}] [red]red[/red] \x1b[31mESC\x1b[0m \x1b]0;title\x07"
    " \x9b2J \u202eevil\u202c nul\x00 \ud800 <b>&amp;</b> tab\t."
)


def sample_trace_hostile() -> Trace:
    """`sample_trace` with markup, escape sequences, bidi overrides, NUL and a lone surrogate in every text field."""
    trace = sample_trace()
    old = trace.last
    names = {c.uid: f"{HOSTILE}{c.uid}" for s in old.stages for c in s.candidates}
    stages = tuple(
        replace(
            s,
            candidates=tuple(
                replace(
                    c, uid=names[c.uid], parts=tuple(replace(p, name=HOSTILE + p.name, detail=HOSTILE) for p in c.parts)
                )
                for c in s.candidates
            ),
        )
        for s in old.stages
    )
    hits = tuple(
        replace(
            h,
            uid=names[h.uid],
            path=HOSTILE + h.path,
            title=HOSTILE,
            heading=(HOSTILE, "[/]"),
            text=f"{HOSTILE}\n{HOSTILE}",
            content=HOSTILE,
        )
        for h in old.hits
    )
    grade = replace(old.grade, reasons=(HOSTILE,), missing=(HOSTILE,))
    hostile = replace(
        old,
        query=HOSTILE,
        terms=(HOSTILE,),
        added_terms=(AddedTerm(HOSTILE, 0.3, (HOSTILE,)),),
        stages=stages,
        hits=hits,
        grade=grade,
    )
    index = replace(trace.index, embedder=HOSTILE, reranker=HOSTILE)
    return replace(
        trace,
        query=HOSTILE,
        index=index,
        rounds=(hostile,),
        notices=(HOSTILE,),
        settings={**trace.settings, "embed_model": HOSTILE},
    )


def sample_trace_empty() -> Trace:
    """A search in an empty index for a query without keyword terms: no candidate anywhere, no rerank stage."""
    stages = (Stage("bm25", 0.0, ()), Stage("dense", 0.0, ()), Stage("fused", 0.0, ()), Stage("final", 0.0, ()))
    grade = Grade(None, None, None, None, {}, False, ("no chunk was found",), ())
    only = Round(0, "？！", "user", (), (), stages, (), grade)
    return Trace(
        "？！",
        _SETTINGS,
        IndexInfo(0, 0, 0.0, "e5-small (bundled)", ""),
        (only,),
        "insufficient",
        ("the index is empty: there is no note to search", "the query has no keyword terms"),
        {"total": 0.4},
    )


def sample_trace_probable() -> Trace:
    """One round whose verdict is a probability: 1 / (1 + e^-2.6) is .93."""
    trace = sample_trace()
    grade = replace(
        trace.last.grade,
        thresholds={},
        level="answered",
        probability=1 / (1 + math.exp(-2.6)),
        log_odds=2.6,
        signals=(
            Signal("start", None, 0.6),
            Signal("words", 0.8, 0.4, "0.80 of their weight"),
            Signal("rerank margin", 0.2, 1.9, "0.612 against 0.412, the third note"),
            Signal("literals", -1.0, -0.3, "missing: [b]v3[/b]"),
        ),
    )
    return replace(trace, rounds=(replace(trace.last, grade=grade),))
