"""The language model as reranker and judge inside a search: its stage, its weight, its failures, said once."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_chat import Scripted
from test_loop import NOTES

from glassbox_tui import Engine
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.assistance import LATER
from glassbox_tui.retrieval.engine import Engine as Opened
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings

QUERY = "redlock lease clocks"


def engine(chat: Scripted, **knobs: Any) -> Engine:
    return Engine(HashingEmbedder(), settings=Settings(**knobs), generator=chat).build(NOTES)


def uids(trace: Trace, stage: str) -> list[str]:
    found = trace.rounds[0].stage(stage)
    assert found is not None
    return [c.uid for c in found.candidates]


def test_named_it_reranks_the_head_of_the_fused_list_and_the_rest_stays_behind() -> None:
    trace = engine(Scripted(["[2] > [1]"]), rerank_model="llm-listwise", llm_rerank_depth=2).search(
        QUERY, max_rewrites=0
    )
    fused = uids(trace, "fused")
    assert uids(trace, "rerank") == [fused[1], fused[0]]
    assert set(uids(trace, "final")[:2]) == set(fused[:2]) and uids(trace, "final")[2:] == fused[2:]
    assert trace.index.reranker == "llm-listwise"


@pytest.mark.parametrize("how", ["llm-pointwise", "llm-pairwise", "llm-listwise"])
@pytest.mark.parametrize("reply", ["[4] > [3] > [2] > [1]", "B", "0"])
def test_it_never_overthrows_the_fused_champion(how: str, reply: str) -> None:
    trace = engine(Scripted([reply]), rerank_model=how).search(QUERY, max_rewrites=0)
    assert uids(trace, "final")[0] == uids(trace, "fused")[0]


def test_a_reply_of_no_use_leaves_the_fused_order_and_is_said_once() -> None:
    trace = engine(Scripted(["I am a helpful assistant"]), rerank_model="llm-listwise").search(QUERY + " zymurgy")
    assert all(r.stage("rerank") is None for r in trace.rounds)
    assert uids(trace, "final") == uids(trace, "fused")
    assert [n for n in trace.notices if "llm-listwise" in n] == [
        "the reranker llm-listwise failed (the reply of scripted ranks no passage): the fused order stands"
    ]


def test_by_name_without_a_model_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Opened, "chat", None)
    with pytest.raises(ModelError, match=r"llm-pairwise needs a language model.*--with-llm"):
        engine(Scripted([]), rerank_model="llm-pairwise")


def test_the_judge_s_word_is_the_verdict_and_the_signals_stay() -> None:
    trace = engine(Scripted(["No."]), judge="model").search(QUERY, max_rewrites=1)
    assert len(trace.rounds) == 2 and not trace.rounds[0].grade.sufficient
    assert trace.rounds[0].grade.reasons[0] == "scripted says insufficient"
    assert trace.rounds[0].grade.coverage is not None
    assert engine(Scripted(["Yes"]), judge="model").search("nothing of the kind").decision == "answer"


def test_an_unclear_judge_leaves_it_to_the_thresholds() -> None:
    chat = Scripted(["Well, it depends."])
    judged, usual = engine(chat, judge="model").search(QUERY), engine(chat).search(QUERY)
    assert [r.grade for r in judged.rounds] == [r.grade for r in usual.rounds]
    assert [n for n in judged.notices if "judge" in n] == [
        "the judge scripted failed (it says neither yes nor no, but 'Well, it depends.'): the built-in verdict stands"
    ]


def test_a_judge_without_a_model_leaves_it_to_the_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Opened, "chat", None)
    trace = engine(Scripted([]), judge="model").search(QUERY)
    assert [n for n in trace.notices if "JUDGE" in n] == [
        "the judge GLASSBOX_JUDGE=model failed (no language model is here): the built-in verdict stands"
    ]


def test_while_somebody_types_no_model_is_asked_and_that_is_said() -> None:
    chat = Scripted(["[1]"])
    trace = engine(chat, rerank_model="llm-listwise", judge="model").search(QUERY, max_rewrites=0, hurried=True)
    assert chat.asked == [] and LATER in trace.notices and trace.last.stage("rerank") is None


def test_a_search_without_a_model_in_it_hurries_as_it_is() -> None:
    assert LATER not in engine(Scripted([])).search(QUERY, hurried=True).notices
