"""The index: complete, searchable by two independent ways, and the same whatever happened before."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glassbox_tui.index.dense import DenseIndex, search_dense, search_numpy
from glassbox_tui.index.token_codes import read_codes
from glassbox_tui.models.levelling import FLAT, Level
from glassbox_tui.models.protocols import TokenEmbedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace_json import to_json
from glassbox_tui.selftest.bench import CROSS, EN, LEVEL, QUESTIONS, ZH, Bench
from glassbox_tui.selftest.check import Group, NotRun, need, need_all

index = Group("index")

# Notes for the update that is held against a cold build: few and short, for every one is embedded twice.
FIRST = {
    "keep.md": "# Locks\n\nA lease ends by the clock. 分布式锁依赖租约。",
    "edit.md": "# Tea\n\nGreen tea is steeped at eighty degrees.",
    "drop.md": "# Gone\n\nThis note will be removed.",
}
SECOND = {
    "edit.md": "# Tea\n\nGreen tea is steeped at seventy degrees. 绿茶用七十度的水。",
    "sub/new.txt": "数据库用预写日志，断电也不会损坏。",
}


@index.holds("every note becomes chunks")
def _(bench: Bench) -> str:
    files = sorted(p.name for p in bench.corpus.iterdir() if p.suffix in {".md", ".txt", ".pdf"})
    report, held = bench.report, {c.path for c in bench.chunks}
    need(files and report.added == len(files), f"{report.added} notes were added, the folder holds {len(files)}")
    need(held == set(files), f"no chunk comes from {sorted(set(files) - held)[:3]}")
    need(report.chunks == len(bench.chunks) >= len(files), f"{report.chunks} chunks made, {len(bench.chunks)} stored")
    return f"{len(files)} files (Markdown, text and PDF) gave {report.chunks} chunks"


@index.holds("the vector back end is ready")
def _(bench: Bench) -> str:
    import faiss

    dense = bench.engine.snapshot.dense
    held = dense.served.ntotal
    need(held == len(bench.chunks) > 0, f"FAISS holds {held} vectors for {len(bench.chunks)} chunks")
    covered = bench.engine.info().dense_coverage
    need(covered == 1.0, f"the index says that {covered:.0%} of the chunks have a vector")
    return f"FAISS {faiss.__version__} holds {held} vectors of {dense.matrix.shape[1]} numbers, one for every chunk"


@index.holds("FAISS and brute force find the same neighbours with the same scores")
def _(bench: Bench) -> str:
    count, gap = _three_ways(bench, bench.engine.snapshot.dense, FLAT)
    return f"{count} neighbours of {len(QUESTIONS)} questions agree, scores within {gap:.1g}"


@index.holds("FAISS and brute force agree when languages are levelled")
def _(bench: Bench) -> str:
    count, gap = _three_ways(bench, bench.placed(), LEVEL)
    return f"{count} neighbours agree with offsets of ±.07 and hubs held down, scores within {gap:.1g}"


@index.holds("an updated index is a cold rebuild")
def _(bench: Bench) -> str:
    notes = bench.scratch / "notes"
    shutil.rmtree(notes, ignore_errors=True)
    _write(notes, FIRST)
    with bench.on_folder(notes, cold=True) as engine:
        engine.update()
        (notes / "drop.md").unlink()
        _write(notes, SECOND)
        report = engine.update()
        updated = _picture(engine)
    counts = (report.added, report.changed, report.removed, report.unchanged)
    need(counts == (1, 1, 1, 1), f"added, changed, removed, unchanged were {counts}, not 1 each")
    with bench.on_folder(notes, cold=True) as engine:
        engine.update()
        cold = _picture(engine)
    need(cold["chunks"], "the cold build has no chunks")
    for part, value in cold.items():
        need(updated[part] == value, f"the {part} of the updated index are not those of a cold build")
    return (
        f"after one note more, one changed and one gone, {len(cold['chunks'])} chunks, {len(cold['postings'])} terms,"
        f" their vectors and {len(cold['rankings'])} searches equal a build from nothing"
    )


@index.holds("an unchanged folder is not read again")
def _(bench: Bench) -> str:
    before = bench.chunks
    again = bench.engine.update()
    need((again.parsed, again.embedded) == (0, 0), f"{again.parsed} notes were read, {again.embedded} chunks embedded")
    need(again.unchanged == bench.report.added > 0, f"{again.unchanged} notes unchanged of {bench.report.added}")
    need(bench.chunks == before, "the chunks changed")
    return f"{again.unchanged} notes unchanged, none read again, none embedded again"


@index.holds("chunks are ordered and named once")
def _(bench: Bench) -> str:
    keys = [(c.path, c.start) for c in bench.chunks]
    need(keys == sorted(keys), "chunks are not in (path, start) order")
    names = {f"{c.path}#{c.ordinal}" for c in bench.chunks}
    need(names == {c.uid for c in bench.chunks} and len(names) == len(keys), "a uid is not its path and number")
    return f"{len(keys)} chunks in (path, start) order, each with a name of its own"


@index.holds("every chunk has token codes")
def _(bench: Bench) -> str:
    embedder = bench.embedder
    if not isinstance(embedder, TokenEmbedder):
        raise NotRun(f"{embedder.name} shows no token states")
    keys = [c.key for c in bench.chunks]
    _, offsets, present = read_codes(bench.engine.store, embedder.name, embedder.dimension, keys)
    lengths = np.diff(offsets).tolist()
    need_all(
        (here and n == len(embedder.token_spans(c.index_text)), f"{c.uid} has {n} token codes")
        for c, n, here in zip(bench.chunks, lengths, present, strict=True)
    )
    return f"{sum(lengths)} tokens of {len(keys)} chunks are stored, {embedder.dimension // 4} bytes each"


@index.holds("the index is for its owner's eyes only")
def _(bench: Bench) -> str:
    file = bench.engine.index_file
    need(file is not None and file.is_file(), f"there is no index file at {file}")
    assert file is not None
    mode = file.parent.stat().st_mode & 0o777
    need(mode == 0o700, f"the index folder has mode {mode:o}, not 700")
    need(not file.resolve().is_relative_to(bench.corpus.resolve()), f"the index stands in the notes: {file}")
    return "its folder has mode 700 and is not inside the notes"


def _three_ways(bench: Bench, dense: DenseIndex, level: Level) -> tuple[int, float]:
    """How many neighbours FAISS, numpy and a sort in Python agree on, and the largest difference of a score."""
    count, worst = 0, 0.0
    for question in QUESTIONS:
        query, k = bench.embedder.embed_query(question), min(30, dense.size)
        served, brute = search_dense(dense, query, k, level), search_numpy(dense, query, k, level)
        need(len(served) == k > 0, f"{len(served)} neighbours came back, {k} were asked for")
        need([s[0] for s in served] == [b[0] for b in brute], f"other neighbours by brute force for {question!r}")
        # The third way shares nothing with the others: float64, levelled chunk by chunk, sorted by Python.
        cosines = (dense.matrix.astype(np.float64) @ query.astype(np.float64)).tolist()
        exact = {
            row: c + level.base + sum(slope * float(x) for slope, x in zip(level.slopes, place, strict=True))
            for row, c, place in zip(dense.rows.tolist(), cosines, dense.places, strict=True)
        }
        best = sorted(exact.values(), reverse=True)[:k]
        gaps = [max(abs(s - exact[row]), abs(s - b)) for (row, s, _), b in zip(served, best, strict=True)]
        count, worst = count + k, max(worst, *gaps)
    need(worst <= 1e-5, f"scores differ by {worst:.2g}")
    return count, worst


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _picture(engine: Engine) -> dict[str, Any]:
    """Everything that a search could see, by names and not by numbers that depend on history."""
    snapshot = engine.snapshot
    sparse, uids = snapshot.sparse, [c.uid for c in snapshot.chunks]
    postings = {}
    for term in sparse.vocabulary:
        where = sparse.postings(term)
        if where.stop > where.start:
            postings[term] = [(uids[r], tf) for r, tf in zip(sparse.rows[where], sparse.tfs[where], strict=True)]
    vectors = [snapshot.dense.vector(row) for row in range(len(uids))]
    return {
        "notes": [(n.path, n.digest, n.title, n.status) for n in snapshot.notes],
        "chunks": snapshot.chunks,
        "postings": postings,
        "vectors": [None if v is None else v.tobytes() for v in vectors],
        "rankings": [to_json(engine.search(q), timings=False) for q in (ZH, EN, CROSS, "tea 绿茶")],
    }
