"""What can be quoted, what kind of answer is wanted, and which two quotes answer together."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.answer.kinds import expected
from glassbox_tui.answer.quoting import QUOTE_CHARS, quotes
from glassbox_tui.answer.select import OWN_SHARE, RIGHT_KIND, TWO_NOTES, best_pair


def quoted(text: str) -> list[str]:
    return [text[start:end] for start, end in quotes(text)]


@given(st.text(alphabet="ab1 。；;.!\n#|-，锁", max_size=600))
def test_quotes_are_in_order_bounded_and_never_blank(text: str) -> None:
    spans = quotes(text)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for start, end in spans:
        assert 0 < end - start <= QUOTE_CHARS
        assert text[start:end] == text[start:end].strip() != ""


@given(st.text(alphabet="ab1 。；，锁", max_size=600))
def test_plain_prose_is_quotable_to_the_last_letter(text: str) -> None:
    """Only white space and lone punctuation may be left out."""
    letters = [at for at, char in enumerate(text) if char.isalnum()]
    spans = quotes(text)
    assert all(any(start <= at < end for start, end in spans) for at in letters)


def test_a_clause_and_a_crumb_go_on_into_the_next_sentence() -> None:
    assert quoted("租约到期以后，锁会被自动释放，不必等持有者来还；持有者要在到期以前续租。时钟漂移另说。") == [
        "租约到期以后，锁会被自动释放，不必等持有者来还；持有者要在到期以前续租。",
        "时钟漂移另说。",
    ]
    assert quoted("Three. A lease, a token and a clock that both sides agree upon.") == [
        "Three. A lease, a token and a clock that both sides agree upon."
    ]


def test_headings_rules_and_fences_are_no_statements_and_lines_of_a_list_stay_apart() -> None:
    text = "# Tea\n\n---\n\n- one leaf\n- two leaves\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| row one | 1 |\n"
    found = quoted(text)
    assert found == ["- one leaf", "- two leaves", "| a | b |", "| row one | 1 |"]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("舰上有多少人？", "舰上载有 350 人。", "舰上载有许多水手。"),
        ("舰上有多少人？", "船员约二百余人。", "舰长 120 米。"),
        ("这一仗是什么时候打的？", "战斗发生于 1894 年 9 月。", "战斗十分激烈。"),
        ("为什么要续租", "因为租约会到期。", "租约长 30 秒。"),
        ("How many bytes does a token take?", "It takes 96 bytes.", "It takes some bytes."),
        ("When is a lock released?", "It goes once the lease has run out.", "It guards a file."),
        ("Why fuse ranks?", "Ranks travel because scores do not.", "Ranks travel."),
    ],
)
def test_the_kind_that_was_asked_for(question: str, right: str, wrong: str) -> None:
    pattern = expected(question)
    assert pattern is not None
    assert pattern.search(right) and not pattern.search(wrong)


def test_most_questions_want_no_kind_in_particular() -> None:
    assert expected("什么是重排") is None and expected("what is a lease") is None


matrices = st.integers(2, 6).flatmap(
    lambda n: st.integers(1, 5).flatmap(
        lambda q: st.lists(st.lists(st.integers(0, 8), min_size=q, max_size=q), min_size=n, max_size=n)
    )
)


@given(matrices, st.data())
def test_the_pair_is_the_best_of_all_pairs(rows: list[list[int]], data: st.DataObject) -> None:
    count, parts = len(rows), len(rows[0])
    met = np.array(rows) / 8
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=parts, max_size=parts)), dtype=float)
    right = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    notes = data.draw(st.lists(st.sampled_from("ab"), min_size=count, max_size=count))

    def worth(i: int, j: int) -> float:
        value = 0.0
        for part in range(parts):
            a, b = met[i, part], met[j, part]
            value += weights[part] / sum(weights) * ((1 - OWN_SHARE) * max(a, b) + OWN_SHARE * (a + b) / 2)
        return value + RIGHT_KIND * float(right[i] or right[j]) - TWO_NOTES * float(notes[i] != notes[j])

    chosen = best_pair(met, weights, right, notes, np.eye(count, dtype=bool))
    best = max(worth(i, j) for i, j in combinations(range(count), 2))
    assert len(chosen) == 2 and worth(*chosen) == pytest.approx(best)


def test_the_second_quote_says_what_the_first_does_not() -> None:
    """Two near copies that meet the same half of the question lose to one of them and the other half."""
    met = np.array([[0.9, 0.1], [0.9, 0.0], [0.1, 0.6]])
    chosen = best_pair(met, np.ones(2), np.zeros(3, bool), ["a"] * 3, np.eye(3, dtype=bool))
    assert sorted(chosen) == [0, 2]


def test_what_says_the_same_is_never_a_pair() -> None:
    met = np.array([[0.9, 0.9], [0.9, 0.9]])
    assert best_pair(met, np.ones(2), np.zeros(2, bool), ["a", "b"], np.ones((2, 2), bool)) in ([0], [1])
