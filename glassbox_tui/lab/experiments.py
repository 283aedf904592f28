"""The comparisons behind the design's decisions, each from one command: `eval --compare NAME`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

import numpy as np

from glassbox_tui.index.indexer import note_counts
from glassbox_tui.index.rows import Forward
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, Passages, build_sparse, search_passages
from glassbox_tui.lab.comparing import Bench, Row
from glassbox_tui.lab.evaluate import (
    CONFIGS,
    ask_all,
    extract_hit,
    judge_all,
    labelled_ranking,
    means,
    note_paths,
    short_measures,
    uids_of,
)
from glassbox_tui.lab.jsonl import LabError
from glassbox_tui.lab.llm import llm_rows
from glassbox_tui.lab.whatif import final_at, takeover
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Round
from glassbox_tui.settings import CHUNK_STRATEGIES
from glassbox_tui.text.tokens import terms

COMPARISONS = ("weights", "models", "chunks", "words", "feedback", "llm")
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 3.0)
ROUNDS = (2, 3)

# What the figures of a comparison are whose columns are stages.
STAGE_METRIC = {"chunks": "ndcg@10"}


def compare(name: str, bench: Bench) -> list[Row]:
    """The rows of one of COMPARISONS. Raises LabError if this engine cannot be compared so."""
    return _RUNS[name](bench)


def _weights(bench: Bench) -> list[Row]:
    """The rerank weight, from what one run recorded."""
    with bench.open(bench.settings, "") as engine:
        traces = ask_all(engine, bench.queries, bench.progress, max_rewrites=0)
        paths = note_paths(engine)
    asked = [trace for trace in traces if trace is not None]
    if not any(trace.last.stage("rerank") for trace in asked):
        raise LabError("there is no reranker in this run, so no weight to compare")
    k, own = bench.settings.rrf_k, float(asked[0].settings["rerank_weight"])

    def row(label: str, order: Callable[[Round], Sequence[str]]) -> Row:
        rankings = [
            () if trace is None else labelled_ranking(order(trace.last), query.relevant, paths)
            for trace, query in zip(traces, bench.queries, strict=True)
        ]
        return Row(label, means(rankings, bench.queries, short_measures()))

    rows = [
        row(f"{w:g}" + (" (default)" if w == own else ""), lambda r, w=w: [c.uid for c in final_at(r, w, k)])  # type: ignore[misc]
        for w in sorted({*WEIGHTS, own})
    ]
    return [*rows, row("takeover", takeover)]


def _models(bench: Bench) -> list[Row]:
    """The hashing embedder and the one of the settings, each alone, by keywords alone, and fused."""
    rows = []
    variants = [(bench.settings, "")]
    if bench.settings.embed_model != "hashing":
        variants.insert(0, (replace(bench.settings, embed_model="hashing"), "hashing"))
    for settings, place in variants:
        with bench.open(settings, place) as engine:
            for mode in ("bm25", "dense", "hybrid"):
                name = f"{engine.embedder.name} · {mode}"
                rows.append(_final_row(name, engine, bench, mode=mode, max_rewrites=0))
    return rows


def _chunks(bench: Bench) -> list[Row]:
    """The chunk strategies: nDCG@10 of every stage, and how often the extract holds an answer."""
    rows, ndcg = [], {"ndcg@10": short_measures()["ndcg@10"]}
    for strategy in CHUNK_STRATEGIES:
        usual = strategy == bench.settings.chunk_strategy
        settings = replace(bench.settings, chunk_strategy=strategy)
        with bench.open(settings, "" if usual else f"chunks-{strategy}") as engine:
            extract = bench.extract_of(engine)
            judged = judge_all(engine, bench.queries, bench.progress, extract, strategy, max_rewrites=0)
            values: dict[str, float | int | None] = {"chunks": len(engine.snapshot.chunks)}
        for config in CONFIGS:
            rankings = [j.rankings[config] for j in judged]
            values[config] = means(rankings, bench.queries, ndcg)["ndcg@10"]
        rows.append(Row(strategy, values | {"extract_hit": extract_hit(judged)}))
    return rows


def _words(bench: Bench) -> list[Row]:
    """Stems and stop words, each on and off: BM25 alone over the usual chunks."""
    rows = []
    with bench.open(bench.settings, "") as engine:
        known, settings = note_paths(engine), bench.settings
        how = Bm25(settings.bm25_k1, settings.bm25_b, settings.bm25_variant, note_share=settings.bm25_note_share)
        for name, stems, stop_words in (
            ("stems and stop words", True, True),
            ("stems only", True, False),
            ("stop words only", False, True),
            ("neither", False, False),
        ):
            read = partial(terms, min_token_len=settings.min_token_len, stems=stems, stop_words=stop_words)
            passages = passages_by(engine.snapshot, read)
            rankings = []
            for query in bench.queries:
                wanted = {term: float(n) for term, n in Counter(read(query.query)).items()}
                found = search_passages(passages, wanted, settings.fanout, how)
                uids = [engine.snapshot.chunks[row].uid for row, _ in found]
                rankings.append(labelled_ranking(uids, query.relevant, known))
            rows.append(Row(name, means(rankings, bench.queries, short_measures())))
    return rows


def passages_by(snapshot: Snapshot, read: Callable[[str], Sequence[str]]) -> Passages:
    """A keyword index of the snapshot's chunks and notes by another reading of their texts into terms."""
    notes = [list(chunks) for _, chunks in groupby(snapshot.chunks, key=lambda chunk: chunk.path)]
    return Passages(
        build_sparse(_forward(Counter(read(chunk.index_text)) for chunk in snapshot.chunks)),
        build_sparse(_forward(note_counts(chunks[0].title, chunks, read) for chunks in notes)),
        np.repeat(np.arange(len(notes), dtype=np.int32), [len(chunks) for chunks in notes]),
    )


