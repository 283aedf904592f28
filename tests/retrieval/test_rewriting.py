"""Queries by the model: what each way runs, what is rejected and said so, and that nothing of round 0 is ever lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_chat import Scripted
from test_loop import MANY, NOTES

from glassbox_tui import Engine
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.progress import Cancelled
from glassbox_tui.retrieval.keyterms import lost
from glassbox_tui.retrieval.moves import Accept, First, Skip
from glassbox_tui.retrieval.stepping import step
from glassbox_tui.retrieval.trace import USED, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import REWRITERS, Settings

# No note answers it, and the notes hold "redlock" and "lease".
QUERY = "redlock lease quorum arithmetic zymurgy"
KEPT = "redlock lease and quorum zymurgy, by arithmetic, for newcomers"

INDEXED = Engine(HashingEmbedder(), settings=Settings()).build(NOTES)


def searched(how: str, *replies: str | Exception, query: str = QUERY, **changes: Any) -> tuple[Trace, Scripted]:
    chat = Scripted(replies)
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=chat).build(MANY)
    return engine.search(query, rewriter=how, **changes), chat


def test_a_scripted_model_is_a_chat_model() -> None:
    assert isinstance(Scripted([]), ChatModel)


def test_a_rewrite_is_the_next_query_and_is_recorded_with_its_prompt_and_reply() -> None:
    trace, _ = searched("rewrite", f'Sure, here is a better query:\n\n"{KEPT}"', max_rewrites=1)
    assert [(r.origin, r.query) for r in trace.rounds] == [("user", QUERY), ("llm", KEPT)]
    (attempt,) = trace.attempts
    assert (attempt.round, attempt.how, attempt.model, attempt.outcome) == (1, "rewrite", "scripted", USED)
    assert KEPT in attempt.reply and "Sure" in attempt.reply
    assert QUERY in attempt.prompt[-1][1] and attempt.prompt[0][0] == "system"


def test_one_call_a_round_and_the_next_prompt_names_what_was_tried() -> None:
    trace, chat = searched("rewrite", KEPT, KEPT + " again", max_rewrites=2)
    assert [r.origin for r in trace.rounds] == ["user", "llm", "llm"]
    assert len(chat.asked) == 2
    assert KEPT not in chat.asked[0][-1].text and KEPT in chat.asked[1][-1].text


def test_the_prompt_is_in_the_language_of_the_question() -> None:
    _, chat = searched("rewrite", "x", query="租约到期之后谁来通知客户端重新选举呢", max_rewrites=1)
    assert "保留" in chat.asked[0][-1].text and "Keep" not in chat.asked[0][-1].text


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "is empty"),
        ("<think>what could it be</think>", "is empty"),
        ("<think>it never stops thinking", "is empty"),
        ("Sure! Here you go:", "holds no query"),
        (QUERY.upper() + "?", "repeats the question"),
        ("how do mutual exclusion services count votes", "drops 'redlock'"),
        ("x" * 5_000, "holds no query"),
    ],
)
def test_a_useless_reply_is_rejected_said_so_and_feedback_serves(reply: str, why: str) -> None:
    trace, _ = searched("rewrite", reply, max_rewrites=1)
    assert [r.origin for r in trace.rounds] == ["user", "prf"]
    assert trace.attempts[0].outcome == f"rejected: it {why}"
    assert f"the model's rewrite was rejected, for it {why}: feedback serves" in trace.notices


@pytest.mark.parametrize(
    ("question", "reply", "dropped"),
    [
        ("what does DEC-0054 decide about redlock leases", "redlock lease decisions", "DEC-0054"),
        ("how many leases does redlock 2.5 hand out in 1999", "redlock 2.5 leases handed out", "1999"),
        ('who wrote "green tea" about leases', "lease author on tea that is green", "green tea"),
        ("为什么 ZooKeeper 要数会话而不看时钟", "为什么要数会话而不看时钟", "ZooKeeper"),
        ("redlock lease", "how locks expire", "redlock"),
        ("绿茶用什么水", "茶水的温度", "绿茶"),
        ("redlock lease", "what a redlock is", None),
        ("绿茶用多少度的水", "泡绿茶的水是几度", None),
        ("Why does ZooKeeper count sessions", "为什么 ZooKeeper 数会话", None),
        ("what is a tea", "tea", None),
    ],
)
def test_names_numbers_quotations_and_the_rarest_terms_must_survive(
    question: str, reply: str, dropped: str | None
) -> None:
    assert lost(question, reply, INDEXED.snapshot.sparse) == dropped


def test_a_rewrite_into_another_language_keeps_the_names_and_may_lose_the_words() -> None:
    trace, _ = searched("rewrite", "Redlock 租约与算法", query="Redlock lease quorum arithmetic", max_rewrites=1)
    assert trace.attempts[0].outcome == USED


def test_a_model_that_repeats_itself_ends_in_feedback_and_the_loop_ends() -> None:
    trace, chat = searched("rewrite", KEPT, max_rewrites=9)
    assert [r.origin for r in trace.rounds[:3]] == ["user", "llm", "prf"]
    assert trace.attempts[1].outcome == "rejected: it repeats a query that ran"
    assert trace.ended in ("rewrites-used", "repeated", "no-idea", "no-change") and len(trace.rounds) <= 10
    assert len(chat.asked) <= len(trace.rounds)


def test_the_parts_of_a_question_are_searched_each_and_fused_in_one_round() -> None:
    first, second = "what lease does redlock hand out", "how does quorum arithmetic work with zymurgy"
    trace, _ = searched("decompose", f"1. {first}\n2. {second}", max_rewrites=1)
    last = trace.last
    assert last.origin == "decompose" and last.query == f"{first} | {second}"
    assert [s.name for s in last.stages][:4] == ["bm25", "dense", "bm25/2", "dense/2"]
    fused = last.stage("fused")
    assert fused is not None
    named = {p.name for c in fused.candidates for p in c.parts}
    own = {s.name for s in last.stages[:4] if s.candidates}
    assert named == own | {f"{s.name}@0" for s in trace.rounds[0].stages[:2] if s.candidates}
    assert {"dense", "dense/2", "dense@0"} <= named
    assert {"hand", "arithmet"} <= set(last.terms)


def test_one_question_is_no_decomposition() -> None:
    trace, _ = searched("decompose", KEPT, max_rewrites=1)
    assert trace.attempts[0].outcome == "rejected: it is no decomposition: it holds one question"
    assert trace.last.origin == "prf"


def test_hyde_moves_the_vector_halfway_to_the_passage_and_leaves_the_terms(e5: E5Embedder) -> None:
    passage = "Green tea is steeped at eighty degrees for three minutes, zymurgy or not."
    engine = Engine(e5, settings=Settings(), generator=Scripted([passage])).build(MANY)
    trace = engine.search(QUERY, rewriter="hyde", max_rewrites=1)
    last = trace.last
    assert (last.origin, last.query, last.terms) == ("hyde", passage, trace.rounds[0].terms)
    mean = e5.embed_query(QUERY) + e5.embed_passages([passage])[0]
    towards = mean / np.linalg.norm(mean)
    dense = last.stage("dense")
    assert dense is not None
    for candidate in dense.candidates:
        cosine = next(p.value for p in candidate.parts if p.name == "cosine")
        row = engine.snapshot.row_of[candidate.uid]
        vector = engine.snapshot.dense.vector(row)
        assert vector is not None and cosine == pytest.approx(float(vector @ towards), abs=1e-3)
    keywords, before = last.stage("bm25"), trace.rounds[0].stage("bm25")
    assert keywords is not None and before is not None
    assert [(c.uid, c.score) for c in keywords.candidates] == [(c.uid, c.score) for c in before.candidates]


def test_hyde_without_vectors_is_rejected() -> None:
    trace, _ = searched("hyde", "a passage that is long enough to be one", max_rewrites=1, mode="bm25")
    assert "dense search is off" in trace.attempts[0].outcome and trace.last.origin == "prf"


def test_expansion_adds_words_with_weights_to_the_question() -> None:
    trace, _ = searched("expand", "Keywords: sessions, redlock, ZooKeeper, 时钟漂移", max_rewrites=1)
    last = trace.last
    assert last.origin == "llm" and last.query.startswith(QUERY)
    assert {t.surface for t in last.added_terms} == {"sessions", "ZooKeeper", "时钟漂移"}
    assert all(0 < t.weight < 1 and t.sources == () for t in last.added_terms)
    assert set(trace.rounds[0].terms) <= set(last.terms)


def test_expansion_by_the_question_s_own_words_is_rejected() -> None:
    trace, _ = searched("expand", "redlock, lease, QUORUM", max_rewrites=1)
    assert trace.attempts[0].outcome == "rejected: it adds no word that was not asked for"


@pytest.mark.parametrize("how", [h for h in REWRITERS if h != "feedback"])
def test_without_a_model_feedback_serves_and_one_notice_says_so(how: str) -> None:
    engine = Engine(HashingEmbedder(), settings=Settings(answers="extract")).build(MANY)
    engine.generator = None
    trace = Engine.search(_without_model(engine), QUERY, rewriter=how, max_rewrites=2)
    assert {r.origin for r in trace.rounds[1:]} == {"prf"} and trace.attempts == ()
    assert [n for n in trace.notices if how in n] == [
        f"GLASSBOX_REWRITER={how}, but no language model is here: feedback serves"
    ]


def _without_model(engine: Engine) -> Engine:
    """The engine where no language model can be had, whatever is installed here."""

    class Without(Engine):
        chat = None  # type: ignore[assignment]

    engine.__class__ = Without
    return engine


def test_a_model_that_does_not_write_the_language_is_not_asked() -> None:
    chat = Scripted(["never"], languages=("other",))
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=chat).build(MANY)
    trace = engine.search("租约到期之后谁来通知客户端重新选举呢", rewriter="rewrite", max_rewrites=1)
    assert "scripted does not write Chinese: feedback serves" in trace.notices and chat.asked == []


def test_a_model_that_fails_is_no_end_of_the_search() -> None:
    trace, _ = searched("rewrite", ModelError("the server at http://127.0.0.1:1 does not answer"), max_rewrites=1)
    assert trace.last.origin == "prf"
    assert trace.attempts[0].outcome == "failed: the server at http://127.0.0.1:1 does not answer"
    assert any("does not answer" in notice for notice in trace.notices)


def test_cancelled_is_heard_while_the_model_writes() -> None:
    stop: list[bool] = []

    def reply(_: str) -> str:
        stop.append(True)
        return "a\nb\nc"

    engine = Engine(HashingEmbedder(), settings=Settings(), generator=Scripted(reply)).build(MANY)
    with pytest.raises(Cancelled):
        engine.search(QUERY, rewriter="rewrite", cancelled=lambda: bool(stop))


def test_a_transform_of_one_s_own_comes_before_the_model() -> None:
    class Own:
        name = "own"

        def transform(self, query: str, evidence: object) -> str:
            return "redlock by hand"

    chat = Scripted([KEPT])
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=chat, transform=Own()).build(MANY)
    trace = engine.search(QUERY, rewriter="rewrite", max_rewrites=1)
    assert trace.last.query == "redlock by hand" and chat.asked == []


@given(
    how=st.sampled_from([h for h in REWRITERS if h != "feedback"]),
    replies=st.lists(st.one_of(st.text(max_size=80), st.sampled_from([KEPT, "<think>", "1. a?\n2. b?"])), min_size=1),
)
def test_whatever_the_model_says_the_loop_ends_and_round_0_is_never_lost(how: str, replies: list[str]) -> None:
    trace, _ = searched(how, *replies, max_rewrites=3)
    assert 1 <= len(trace.rounds) <= 4 and trace.ended
    keys = [(r.query, r.added_terms) for r in trace.rounds]
    assert len(set(keys)) == len(keys)
    first = {c.uid for n in ("bm25", "dense") if (s := trace.rounds[0].stage(n)) for c in s.candidates}
    for round_ in trace.rounds[1:]:
        fused = round_.stage("fused")
        assert fused is not None and first <= {c.uid for c in fused.candidates}
    assert from_json(to_json(trace)) == trace


def test_stepping_proposes_the_model_s_query_and_carries_the_attempt() -> None:
    chat = Scripted([KEPT, KEPT + " and sessions"])
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=chat).build(MANY)
    pause = step(engine, First(QUERY), rewriter="rewrite")
    assert pause.proposal is not None and pause.proposal.round.query == KEPT
    assert pause.trace.attempts == () and [a.outcome for a in pause.proposal.attempts] == [USED]
    skipped = step(engine, Skip(pause.trace, pause.proposal))
    assert skipped.proposal is not None and skipped.proposal.round.query == KEPT + " and sessions"
    assert [a.outcome for a in skipped.proposal.attempts] == ["skipped by you", USED]
    accepted = step(engine, Accept(skipped.trace, skipped.proposal), go_on=False)
    assert [a.outcome for a in accepted.trace.attempts] == ["skipped by you", USED]
    assert from_json(to_json(accepted.trace)) == accepted.trace


def test_another_rewriter_takes_over_in_the_middle_of_stepping() -> None:
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=Scripted([KEPT])).build(MANY)
    pause = step(engine, First(QUERY))
    assert pause.proposal is not None and pause.proposal.round.origin == "prf"
    other = step(engine, Skip(pause.trace, pause.proposal), rewriter="rewrite")
    assert other.proposal is not None and other.proposal.round.origin == "llm"
