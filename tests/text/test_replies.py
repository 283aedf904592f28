"""What a model meant: every wrapping that small models put around a reply, and nothing that raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.replies import QUERY_CHARS, choice, order, passage, queries, said, score, words, yes_or_no

WRAPPED = [
    "redlock lease expiry",
    '"redlock lease expiry"',
    "Sure, here is the rewritten query:\n\nredlock lease expiry",
    "Sure! Here's a better query: redlock lease expiry",
    "<think>I should keep redlock.\nHm.</think>\nredlock lease expiry",
    "keep redlock</think>redlock lease expiry",
    "```\nredlock lease expiry\n```",
    '```json\n{"query": "redlock lease expiry"}\n```',
    '["redlock lease expiry"]',
    "1. redlock lease expiry",
    "- **redlock lease expiry**",
    "**Rewritten query:** redlock lease expiry",
    "Rewritten Query: “redlock lease expiry”",
    "改写后的查询：redlock lease expiry",
    "好的，以下是改写后的查询：\n“redlock lease expiry”",
    "redlock lease expiry<|im_end|>\n<|im_start|>user",
    "redlock \x1b\x00lease\u202e expiry",
    "redlock lease expiry\r\n\r\nI hope this helps!",
]


@pytest.mark.parametrize("reply", WRAPPED)
def test_a_query_is_found_in_whatever_stands_around_it(reply: str) -> None:
    assert queries(reply) == ("redlock lease expiry",)


def test_several_queries_come_from_lines_or_json_and_no_two_are_alike() -> None:
    expected = ("What is A?", "what is B")
    assert queries("1) What is A?\n2) what is B\n3) What is a", 3) == expected
    assert queries('Here: {"questions": ["What is A?", "what is B", "what is b?"]}', 3) == expected


def test_the_prompt_said_back_is_no_query() -> None:
    prompt = "Write one better search query.\nQuestion: what is A"
    assert queries(f"{prompt}\nthe meaning of A", echo=prompt) == ("the meaning of A",)


def test_what_begins_with_a_number_or_holds_quotes_is_kept_as_it_is() -> None:
    assert queries("2.5 GHz clock drift") == ("2.5 GHz clock drift",)
    assert queries('what "green tea" means') == ('what "green tea" means',)


@given(st.text(max_size=400))
def test_no_reader_raises_and_none_lets_a_control_character_through(reply: str) -> None:
    found = (*queries(reply, 5), passage(reply), *words(reply, 5), said(reply))
    assert not any((ord(c) < 32 and c != "\n") or 0xD800 <= ord(c) < 0xE000 for text in found for c in text)
    assert all(0 < len(q) <= QUERY_CHARS and "\n" not in q for q in queries(reply, 5))
    mark, places = score(reply), order(reply, 4)
    assert mark is None or 0 <= mark <= 10
    assert len(set(places)) == len(places) and set(places) <= {0, 1, 2, 3}
    assert choice(reply) in (None, "A", "B") and yes_or_no(reply) in (None, True, False)


@given(st.permutations(range(6)))
def test_an_order_survives_its_usual_forms(wanted: list[int]) -> None:
    for form in (
        " > ".join(f"[{i + 1}]" for i in wanted),
        ", ".join(str(i + 1) for i in wanted),
        "\n".join(f"{n}. Passage {i + 1}" for n, i in enumerate(wanted, 1)),
        f"Sure! {[i + 1 for i in wanted]}",
    ):
        assert order(form, 6) == tuple(wanted)


def test_words_come_from_lists_of_any_kind() -> None:
    assert words("Keywords: WAL, crash recovery\n- fsync: 0.8", 9) == ("WAL", "crash recovery", "fsync")
    assert words("预写日志、崩溃恢复，检查点", 2) == ("预写日志", "崩溃恢复")


def test_a_passage_loses_its_lead_in_and_its_fences() -> None:
    assert passage("Sure, here is a passage:\n\n```\nSQLite keeps a log.\nIt survives.\n```") == (
        "SQLite keeps a log. It survives."
    )
