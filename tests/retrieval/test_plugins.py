"""A class of one's own plugs in by shape alone: none of the classes here imports anything of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from glassbox_tui import Engine
from glassbox_tui.answer.answers import answer
from glassbox_tui.models import protocols
from glassbox_tui.retrieval.fusion import ScoreBlend
from glassbox_tui.retrieval.trace_json import from_json, to_json

NOTES = {"lock.md": "Redlock hands out a lease.", "clock.md": "A lease ends by the clock.", "tea.md": "Green tea."}


class Letters:
    """Embeds by counting letters."""

    name, dimension = "letters", 26

    def embed_query(self, text: str) -> NDArray[np.float32]:
        counts = np.array([text.lower().count(chr(97 + i)) + 0.01 for i in range(26)], np.float32)
        return counts / np.linalg.norm(counts)  # type: ignore[no-any-return]

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.embed_query(text) for text in texts])


class Shortest:
    name = "shortest"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [-float(len(text)) for text in texts]


class OnlyRanks:
    """A first stage that gives an order and no scores."""

    name = "by-name"

    def retrieve(self, query: str, k: int) -> list[str]:
        return ["tea.md#0", "tea.md#0", "elsewhere.md#7", "lock.md#0"]


class Synonyms:
    name = "synonyms"

    def transform(self, query: str, evidence: Sequence[str]) -> str | None:
        return query.replace("mutex", "lease") if "mutex" in query else None


class Always:
    def __init__(self, word: bool) -> None:
        self.name, self.word = "oracle", word

    def judge(self, query: str, evidence: Sequence[str]) -> bool:
        return self.word


class Writer:
    name = "writer"

    def generate(self, query: str, passages: Sequence[str]) -> Iterator[str]:
        yield "It ends by the "
        yield f"clock [{1 + next(i for i, p in enumerate(passages) if 'clock' in p)}]. So says [9]."


class Broken:
    name = "broken"

    def _fail(self, *_: object) -> str:
        raise OSError("no route to model")

    retrieve = fuse = transform = judge = generate = rerank = _fail  # type: ignore[assignment]


def test_the_protocols_know_them_by_shape() -> None:
    for made, protocol in (
        (Letters(), protocols.Embedder),
        (Shortest(), protocols.Reranker),
        (OnlyRanks(), protocols.Retriever),
        (ScoreBlend(), protocols.FusionStrategy),
        (Synonyms(), protocols.QueryTransform),
        (Always(True), protocols.Judge),
        (Writer(), protocols.Generator),
    ):
        assert isinstance(made, protocol)
        assert not isinstance(object(), protocol)


def test_an_embedder_and_a_reranker_of_ones_own_run_the_whole_pipeline() -> None:
    trace = Engine(Letters(), Shortest()).build(NOTES).search("lease", max_rewrites=0)
    assert (trace.index.embedder, trace.index.reranker) == ("letters", "shortest")
    rerank = trace.rounds[0].stage("rerank")
    assert rerank is not None
    texts = [NOTES[c.uid.partition("#")[0]] for c in rerank.candidates]
    assert texts == sorted(texts, key=len)


def test_a_retriever_that_only_ranks_still_traces() -> None:
    trace = Engine(Letters(), Shortest(), retrievers=[OnlyRanks()]).build(NOTES).search("lease", max_rewrites=0)
    own = trace.rounds[0].stage("by-name")
    assert own is not None
    assert [(c.uid, c.rank) for c in own.candidates] == [("tea.md#0", 1), ("lock.md#0", 2)]
    fused = trace.rounds[0].stage("fused")
    assert fused is not None
    tea = next(c for c in fused.candidates if c.uid == "tea.md#0")
    assert 1 / 61 in [p.value for p in tea.parts if p.name == "by-name"]
    assert any("not in the index" in notice for notice in trace.notices)
    assert from_json(to_json(trace)) == trace


def test_a_retriever_named_like_a_stage_takes_its_place() -> None:
    class Mine(OnlyRanks):
        name = "bm25"

    trace = Engine(Letters(), retrievers=[Mine()]).build(NOTES).search("lease", max_rewrites=0)
    bm25 = trace.rounds[0].stage("bm25")
    assert bm25 is not None and [c.uid for c in bm25.candidates] == ["tea.md#0", "lock.md#0"]
    assert [s.name for s in trace.rounds[0].stages] == ["bm25", "dense", "fused", "final"]


def test_a_fusion_of_ones_own_makes_the_final_list() -> None:
    trace = Engine(Letters(), Shortest(), fusion=ScoreBlend()).build(NOTES).search("lease", max_rewrites=0)
    stage = {s.name: {c.uid: c.score for c in s.candidates} for s in trace.rounds[0].stages}
    for uid, score in stage["final"].items():
        assert score == pytest.approx(stage["fused"][uid] * 0.75 + stage["rerank"][uid] * 0.25)


def test_golden_blend() -> None:
    """.1145 x .75 + .891 x .25"""
    assert ScoreBlend(0.25).fuse({"fused": [("x", 0.1145)], "rerank": [("x", 0.891)]}) == [
        ("x", pytest.approx(0.308625))
    ]


def test_a_transform_rewrites_and_the_original_stays_what_is_judged() -> None:
    notes = NOTES | {f"tea{i}.md": "Tea is green, say holders. " * i for i in range(1, 5)}
    trace = Engine(Letters(), transform=Synonyms()).build(notes).search("mutex holder", max_rewrites=2, top_k=3)
    second = trace.rounds[1]
    assert (second.origin, second.query, second.judged_by) == ("llm", "lease holder", "mutex holder")
    assert "mutex" in second.grade.missing
    assert [r.query for r in trace.rounds].count("lease holder") == 1  # it is not run again


@pytest.mark.parametrize("word", [True, False])
def test_a_judge_has_the_last_word(word: bool) -> None:
    trace = Engine(Letters(), judge=Always(word)).build(NOTES).search("green tea", max_rewrites=0)
    assert trace.decision == ("answer" if word else "insufficient")
    assert trace.rounds[0].grade.reasons[0].startswith("oracle says")


def test_a_generator_answers_and_citations_to_nothing_are_removed_and_said() -> None:
    engine = Engine(Letters(), generator=Writer()).build(NOTES)
    given = answer(engine.search("when does a lease end"), engine)
    assert given.mode == "generate"
    [citation] = given.citations
    assert (citation.path, f"[{citation.number}]" in given.text) == ("clock.md", True)
    assert "[9]" not in given.text and "9" in given.notice


def test_whatever_breaks_the_search_goes_on_and_says_so() -> None:
    broken = Broken()
    engine = Engine(
        Letters(), broken, retrievers=[broken], fusion=broken, transform=broken, judge=broken, generator=broken
    ).build(NOTES)
    trace = engine.search("mutex holder", max_rewrites=1)
    assert trace.hits
    for part in ("retriever", "reranker", "fusion", "query transform", "judge"):
        assert any(f"the {part} broken failed (OSError: no route to model)" in notice for notice in trace.notices)
    given = answer(trace, engine)
    assert given.mode == "extract" and "the generator broken failed" in given.notice


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_refused(score: float) -> None:
    class Odd:
        name = "odd"

        def retrieve(self, query: str, k: int) -> list[tuple[str, float]]:
            return [("tea.md#0", score)]

    trace = Engine(Letters(), retrievers=[Odd()]).build(NOTES).search("lease", max_rewrites=0)
    assert any("odd failed" in notice for notice in trace.notices)
    to_json(trace)
