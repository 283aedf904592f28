"""Embeddings: unit vectors of the declared size that depend on the text and on nothing else."""

from __future__ import annotations

import math

import numpy as np

from glassbox_tui.models.calibration import Calibrated, dense_offsets
from glassbox_tui.models.catalog import HASHING
from glassbox_tui.models.protocols import TokenEmbedder, Vector
from glassbox_tui.selftest.bench import CROSS, Bench
from glassbox_tui.selftest.check import Group, NotRun, need, need_all, need_close

embedding = Group("embedding")

TEXTS = (
    "The database survives a power failure.",
    "断电以后数据库不会损坏。",
    "Green tea is steeped at eighty degrees.",
    "重启nginx后502，日志里有 connect() failed。",
    "",
    "🙂",
)


def _vectors(bench: Bench) -> list[Vector]:
    """Each text as a query and as a passage."""
    return [*map(bench.embedder.embed_query, TEXTS), *bench.embedder.embed_passages(TEXTS)]


def _exact_cosine(a: Vector, b: Vector) -> float:
    """The cosine by its definition, in Python floats."""
    x, y = a.tolist(), b.tolist()
    return math.fsum(p * q for p, q in zip(x, y, strict=True)) / (math.hypot(*x) * math.hypot(*y))


@embedding.holds("every vector has unit length")
def _(bench: Bench) -> str:
    lengths = [math.hypot(*v.tolist()) for v in _vectors(bench)]
    need_all((abs(n - 1) <= 1e-5, f"a vector has length {n:.8f}") for n in lengths)
    return f"{len(lengths)} lengths lie between {min(lengths):.7f} and {max(lengths):.7f}, the empty text's too"


@embedding.holds("every vector has the declared dimension")
def _(bench: Bench) -> str:
    declared = bench.embedder.dimension
    need(declared > 1, f"the declared dimension is {declared}")
    vectors = [*_vectors(bench), *bench.engine.snapshot.dense.matrix[:20]]
    count = need_all((v.shape == (declared,), f"a vector of {v.shape}, declared is {declared}") for v in vectors)
    return f"{count} vectors have {declared} numbers, as {bench.embedder.name} declares"


@embedding.holds("the same text gives the same numbers")
def _(bench: Bench) -> str:
    first, second = _vectors(bench), _vectors(bench)
    count = need_all(
        (a.tobytes() == b.tobytes(), f"the second run differs by up to {np.abs(a - b).max():.2g}")
        for a, b in zip(first, second, strict=True)
    )
    return f"{count} vectors of {first[0].size} numbers are equal bit for bit when made twice"


@embedding.holds("cosines lie in [-1, 1] and tell texts apart")
def _(bench: Bench) -> str:
    rows = bench.embedder.embed_passages(TEXTS)
    cosines = rows.astype(np.float64) @ rows.T.astype(np.float64)
    low, high = float(cosines.min()), float(cosines.max())
    need(low >= -1 - 1e-6 and high <= 1 + 1e-6, f"cosines reach from {low:.7f} to {high:.7f}")
    need(float(np.abs(np.diag(cosines) - 1).max()) <= 1e-5, "a text's cosine with itself is not 1")
    need(low < 0.999, f"the least cosine between unlike texts is {low:.4f}: everything looks alike")
    return f"{cosines.size} cosines between {low:.3f} and {high:.3f}, each text's own 1"


@embedding.holds("the inner product is the cosine")
def _(bench: Bench) -> str:
    query = bench.embedder.embed_query(CROSS)
    gaps = [abs(_exact_cosine(query, v) - float(np.dot(query, v))) for v in bench.engine.snapshot.dense.matrix[:40]]
    need(gaps, "the index has no vectors")
    need(max(gaps) <= 1e-5, f"inner product and cosine differ by {max(gaps):.2g}")
    return f"{len(gaps)} inner products equal the cosine by its definition within {max(gaps):.1g}"


