"""A language model as reranker and judge: orders from any reply, both orders asked, and falls that cost nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_chat import Scripted

from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.llm_judge import LLMJudge, UnclearError
from glassbox_tui.models.llm_rerank import HOWS, LLMReranker
from glassbox_tui.models.protocols import Judge, Reranker
from glassbox_tui.progress import Cancelled

TEXTS = ["tea is green", "the lease ends", "ranks are fused", "clocks drift", "redlock hands out leases"]


def ranked(reranker: LLMReranker, texts: list[str] = TEXTS) -> list[int]:
    scores = reranker.rerank("who hands out leases", texts)
    return sorted(range(len(texts)), key=lambda i: -scores[i])


def prefers(word: str) -> object:
    """Says the passage that holds `word`; without one, or with two, always A, as a lazy model does."""

    def reply(prompt: str) -> str:
        a, b = re.search(r"Passage A: (.*)\n\nPassage B: (.*)\n", prompt).groups()  # type: ignore[union-attr]
        return "B" if word in b and word not in a else "A"

    return reply


def test_they_fit_the_protocols() -> None:
    assert isinstance(LLMReranker(str, "listwise"), Reranker) and isinstance(LLMJudge(str), Judge)


def test_any_callable_from_text_to_text_serves() -> None:
    assert ranked(LLMReranker(lambda prompt: "[5] > [2]", "listwise")) == [4, 1, 0, 2, 3]


def test_pointwise_goes_by_the_marks_and_ties_keep_their_order() -> None:
    marks = iter(["3", "Score: 7/10", "3", "no idea", "9"])
    assert ranked(LLMReranker(lambda _: next(marks), "pointwise")) == [4, 1, 3, 0, 2]  # without a mark: the mean, 5.5


@pytest.mark.parametrize("count", [3, 5])
def test_pairwise_brings_the_best_to_the_top_whatever_position_the_model_likes(count: int) -> None:
    texts = TEXTS[-count:]
    assert ranked(LLMReranker(prefers("redlock"), "pairwise"), texts)[0] == count - 1  # type: ignore[arg-type]


def test_a_model_that_always_says_a_changes_nothing() -> None:
    assert ranked(LLMReranker(lambda _: "A", "pairwise")) == [0, 1, 2, 3, 4]


def test_pairwise_asks_few_times() -> None:
    chat = Scripted(["A"])
    LLMReranker(chat, "pairwise").rerank("q", [f"passage {i}" for i in range(8)])
    assert len(chat.asked) == 2 * 7


def test_listwise_puts_what_is_missing_behind_in_the_order_handed_in() -> None:
    assert ranked(LLMReranker(Scripted(["Best is [3], then [9] and [3] again"]), "listwise")) == [2, 0, 1, 3, 4]


@pytest.mark.parametrize("how", HOWS)
def test_replies_that_say_nothing_are_one_clear_error(how: str) -> None:
    with pytest.raises(ModelError, match="scripted"):
        LLMReranker(Scripted(["Hello! How can I help?"]), how).rerank("q", TEXTS)


@pytest.mark.parametrize("how", HOWS)
def test_cancelled_is_heard_before_the_next_call(how: str) -> None:
    chat = Scripted(["1 A [1]"])
    with pytest.raises(Cancelled):
        LLMReranker(chat, how).rerank("q", TEXTS, lambda: bool(chat.asked))
    assert len(chat.asked) <= 1


@given(how=st.sampled_from(HOWS), reply=st.text(max_size=60), texts=st.lists(st.text(max_size=20), max_size=7))
def test_scores_are_finite_one_a_text_or_an_error_of_ours(how: str, reply: str, texts: list[str]) -> None:
    try:
        scores = LLMReranker(lambda _: reply, how).rerank("q", texts)
    except ModelError:
        return
    assert len(scores) == len(texts) and all(abs(score) < 1e6 for score in scores)


def test_the_same_is_not_asked_twice() -> None:
    chat = Scripted(["4"])
    reranker = LLMReranker(chat, "pointwise")
    assert reranker.rerank("q", TEXTS) == reranker.rerank("q", TEXTS)
    assert len(chat.asked) == len(TEXTS)


def test_passages_are_cut_to_fit_a_small_context() -> None:
    chat = Scripted(["[2]"])
    chat.context = 220
    LLMReranker(chat, "listwise").rerank("q", ["word " * 200, "other " * 200])
    assert chat.count(chat.asked[0]) <= 220


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [("Yes", True), ("no.", False), ("<think>no?</think> yes", True), ("**No**, it is not", False), ("足够", True),
     ("不够", False), ("是的。", True)],
)  # fmt: skip
def test_a_judge_reads_yes_and_no(reply: str, verdict: bool) -> None:
    assert LLMJudge(lambda _: reply).judge("q", ["text"]) is verdict


@pytest.mark.parametrize("reply", ["", "maybe", "The passages speak of tea", "是不是"])
def test_a_judge_says_when_it_is_unclear(reply: str) -> None:
    with pytest.raises(UnclearError):
        LLMJudge(lambda _: reply).judge("q", ["text"])


def test_no_evidence_never_suffices_and_nobody_is_asked() -> None:
    chat = Scripted(["yes"])
    assert LLMJudge(chat).judge("q", []) is False and chat.asked == []
