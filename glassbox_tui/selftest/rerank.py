"""The rerank stage: there, repeatable, of use, and a signal that cannot take the search over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from glassbox_tui.index.rows import ChunkRow
from glassbox_tui.index.sparse import idf, passage_parts
from glassbox_tui.index.token_codes import read_codes
from glassbox_tui.models.late_interaction import dequantise, quantise
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.query import QueryTokens, read_query
from glassbox_tui.retrieval.stages import LateInteraction, bm25_of
from glassbox_tui.retrieval.standing import KEYWORDS, LENGTH, LITERAL, USUAL_LENGTH, VALUE
from glassbox_tui.retrieval.trace import Candidate, Round
from glassbox_tui.selftest.bench import CROSS, EN, ZH, Bench
from glassbox_tui.selftest.check import Group, NotRun, need, need_all, need_close
from glassbox_tui.text.language import language_of
from glassbox_tui.text.strays import bare
from glassbox_tui.text.tokens import terms

rerank = Group("rerank")

TEXTS = [f"A lease number {i} ends by the clock. " + "lease " * (i % 4) for i in range(12)]


class Reverse:
    """A hostile reranker: what stood first comes last, exactly reversed."""

    name = "reverse"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(i) for i in range(len(texts))]


class Broken:
    name = "broken"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        raise RuntimeError("out of memory")


def _why_off(bench: Bench) -> str | None:
    """None if a reranker serves the bundled notes, else the reason."""
    if bench.engine.pipeline().reranker is not None:
        return None
    if bench.user.disable_rerank:
        return "GLASSBOX_DISABLE_RERANK switches rerank off"
    return f"{bench.embedder.name} has no token states for late interaction, and no other reranker is set"


def _needs_reranker(bench: Bench) -> None:
    if (why := _why_off(bench)) is not None:
        raise NotRun(why)


def _stage(round_: Round, name: str) -> tuple[Candidate, ...]:
    stage = round_.stage(name)
    need(stage is not None, f"the {name} stage did not run")
    assert stage is not None
    return stage.candidates


@rerank.holds("a required reranker is there")
def _(bench: Bench) -> str:
    why = _why_off(bench)
    if bench.user.require_rerank:
        need(why is None, f"GLASSBOX_REQUIRE_RERANK is set, but {why}")
        return f"required, and {bench.engine.info().reranker} is there"
    return f"not required; {bench.engine.info().reranker if why is None else f'off: {why}'}"


@rerank.holds("it runs on every question")
def _(bench: Bench) -> str:
    _needs_reranker(bench)
    count = 0
    for round_ in bench.rounds:
        fused, reranked = _stage(round_, "fused"), _stage(round_, "rerank")
        depth = {c.uid for c in fused[: bench.settings.rerank_depth]}
        need(
            {c.uid for c in reranked} == depth, f"{len(reranked)} candidates were reranked, not the {len(depth)} first"
        )
        need(all(math.isfinite(c.score) for c in reranked), "a score is not a number")
        need(len({c.score for c in reranked}) > 1, "every candidate has the same score")
        count += len(reranked)
    need(count, "nothing was reranked")
    return f"{bench.engine.info().reranker} scored {count} candidates in {len(bench.rounds)} rounds"


@rerank.holds("it is deterministic")
def _(bench: Bench) -> str:
    _needs_reranker(bench)
    runs = [_stage(bench.engine.search(ZH, max_rewrites=0).rounds[0], "rerank") for _ in range(2)]
    need(runs[0] == runs[1] and runs[0], "two runs give different scores")
    return f"{len(runs[0])} scores are equal bit for bit in two runs"


@rerank.holds("it puts the most relevant text first")
def _(bench: Bench) -> str:
    _needs_reranker(bench)
    given = bench.engine.pipeline().reranker
    texts = [
        "Power plants sell what they make by the hour.",
        "A failure of nerve cost the team the match.",
        "Databases are taught in the second year.",
        "The database survives a power failure: the write-ahead log is replayed at the next start.",
    ]
    engine = bench.small(texts, embedder=bench.embedder, reranker=None if isinstance(given, LateInteraction) else given)
    ranked = _stage(engine.search("Does the database survive a power failure?", max_rewrites=0).rounds[0], "rerank")
    need(len(ranked) == 4 and ranked[0].uid == "0003.txt#0", f"{ranked[0].uid} comes first, not the answer")
    first, second = (c.score for c in ranked[:2])
    return f"of 4 texts about power, failures and databases the answer scores {first:.3f}, the next {second:.3f}"


@rerank.holds("a reversing reranker cannot dethrone the fused champion at w < 1")
def _(bench: Bench) -> str:
    for weight in (0.25, 0.5, 0.75, 0.99):
        round_ = _hostile(bench, weight)
        fused, final = _stage(round_, "fused"), _stage(round_, "final")
        need(final[0].uid == fused[0].uid, f"at w = {weight:g} {final[0].uid} takes the place of {fused[0].uid}")
    fused, final = (_stage(_hostile(bench, 3.0), name) for name in ("fused", "final"))
    need(final[0].uid != fused[0].uid, "at w = 3 it changes nothing: the reranker's list is not heard at all")
    return f"the first of {len(fused)} stays first at w = .25, .5, .75, .99, and at w = 3 no longer does"


@rerank.holds("the final score is 1/(k + fused rank) + w/(k + rerank rank)")
def _(bench: Bench) -> str:
    round_, k, count = _hostile(bench, 0.5), 60, 0
    places = {name: {c.uid: c.rank for c in _stage(round_, name)} for name in ("fused", "rerank")}
    for c in _stage(round_, "final"):
        expected = 1 / (k + places["fused"][c.uid]) + 0.5 / (k + places["rerank"][c.uid])
        need_close(c.score, expected, 1e-12, f"the final score of {c.uid}")
        count += 1
    need(count, "the final list is empty")
    return f"{count} final scores equal the closed form at w = .5"


@rerank.holds("what was not reranked stands behind, in fused order")
def _(bench: Bench) -> str:
    round_ = _hostile(bench, 5.0, rerank_depth=3)
    fused, final = ([c.uid for c in _stage(round_, name)] for name in ("fused", "final"))
    need(len(_stage(round_, "rerank")) == 3, f"{len(_stage(round_, 'rerank'))} were reranked, not 3")
    need(set(final[:3]) == set(fused[:3]) and final[3:] == fused[3:] and final[3:], f"fused {fused}, final {final}")
    return f"at depth 3 of {len(fused)} the other {len(fused) - 3} keep their fused order behind the three"


@rerank.holds("a failing reranker leaves the fused order and says so")
def _(bench: Bench) -> str:
    trace = bench.small(TEXTS, reranker=Broken()).search("lease clock", max_rewrites=0)
    fused, final = ([c.uid for c in _stage(trace.rounds[0], name)] for name in ("fused", "final"))
    need(fused == final and final, "the final order is not the fused one")
    told = [notice for notice in trace.notices if "broken" in notice and "out of memory" in notice]
    need(told, f"the notices say nothing of it: {trace.notices}")
    return f"{len(final)} candidates in fused order, and the notice: {told[0]}"


@rerank.holds("late interaction is the weighted mean of best matches, and what stands there")
def _(bench: Bench) -> str:
    """Chunks in the question's own language; what translations add to others is `translated`'s to prove."""
    engine = bench.engine
    if not isinstance(engine.pipeline().reranker, LateInteraction):
        raise NotRun("late interaction is not the reranker")
    worst, count = 0.0, 0
    for question in (EN, ZH, CROSS):
        tokens = read_query(bare(question), engine.embedder, engine.snapshot.sparse, 1).tokens
        need(tokens is not None and tokens.words, f"{question!r} has no tokens")
        assert tokens is not None
        for c in _stage(bench.trace(question).rounds[0], "rerank"):
            chunk = engine.snapshot.chunk(c.uid)
            if chunk.language == language_of(question):
                worst, count = max(worst, abs(c.score - _late_interaction(engine, tokens, chunk))), count + 1
    need(count, "nothing in the questions' languages was reranked")
    need(worst <= 1e-4, f"a score is off by {worst:.2g}")
    return f"{count} scores equal a brute-force sum in float64 within {worst:.1g}"


def _late_interaction(engine: Engine, tokens: QueryTokens, chunk: ChunkRow) -> float:
    """The score by its definition: from the chunk's text where the program asks its postings, term by term where it
    asks for rows."""
    snapshot, settings = engine.snapshot, engine.pipeline().settings
    codes, _, _ = read_codes(engine.store, engine.embedder.name, engine.embedder.dimension, [chunk.key])
    cosines = tokens.rows.astype(np.float64) @ dequantise(codes).astype(np.float64).T
    held = set(terms(chunk.index_text))
    literal = [(LITERAL + VALUE * any(c.isdigit() for c in term)) if term in held else 0.0 for term in tokens.terms]
    similar = float((tokens.weights * (cosines.max(axis=1) + np.array(literal))).sum() / tokens.weights.sum())
    mass = sum(weight * idf(snapshot.sparse, term) for term, weight in tokens.question.items())
    parts = passage_parts(snapshot.passages, snapshot.row_of[chunk.uid], tokens.question, bm25_of(settings))
    keywords = KEYWORDS * sum(own + whole for _, own, whole in parts) / mass
    length = -LENGTH * math.log(len(codes) / USUAL_LENGTH)
    return similar + keywords + length + tokens.level.at(snapshot.place(chunk.uid))


@rerank.holds("two bits a dimension keep a token's direction")
def _(bench: Bench) -> str:
    """For a Gaussian the 2-bit Lloyd-Max quantiser leaves a distortion of .1175 (Max 1960), so a cosine of
    sqrt(1 - .1175) = .9394."""
    rows = np.random.default_rng(1).normal(size=(400, 384)).astype(np.float32)
    decoded = dequantise(quantise(rows, np.zeros(384, dtype=np.float32))).astype(np.float64)
    cosines = (rows * decoded).sum(axis=1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(decoded, axis=1)
    need_all(
        (abs(n - 1) <= 1e-5, f"a decoded row has length {n:.7f}") for n in np.linalg.norm(decoded, axis=1).tolist()
    )
    mean = fmean(cosines.tolist())
    need_close(mean, math.sqrt(1 - 0.1175), 0.002, "the mean cosine of 400 Gaussian rows with their codes")
    return f"400 Gaussian rows of 384 keep a mean cosine of {mean:.4f}; the theory says {math.sqrt(1 - 0.1175):.4f}"


def _hostile(bench: Bench, weight: float, rerank_depth: int = 30) -> Round:
    """One round over twelve texts with the reversing reranker; it is checked that it does reverse."""
    engine = bench.small(TEXTS, reranker=Reverse(), rerank_weight=weight, rerank_depth=rerank_depth)
    round_ = engine.search("lease clock number", max_rewrites=0).rounds[0]
    reranked = [c.uid for c in _stage(round_, "rerank")]
    fused = [c.uid for c in _stage(round_, "fused")][: len(reranked)]
    need(len(fused) > 1 and reranked == fused[::-1], "the hostile reranker did not reverse the list")
    return round_
