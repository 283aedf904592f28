"""Sentences: a partition, and no end inside a number, a name or a quotation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.sentences import sentences

pieces = st.sampled_from(
    [
        "Dr. ",
        "Wu ",
        "v3.14",
        ". ",
        "。",
        "”",
        '"',
        "；",
        "…",
        "...",
        "\n",
        "\n\n",
        "- item",
        "1. ",
        "中文",
        "U.S. ",
        "! ",
        "?",
        " ",
        "e.g. ",
        "）",
        "|",
        "# ",
    ]
)
any_text = st.lists(pieces | st.text(max_size=4), max_size=25).map("".join)


def split(text: str) -> list[str]:
    return [text[a:b].strip() for a, b in sentences(text)]


@given(any_text)
def test_sentences_partition_the_text(text: str) -> None:
    spans = sentences(text)
    assert "".join(text[a:b] for a, b in spans) == text
    assert all(a < b for a, b in spans)


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Wu shipped v3.14.",
        "He paid 3.50 to J. R. Smith et al. of the U.S. Army.",
        "See Fig. 3, eq. 2 and pp. 4, e.g. in No. 5.",
        "Use approx. 5 of it, i.e. half.",
        "圆周率约为3.14159，版本是v2.0.1。",
        "She called at 5 p.m. Monday from Washington.",
        "Wait… what is it, then?",
        "wait ... for it",
        'He said "Stop!" and left.',
        "Read https://a.example/b?c=1 or a.b.c now",
    ],
)
def test_c6_one_sentence_stays_whole(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Wu shipped v3.14. It works.", ["Dr. Wu shipped v3.14.", "It works."]),
        ("He went to the U.S. The next day he left.", ["He went to the U.S.", "The next day he left."]),
        ("他说：“你好。”然后走了。", ["他说：“你好。”", "然后走了。"]),
        ('他说："你好。"然后走了。', ['他说："你好。"', "然后走了。"]),
        ("真的吗？！是的；对……不对。", ["真的吗？！", "是的；", "对……", "不对。"]),
        ("（见上文。）下一句", ["（见上文。）", "下一句"]),
        ("We tried... Then it broke! Why? Nobody knows", ["We tried...", "Then it broke!", "Why?", "Nobody knows"]),
        ('"It broke." They fixed it.', ['"It broke."', "They fixed it."]),
        ("the results . the flow .", ["the results .", "the flow ."]),
        ("中文混排. English follows. 完", ["中文混排.", "English follows.", "完"]),
        ("Title\n\nFirst paragraph\n\nSecond", ["Title", "First paragraph", "Second"]),
        (
            "1. First thing\n2. Second thing\n- a\n* b\n（1）甲\n一、乙",
            ["1. First thing", "2. Second thing", "- a", "* b", "（1）甲", "一、乙"],
        ),
    ],
)
def test_ends_of_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_wrapped_line_is_no_end_and_a_short_line_is() -> None:
    wrapped = "This line was wrapped by an editor at some column\nand goes on here."
    assert split(wrapped) == [wrapped]
    assert split("A heading of a text file\nThe text begins here.") == [
        "A heading of a text file",
        "The text begins here.",
    ]


@pytest.mark.parametrize("unit", [".", "。", "\n", " ", "a. ", '."', "e.g. ", "x)", "? a", "\n- ", "``"])
def test_a_million_repetitions_take_linear_time(unit: str) -> None:
    text = unit * 100_000
    assert sum(b - a for a, b in sentences(text)) == len(text)
