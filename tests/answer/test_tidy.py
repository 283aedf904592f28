"""A stream is shown as it comes, and what was shown stays: however it is cut, the parts are the whole."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glassbox_tui.answer.thinking import without_thinking
from glassbox_tui.answer.tidy import tidy

PARTS = (
    *("Sure! ", "Here is the answer:\n", "Answer: ", "Question: what?\n", "```", "```python\n", "> "),
    *("\n", " ", "ok ", "a", "1\n", "1", "\n2.\n3.\n4.", "\n5\n6\n7\n"),
    *(
        "The lock is released",
        "when the lease ends. ",
        "The lock is released when the lease ends. ",
        "。",
        "租约到期。",
    ),
    *("\n[1]\n> ", "[1] tea.md > Tea", "tea.md > Tea\n", "1. tea.md > Green tea\n", "tea.md > ", "tea", "Tea"),
    *(" [1]", " [9]", "[1, 2]", "[", "【2】", "</think>", "<think>", "<th", "Mr. "),
    *("<|im_start|>", "assistant", "user\n", "<|im_end|>", "</s>", "<s>", "[/INST]", "<|im", "<end_of_turn>", "`"),
    *("<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<|start_header_id|>", "<|end_header_id|>", "租"),
)
PLACES = ("tea.md > Tea", "tea.md > Green tea", "lock.md")
written = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


@example("<th<|channel|>", 4)
@example("ok <|im<|channel|>analysis<|message|>租", 7)
@example("。<|channel|>Sure! <|channel|><|message|>", 29)
@given(written, st.integers(0, 400))
def test_what_was_shown_of_a_beginning_stays(text: str, at: int) -> None:
    first = tidy(text[: at % (len(text) + 1)], 2, places=PLACES, done=False)
    if not first.over:
        assert tidy(text, 2, places=PLACES, done=False).text.startswith(first.text)
        assert tidy(text, 2, places=PLACES).text.startswith(first.text)


@given(written, st.data())
def test_thoughts_are_left_out_wherever_the_stream_is_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert _heard(pieces) == _heard([text])
    assert "<think>" not in _heard(pieces)


def _heard(pieces: list[str]) -> str:
    heard = ""
    for piece in without_thinking(pieces):
        heard = "" if piece is None else heard + piece
    return heard


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a<think>b。c</think>d", "ad"),
        ("<THINK>one</THINK>two", "two"),
        ("one</think>two", "two"),
        ("<think>one", ""),
        ("1 < 2 and a<b", "1 < 2 and a<b"),
        ("<thinking>x</thinking>y<think>z</think>", "y"),
    ],
)
def test_thoughts(text: str, answer: str) -> None:
    assert _heard(list(text)) == answer


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Sure! Here is the answer:\n\nIt is 48.", "It is 48."),
        ("**Answer:** It is 48.", "It is 48."),
        ("```text\nIt is 48 [1].\n```\n", "It is 48 [1]."),
        ("好的，以下是根据笔记的回答：它是 48。", "它是 48。"),
        ("答案：48。", "48。"),
        ("> It is 48 [1].", "It is 48 [1]."),
        ("It is 48 [1].\n\nQuestion: And what is 49?\nIt is 49.", "It is 48 [1]."),
        ("Here the lock is released.", "Here the lock is released."),
        ("Surely it is 48.", "Surely it is 48."),
        ("Use `a`:\n```\nx = 1\n```\nDone.", "Use `a`:\n```\nx = 1\n```\nDone."),
        ("It is 48 [1", "It is 48"),
        ("No. It is not. No. It is.", "No. It is not. No. It is."),
        ("1. The lock ends here.\n2. The lock ends here.", "1. The lock ends here."),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert tidy(text, 2).text == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[1] tea.md > Tea\nIt is green [1].", "It is green [1]."),
        ("tea.md > Tea\n>\n> It is green.", "It is green."),
        ("2. tea.md > Green tea\n\nIt is green.", "It is green."),
        ("Passage [1]: **tea.md > Tea**\nIt is green.", "It is green."),
        ("[1]\n> tea.md > Tea\n> It is green.", "It is green."),
        ("It is green.\n\n[2] tea.md > Green tea\n> It is black.", "It is green.\n\nIt is black."),
        ("tea.md > Tea", ""),
        # An answer, not a copy.
        ("It is green.\n[1]", "It is green.\n[1]"),
        ("tea.md [1]", "tea.md [1]"),
        ("[1] lock.md", "[1] lock.md"),
        ("See tea.md > Tea", "See tea.md > Tea"),
        ("1", "1"),
    ],
)
def test_lines_copied_from_the_prompt_are_left_out(text: str, shown: str) -> None:
    found = tidy(text, 2, places=PLACES)
    assert (found.text, found.copied) == (shown, text != shown)


def test_unknown_numbers_go_and_are_named() -> None:
    found = tidy("It is 48 [1], not 49 [7]. 【2】", 2)
    assert (found.text, found.removed) == ("It is 48 [1], not 49. [2]", (7,))


@pytest.mark.parametrize("loop", ["the ", "ha", "1, ", "字词，", "x y z w\n"])
def test_a_loop_without_a_full_stop_is_over(loop: str) -> None:
    found = tidy("It is " + loop * 60, 1, done=False)
    assert found.over and found.repeats


def test_an_answer_that_only_counts_is_ended_and_none() -> None:
    """SmolLM2 went on to 107."""
    count = "\n".join(map(str, range(1, 30)))
    assert tidy(count, 8, done=False).over and tidy(count, 8).repeats
    assert tidy(count, 8).text == ""
    assert tidy(f"It has these parts.\n{count}", 8).text == "It has these parts."


@pytest.mark.parametrize("text", ["48", "128\n256\n512\n1024\n2048", "1\n2\n3", "1\n2\n3\n4\n5\n6 is even."])
def test_numbers_that_are_the_answer_stay(text: str) -> None:
    assert tidy(text, 2).text == text
