"""How fast search is here, and how much faster than the plain way: each comparison runs both ways in one go.

Absolute times belong to one machine and one moment; the ratios travel.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from glassbox_tui.index.dense import search_dense, search_numpy
from glassbox_tui.index.sparse import Bm25, search_sparse
from glassbox_tui.models.protocols import TokenEmbedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.text.tokens import terms

WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Versus:
    """Two ways to the same result, median ms of each over the questions; `ratio` is how many times faster ours is."""

    name: str
    ours_ms: float
    other: str
    other_ms: float

    @property
    def ratio(self) -> float:
        return self.other_ms / self.ours_ms if self.ours_ms else 0.0


@dataclass(frozen=True, slots=True)
class Bench:
    """Median ms of warm one-round searches (`search`; of it `encode` for the query's vector), and comparisons."""

    notes: int
    chunks: int
    queries: int
    search_ms: float
    encode_ms: float | None
    stages_ms: dict[str, float]
    versus: tuple[Versus, ...]


def to_dict(found: Bench) -> dict[str, Any]:
    """The document of `bench --json`."""
    return {**asdict(found), "versus": [{**asdict(v), "ratio": v.ratio} for v in found.versus]}


def bench(engine: Engine, queries: Sequence[str]) -> Bench:
    """Time `queries` (at least one, none blank) on the engine's index as it stands."""
    for query in queries[:WARM_UP]:
        engine.search(query, max_rewrites=0)
    traces = [engine.search(query, max_rewrites=0) for query in queries]
    stages: dict[str, list[float]] = {}
    for trace in traces:
        for stage in trace.last.stages:
            stages.setdefault(stage.name, []).append(stage.ms)
    embedder = engine.embedder
    encode = embedder.encode_query if isinstance(embedder, TokenEmbedder) else embedder.embed_query
    return Bench(
        notes=engine.snapshot.searchable_notes,
        chunks=len(engine.snapshot.chunks),
        queries=len(queries),
        search_ms=statistics.median(trace.timings_ms["total"] for trace in traces),
        encode_ms=_median_ms(encode, queries),
        stages_ms={name: statistics.median(times) for name, times in stages.items()},
        versus=(_keywords(engine, queries), _neighbours(engine, queries)) if engine.snapshot.chunks else (),
    )


def _keywords(engine: Engine, queries: Sequence[str]) -> Versus:
    from rank_bm25 import BM25Okapi

    snapshot, k = engine.snapshot, engine.settings.fanout
    plain = BM25Okapi([terms(chunk.index_text) or ["-"] for chunk in snapshot.chunks])
    asked = {query: terms(query) for query in queries}
    ours = _median_ms(lambda q: search_sparse(snapshot.sparse, dict.fromkeys(asked[q], 1.0), k, Bm25()), queries)
    other = _median_ms(lambda q: plain.get_scores(asked[q]).argsort()[::-1][:k], queries)
    return Versus("bm25", ours, "rank_bm25", other)


def _neighbours(engine: Engine, queries: Sequence[str]) -> Versus:
    snapshot, k = engine.snapshot, engine.settings.fanout
    vectors = {query: engine.embedder.embed_query(query) for query in queries}
    ours = _median_ms(lambda q: search_dense(snapshot.dense, vectors[q], k), queries)
    other = _median_ms(lambda q: search_numpy(snapshot.dense, vectors[q], k), queries)
    return Versus("dense (FAISS)", ours, "numpy", other)


def _median_ms(work: Callable[[str], object], queries: Sequence[str]) -> float:
    times = []
    for query in queries:
        began = time.perf_counter()
        work(query)
        times.append((time.perf_counter() - began) * 1000.0)
    return statistics.median(times)
