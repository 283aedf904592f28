"""The real small model in the loop. What it writes is weak; what becomes of it is not left to it."""

from __future__ import annotations

import pytest
from test_loop import NOTES

from glassbox_tui import Engine
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.generators import open_generator
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.trace import USED
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings, load_settings

pytestmark = pytest.mark.llm
QUERY = "redlock lease quorum arithmetic zymurgy"  # no note answers it


@pytest.fixture(scope="module")
def chat() -> ChatModel:
    return open_generator(load_settings())


def engine(chat: ChatModel, **knobs: object) -> Engine:
    return Engine(HashingEmbedder(), settings=Settings(**knobs), generator=chat).build(NOTES)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["rewrite", "decompose", "hyde", "expand"])
def test_its_reply_is_run_or_rejected_and_either_is_on_record(chat: ChatModel, how: str) -> None:
    trace = engine(chat).search(QUERY, rewriter=how, max_rewrites=1)
    (attempt,) = trace.attempts
    assert attempt.model == chat.name and attempt.reply and attempt.ms > 0
    origin = {"rewrite": "llm", "expand": "llm"}.get(how, how) if attempt.outcome == USED else "prf"
    made = [r.origin for r in trace.rounds]
    assert made == ["user", origin] or (made == ["user"] and trace.ended == "no-change")
    assert trace.last.grade.coverage is not None and from_json(to_json(trace)) == trace


def test_it_reranks_or_the_fused_order_stands_and_a_notice_says_so(chat: ChatModel) -> None:
    trace = engine(chat, rerank_model="llm-pointwise", llm_rerank_depth=3).search(QUERY, max_rewrites=0)
    rerank, fused, final = (trace.last.stage(name) for name in ("rerank", "fused", "final"))
    assert fused is not None and final is not None
    assert final.candidates[0].uid == fused.candidates[0].uid
    assert (rerank is None) == any("the fused order stands" in notice for notice in trace.notices)
    assert rerank is None or (len(rerank.candidates) == 3 and rerank.ms > 0)


def test_it_judges_or_the_thresholds_do_and_a_notice_says_so(chat: ChatModel) -> None:
    trace = engine(chat, judge="model").search(QUERY, max_rewrites=0)
    judged = any(reason.startswith(f"{chat.name} says") for reason in trace.last.grade.reasons)
    assert judged != any("the built-in verdict stands" in notice for notice in trace.notices)
