"""A model's own turn, and nothing of the tokens that its chat format puts around turns."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text import replies
from glassbox_tui.text.turns import own_turn

# (what opens the model's turn, what closes it, what opens the other side's), as the makers of the models write them.
FAMILIES = {
    "ChatML": ("<|im_start|>assistant\n", "<|im_end|>", "\n<|im_start|>user\n"),
    "Llama 3": (
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|>",
        "<|start_header_id|>user<|end_header_id|>\n\n",
    ),
    "Llama 2": ("", " </s>", "<s>[INST] "),
    "Mistral": ("[/INST]", "</s>", "[INST]"),
    "Gemma": ("<start_of_turn>model\n", "<end_of_turn>\n", "<start_of_turn>user\n"),
    "Phi 3": ("<|assistant|>\n", "<|end|>\n", "<|user|>\n"),
    "Phi 4": ("<|im_start|>assistant<|im_sep|>", "<|im_end|>", "<|im_start|>user<|im_sep|>"),
    "DeepSeek": ("<｜Assistant｜>", "<｜end▁of▁sentence｜>", "<｜User｜>"),
    "Command R": (
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
        "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
    ),
    "gpt-oss": ("<|channel|>final<|message|>", "<|return|>", "<|start|>user<|message|>"),
    "GPT-2": ("", "<|endoftext|>", "\n\nUser: "),
    "GLM": ("<|assistant|>\n", "<|endoftext|>", "<|user|>\n"),
    "EXAONE": ("", "<eos>", "<bos>"),
}
ANSWERS = [
    "The ferry leaves at nine [1].",
    "渡轮九点出发 [1]。",
    "48 bytes",
    "It leaves.\n\n- at nine [1]\n- at ten [2]",
]


def told(written: str) -> str:
    """What a reader sees in the end of a stream that came character by character; what was shown once must stay."""
    shown = ""
    for size in range(len(written) + 1):
        now, over = own_turn(written[:size], done=False)
        assert now.startswith(shown.rstrip()), (shown, now)
        shown = now
        if over:
            return shown
    return own_turn(written)[0]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("name", FAMILIES)
def test_the_turn_is_what_stands_between_its_tokens(name: str, answer: str) -> None:
    opened, closed, other = FAMILIES[name]
    more = f"{other}And what else?{closed}{opened}Nothing."
    for written in (opened + answer + closed + more, opened + answer + closed, opened + answer, answer):
        assert told(written).strip() == answer
        assert own_turn(written)[0].strip() == answer
        assert replies.said(written).splitlines() == replies.said(answer).splitlines()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_other_side_begins_without_an_end(name: str) -> None:
    if name == "GPT-2":
        pytest.skip("it has no token for that")
    opened, _, other = FAMILIES[name]
    assert told(f"{opened}It leaves at nine.{other}When?").strip() == "It leaves at nine."


@pytest.mark.parametrize(
    "answer",
    [
        "ChatML ends a turn with `<|im_end|>`, Llama with `<|eot_id|>`.",
        "The token <|im_end|> ends a turn [1].",
        'A turn ends with "</s>" or (<eos>).',
        "用<|im_end|>结束一轮对话。",
        "A template:\n\n```\n<|im_start|>user\nHello<|im_end|>\n```\n\nThat is all.",
        "It cost <s>ten</s> eight euros.",
        "Lists: [1], [INSTALL], <div>, a < b, x |> f, List<String>.",
    ],
)
def test_a_token_that_is_spoken_of_stays(answer: str) -> None:
    assert told(answer) == answer
    assert own_turn(answer + "<|im_end|>") == (answer, True)


def test_thoughts_in_a_channel_of_their_own_are_no_answer() -> None:
    thought = "<|channel|>analysis<|message|>Perhaps at nine.<|end|><|start|>assistant"
    assert told(thought + "<|channel|>final<|message|>At nine [1].<|return|>") == "At nine [1]."


@given(st.lists(st.sampled_from([*(part for f in FAMILIES.values() for part in f), *ANSWERS, "<", "\n", " ", "`"])))
def test_nothing_is_shown_that_is_taken_back_and_nothing_but_tokens_is_lost(parts: list[str]) -> None:
    written = "".join(parts)
    shown = "".join(told(written).split())  # a channel's end stands for a line's
    letters = iter(written)
    assert all(char in letters for char in shown)  # in its order


@pytest.mark.parametrize("unit", ["<|", "<s>", "`</s>", "a </s> ", "<|channel|>x", "```\n<s>\n"])
def test_a_long_text_takes_no_long_time(unit: str) -> None:
    began = time.process_time()
    own_turn(unit * 30_000, done=False)
    assert time.process_time() - began < 2
