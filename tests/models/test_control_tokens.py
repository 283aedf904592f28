"""Text that looks like a chat format's control tokens is left readable and is none any more."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.models.control_tokens import neutral

# As the vocabularies of widespread models spell them.
TOKENS = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|start_header_id|>", "<|eot_id|>",
    "<|user|>", "<|assistant|>", "<|end|>", "<|START_OF_TURN_TOKEN|>", "<｜User｜>", "<｜end▁of▁sentence｜>",
    "<s>", "</s>", "<bos>", "<eos>", "<pad>", "<unk>", "<start_of_turn>", "<end_of_turn>", "<BOS_TOKEN>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]",
    "[TOOL_CALLS]", "[gMASK]", "<sop>", "<fim_prefix>", "<file_sep>", "<unused42>", "<extra_id_7>", "<0x0A>",
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<reponame>",
]  # fmt: skip


@given(st.lists(st.sampled_from([*TOKENS, "<", "|", ">", "[", "]", "/", "INST", " ", "a", "名"]), max_size=12))
def test_no_token_is_left_and_nothing_but_blanks_was_added(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = neutral(text)
    assert not [token for token in TOKENS if token in found]
    assert found.replace(" ", "") == text.replace(" ", "")
    assert neutral(found) == found


@given(st.text())
def test_the_text_can_be_read_again_without_the_blanks(text: str) -> None:
    assert re.sub(" ", "", neutral(text)) == re.sub(" ", "", text)


def test_what_notes_are_made_of_is_left_alone() -> None:
    for text in (
        "a |> f and f <| x in F#, x < y | z > 1",
        "<div class='a'><br/>, List<String>, [1], [x], [link](https://a.b)",
        "usage: prog [args] [-h], 名次 [3] 《书》 <https://example.org>",
    ):
        assert neutral(text) == text


def test_a_vocabularys_own_names_go_too() -> None:
    assert neutral("say §turn§ and §turn§§end§", ["§turn§", "§end§", "x"]) == "say § turn§ and § turn§§ end§"
