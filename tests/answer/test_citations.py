"""Case G5: [3] means the third source; a number that stands for none is taken out and named."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.answer.citations import checked, citations_in


@pytest.mark.parametrize(
    ("text", "sources", "clean", "numbers", "removed"),
    [
        ("Tea is steamed [1].", 1, "Tea is steamed [1].", (1,), ()),
        ("Tea [4] is steamed [2].", 3, "Tea is steamed [2].", (2,), (4,)),
        ("Numbered from zero [0].", 2, "Numbered from zero.", (), (0,)),
        ("Both [1, 3] say so.", 2, "Both [1] say so.", (1,), (3,)),
        ("All of them [1-3].", 3, "All of them [1][2][3].", (1, 2, 3), ()),
        ("锁会释放【2】。租约［1］", 2, "锁会释放[2]。租约[1]", (2, 1), ()),
        ("A footnote [^2] of a model.", 2, "A footnote [2] of a model.", (2,), ()),
        ("Leading zeros [02], a repeat [2].", 2, "Leading zeros [2], a repeat [2].", (2,), ()),
        ("No sources at all [1].", 0, "No sources at all.", (), (1,)),
        ("Not one: a[i], [x], [2019], [] and [1.5].", 9, "Not one: a[i], [x], [2019], [] and [1.5].", (), ()),
        ("Nested [[9]1] brackets.", 2, "Nested [1] brackets.", (1,), (9,)),
        ("A wild range [1-900].", 2, "A wild range [1].", (1,), (900,)),
    ],
)
def test_citations(text: str, sources: int, clean: str, numbers: tuple[int, ...], removed: tuple[int, ...]) -> None:
    found = checked(text, sources)
    assert (found.text, found.numbers, found.removed) == (clean, numbers, removed)


@given(st.text(alphabet="a [],-123【】 ", max_size=80), st.integers(0, 4))
def test_what_is_left_stands_for_a_source_and_a_second_look_changes_nothing(text: str, sources: int) -> None:
    found = checked(text, sources)
    left = {int(n) for n in re.findall(r"\[(\d{1,4})\]", found.text)}
    assert left == set(found.numbers) <= set(range(1, sources + 1))
    assert not set(found.removed) & set(found.numbers)
    assert checked(found.text, sources).text == found.text


@given(st.text(alphabet="ab。 \n.", max_size=60))
def test_text_without_brackets_stays_as_it_is(text: str) -> None:
    assert checked(text, 3).text == text
    assert citations_in(text) == []