def _forward(texts: Iterable[Mapping[str, int]]) -> Forward:
    vocabulary: dict[str, int] = {}
    ids: list[int] = []
    counts: list[int] = []
    offsets = [0]
    for text in texts:
        ids += [vocabulary.setdefault(term, len(vocabulary)) for term in text]
        counts += text.values()
        offsets.append(len(ids))
    return Forward(vocabulary, np.array(offsets, np.int64), np.array(ids, np.int32), np.array(counts, np.int32))


def _feedback(bench: Bench) -> list[Row]:
    """One round, and more where the evidence is insufficient: lists fused with round 0's, or in their place."""
    with bench.open(bench.settings, "") as engine:
        rows = [_final_row("one round", engine, bench, max_rewrites=0, feedback=bench.settings.feedback)]
        for rounds in ROUNDS:
            for how in ("fuse", "replace"):
                rows.append(  # noqa: PERF401 - a row costs a run
                    _final_row(f"{rounds} rounds, {how}", engine, bench, max_rewrites=rounds - 1, feedback=how)
                )
    return rows


def _final_row(name: str, engine: Engine, bench: Bench, **changes: object) -> Row:
    traces = ask_all(engine, bench.queries, bench.progress, name, **changes)
    paths = note_paths(engine)
    rankings = [
        () if trace is None else labelled_ranking(uids_of(trace.last, "final"), query.relevant, paths)
        for trace, query in zip(traces, bench.queries, strict=True)
    ]
    rewritten = sum(trace is not None and len(trace.rounds) > 1 for trace in traces) / len(traces)
    values = means(rankings, bench.queries, short_measures())
    return Row(name, values | ({"rewritten": rewritten} if "feedback" in changes else {}))


_RUNS: Mapping[str, Callable[[Bench], list[Row]]] = {
    "weights": _weights,
    "models": _models,
    "chunks": _chunks,
    "words": _words,
    "feedback": _feedback,
    "llm": llm_rows,
}