@embedding.holds("batch-mates do not matter")
def _(bench: Bench) -> str:
    together = bench.embedder.embed_passages(TEXTS)
    alone = [bench.embedder.embed_passages([text])[0] for text in TEXTS]
    turned = bench.embedder.embed_passages(TEXTS[::-1])[::-1]
    count = need_all(
        (a.tobytes() == b.tobytes() == c.tobytes(), f"a vector changes by {np.abs(a - b).max():.2g} in a batch")
        for a, b, c in zip(together, alone, turned, strict=True)
    )
    return f"{count} vectors are the same bits alone, in a batch and in the batch turned round"


@embedding.holds("the index holds the embedder's own vectors")
def _(bench: Bench) -> str:
    snapshot = bench.engine.snapshot
    sample = list(enumerate(snapshot.chunks))[:: max(1, len(snapshot.chunks) // 4)]
    worst = 0.0
    for row, chunk in sample:
        stored, fresh = snapshot.dense.vector(row), bench.embedder.embed_passages([chunk.index_text])[0]
        need(stored is not None, f"{chunk.uid} has no vector")
        assert stored is not None
        worst = max(worst, float(np.abs(stored - fresh).max()))
    need(worst == 0.0, f"a stored vector differs from a fresh one by {worst:.2g}")
    return f"{len(sample)} stored vectors equal freshly made ones bit for bit"


@embedding.holds("what is related is nearer than what is not")
def _(bench: Bench) -> str:
    query = bench.embedder.embed_query("Does the database survive a power failure?")
    related, unrelated = (_exact_cosine(query, v) for v in bench.embedder.embed_passages([TEXTS[0], TEXTS[2]]))
    need(related > unrelated, f"the related text scores {related:.3f}, the unrelated one {unrelated:.3f}")
    return f"the related text scores {related:.3f}, the unrelated one {unrelated:.3f}"


@embedding.holds("meaning crosses languages")
def _(bench: Bench) -> str:
    if bench.embedder.name.startswith(HASHING.name):
        raise NotRun("the hashing embedder compares spelling, so nothing crosses languages")
    query = bench.embedder.embed_query("Does the database survive a power failure?")
    right, wrong = (
        _exact_cosine(query, v) for v in bench.embedder.embed_passages([TEXTS[1], "绿茶要用八十度的水来泡。"])
    )
    need(right > wrong, f"the right Chinese text scores {right:.3f}, a wrong one {wrong:.3f}")
    return f"for an English question the right Chinese text scores {right:.3f}, a wrong one {wrong:.3f}"


@embedding.holds("token states come with the vector and the spans")
def _(bench: Bench) -> str:
    embedder = bench.embedder
    if not isinstance(embedder, TokenEmbedder):
        raise NotRun(f"{embedder.name} shows no token states")
    for text in TEXTS:
        encoding = embedder.encode_passage(text)
        need(encoding.vector.tobytes() == embedder.embed_passages([text])[0].tobytes(), "two ways, two vectors")
        need(
            encoding.spans == embedder.token_spans(text), f"spans of {text!r} differ with and without the forward pass"
        )
        need(len(encoding.states) == len(encoding.spans) == embedder.count_tokens(text), f"{text!r}: counts differ")
        held = {at for a, b in encoding.spans for at in range(a, b)}
        lost = [c for at, c in enumerate(text) if not c.isspace() and at not in held]
        need(not lost, f"no token stands for {lost} in {text!r}")
    return f"for {len(TEXTS)} texts there is one state a token, and the tokens' spans hold every visible character"


@embedding.holds("an average text scores alike in every language")
def _(bench: Bench) -> str:
    if not isinstance(bench.embedder, Calibrated):
        raise NotRun(f"{bench.embedder.name} has no calibration by language")
    calibration, query = bench.embedder.calibration, bench.embedder.embed_query(CROSS)
    raw = {language: float(mean @ query) for language, mean in calibration.means.items()}
    offsets = dense_offsets(calibration, query)
    need(len(raw) > 1, "the calibration speaks of one language only")
    levelled = [raw[language] + offsets[language] for language in raw]
    need_close(max(levelled), min(levelled), 1e-6, "the best language's average text")
    need_close(sum(offsets.values()), 0.0, 1e-6, "the sum of the offsets")
    told = ", ".join(f"{language} {score:.3f}" for language, score in sorted(raw.items()))
    return f"average texts score {told}; with their offsets both score {levelled[0]:.3f}"
