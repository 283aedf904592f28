"""A dictionary line gives what the word means, and nothing that only speaks about the word. The lines are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.glosses import LONGEST_GLOSS, read_glosses, read_line, reversed_glosses


@pytest.mark.parametrize(
    ("line", "word", "glosses"),
    [
        ("燈塔 灯塔 [deng1 ta3] /lighthouse/CL:座[zuo4]/", "灯塔", ("lighthouse",)),
        ("燈 灯 [deng1] /lamp; light/(slang) to shine (on sth)/", "灯", ("lamp", "light", "shine")),
        ("王 王 [Wang2] /surname Wang/", "王", ()),
        ("柏城 柏城 [Bo2 cheng2] /Berlin, capital of Germany/", "柏城", ("Berlin",)),
        ("深城 深城 [Shen1 cheng2] /Deep Town subprovincial city in the south/", "深城", ("Deep Town",)),
        ("某 某 [mou3] /(bird species of China) grey heron (Ardea cinerea (sp))/", "某", ("grey heron",)),
        ("誰 谁 [shei2] /who/also pr. [shui2]/", "谁", ("who",)),
        ("# CC-CEDICT", None, ()),
        ("no entry at all", None, ()),
        ("", None, ()),
    ],
)
def test_a_line_gives_the_meanings(line: str, word: str | None, glosses: tuple[str, ...]) -> None:
    entry = read_line(line)
    assert (entry.word if entry else None) == word
    assert (entry.glosses if entry else ()) == glosses


def test_a_word_that_only_refers_has_the_meanings_of_the_other() -> None:
    found = read_glosses(
        [
            "盌 碗子 [wan3 zi5] /variant of 碗[wan3]/",
            "碗 碗 [wan3] /bowl/",
            "北大 北大 [Bei3 da4] /abbr. for 北方大學|北方大学[Bei3 fang1 da4 xue2], Northern University/",
        ]
    )
    assert found["碗子"] == found["碗"] == ("bowl",)
    assert found["北大"] == ("Northern University",)


def test_all_entries_of_a_spelling_count() -> None:
    found = read_glosses(["行 行 [xing2] /to walk/", "行 行 [hang2] /row/line/"])
    assert found["行"] == ("walk", "row", "line")


def test_the_most_exact_word_comes_first() -> None:
    words = reversed_glosses({"防线": ("defense line",), "防御": ("defense",), "乙": ("second", "defense")})
    assert [word for word, _ in words["defens"]] == ["防御", "乙", "防线"]
    assert dict(words["defens line"]) == {"防线": 1.0}


@given(st.text(max_size=200))
def test_any_line_is_read(line: str) -> None:
    entry = read_line(line)
    assert entry is None or all(gloss == gloss.strip() and gloss for gloss in entry.glosses)


@given(st.text(alphabet="ab()[]/|;, 字C:L", max_size=300))
def test_any_rest_of_a_line_is_read(rest: str) -> None:
    entry = read_line(f"字 字 [zi4] /{rest}/")
    assert entry is not None and "字" not in entry.referred


@given(
    st.dictionaries(
        st.sampled_from(["甲", "乙丙", "丁"]), st.lists(st.text("ab cd", max_size=12), max_size=4), max_size=3
    )
)
def test_weights_are_shares(glosses: dict[str, list[str]]) -> None:
    for key, words in reversed_glosses(glosses).items():
        assert 1 <= key.count(" ") + 1 <= LONGEST_GLOSS
        assert all(0 < weight <= 1 for _, weight in words)
        assert [w for _, w in words] == sorted((w for _, w in words), reverse=True)
