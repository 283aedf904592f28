"""A person's synonyms: what the lines mean, what is wrong with others, and that hostile ones are text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.synonyms import LARGEST, parse_synonyms, spoken_of

FILE = """# cars and clusters
car, automobile, 汽车
k8s => kubernetes, container orchestration

machine learning, ML，机器学习
"""


def means(question: str, text: str = FILE) -> dict[str, tuple[str, ...]]:
    found = spoken_of(question, parse_synonyms(text))
    assert all(question[k.start : k.end] == k.word for k in found)
    return {k.word: k.others for k in found}


@pytest.mark.parametrize(
    ("question", "word", "others"),
    [
        ("which car is red", "car", ("automobile", "汽车")),
        ("which Cars are red", "Cars", ("automobile", "汽车")),
        ("红色的汽车是谁的", "汽车", ("car", "automobile")),
        ("ＡＵＴＯＭＯＢＩＬＥ", "ＡＵＴＯＭＯＢＩＬＥ", ("car", "汽车")),
        ("how does k8s start", "k8s", ("kubernetes", "container orchestration")),
        ("Machine  Learning at home", "Machine  Learning", ("ML", "机器学习")),
        ("什么是机器学习", "机器学习", ("machine learning", "ML")),
    ],
)
def test_a_word_of_a_line_means_the_others(question: str, word: str, others: tuple[str, ...]) -> None:
    assert means(question) == {word: others}


@pytest.mark.parametrize("question", ["kubernetes", "container orchestration", "carpet", "a machine", "learning", ""])
def test_an_arrow_points_one_way_and_parts_of_words_do_not_count(question: str) -> None:
    assert means(question) == {}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("alone", "names one word and no other"),
        ("a, , ", "names one word and no other"),
        ("a => ", "nothing on one side"),
        ("=> b", "nothing on one side"),
        ("a => b => c", "more than one arrow"),
        ("a, ???", "without a letter or digit"),
        ("a, " + "b" * 100, "more than 80 characters"),
        ("a, b" * 1000, "more than 2000 characters"),
    ],
)
def test_a_bad_line_is_left_out_and_told_with_its_number(line: str, why: str) -> None:
    read = parse_synonyms(f"car, automobile\n{line}\n")
    (fault,) = read.faults
    assert fault.startswith("line 2 ") and why in fault
    assert means("car", f"car, automobile\n{line}\n")["car"] == ("automobile",)


def test_many_bad_lines_are_counted() -> None:
    assert parse_synonyms("bad\n" * 10).faults[-1] == "7 more lines cannot be used"


def test_what_is_too_long_is_cut_and_said() -> None:
    assert any("is not read" in fault for fault in parse_synonyms("a, b\n" * (LARGEST // 4)).faults)


@given(st.text(max_size=200), st.text(max_size=40))
def test_any_file_and_any_question_are_read(text: str, question: str) -> None:
    means(question, text)


def test_hostile_files_are_read_in_linear_time() -> None:
    started = time.perf_counter()
    for piece in ("=>", ",", "a=>b,", "\x1b[31m", "a, b\n", " "):
        spoken_of("a b " * 5_000, parse_synonyms(piece * 100_000))
    assert time.perf_counter() - started < 20
