"""Labelled data as people write it: what is taken, what is counted as a miss, and what is refused by file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glassbox_tui.lab.documents import read_documents
from glassbox_tui.lab.jsonl import LabError
from glassbox_tui.lab.queries import LabelledQuery, doubts, read_queries


def written(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def test_lists_grades_answers_and_kinds_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"query": "a", "relevant": ["x.md", "y.md"], "answers": ["one", " "], "kind": "en"},
        "",
        {"query": "b", "relevant": {"x.md": 2, "y.md#3": 0.5}},
        {"query": "", "relevant": ["x.md"]},
        {"query": 7, "relevant": [12], "answers": None},
    )
    assert read_queries(path) == [
        LabelledQuery("a", {"x.md": 1.0, "y.md": 1.0}, ("one",), "en"),
        LabelledQuery("b", {"x.md": 2.0, "y.md#3": 0.5}),
        LabelledQuery("", {"x.md": 1.0}),
        LabelledQuery("7", {"12": 1.0}),
    ]


def test_a_mark_a_line_separator_and_windows_line_ends_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes('\ufeff{"query": "a\u2028b\u0085c", "relevant": ["x"]}\r\n'.encode())
    (only,) = read_queries(path)
    assert only.query == "a\u2028b\u0085c"


def test_half_a_surrogate_pair_is_replaced(tmp_path: Path) -> None:
    (only,) = read_queries(written(tmp_path, '{"query": "x\\ud83d y", "relevant": []}'))
    assert only.query == "x\ufffd y"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"query": "a", "relevant": ["x"]', "not JSON"),
        ('["a"]', "a JSON object was expected, this is a list"),
        ("3", "this is a number"),
        ('{"relevant": ["x"]}', 'the key "query" is missing'),
        ('{"query": "a"}', 'the key "relevant" is missing'),
        ('{"query": null, "relevant": []}', 'the key "query" is missing'),
        ('{"query": ["a"], "relevant": []}', '"query" must be text'),
        ('{"query": "a", "relevant": "x.md"}', '"relevant" must be a list, this is a string'),
        ('{"query": "a", "relevant": [null]}', '"relevant"'),
        ('{"query": "a", "relevant": {"x": "high"}}', "the grade of 'x' must be a number"),
        ('{"query": "a", "relevant": {"x": NaN}}', "the grade of 'x' must be a number"),
        ('{"query": "a", "relevant": [], "answers": "one"}', '"answers" must be a list'),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_with_file_and_line(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path, {"query": "fine", "relevant": []}, "", line)
    with pytest.raises(LabError) as caught:
        read_queries(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"query": "a", "relevant": []}\n{"query": "\xff"}\n')
    with pytest.raises(LabError, match=r":2: this line is not UTF-8"):
        read_queries(path)


@pytest.mark.parametrize("read", [read_queries, read_documents])
def test_a_file_without_rows_or_that_is_none_says_so(tmp_path: Path, read: Any) -> None:
    with pytest.raises(LabError, match="holds no"):
        read(written(tmp_path, "", "  "))
    with pytest.raises(LabError, match="cannot read"):
        read(tmp_path)


def test_documents_keep_ids_titles_and_texts(tmp_path: Path) -> None:
    notes = read_documents(
        written(
            tmp_path,
            {"id": "a", "title": " A\ttitle ", "text": "One\r\ntwo"},
            {"id": 7, "text": "# x"},
            {"id": "b.md", "text": " "},
        )
    )
    assert [(uid, n.title, n.text, n.kind, n.status) for uid, n in notes.items()] == [
        ("a", "A title", "One\ntwo", "txt", "ok"),
        ("7", "", "# x", "txt", "ok"),
        ("b.md", "", " ", "md", "empty"),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"title": "t", "text": "x"}, 'the key "id" is missing'),
        ({"id": "b"}, 'the key "text" is missing'),
        ({"id": "a", "text": "again"}, "the id 'a' is there twice"),
        ({"id": " ", "text": "x"}, '"id" is empty'),
    ],
)
def test_a_document_that_cannot_be_used_names_its_line(tmp_path: Path, row: dict[str, str], said: str) -> None:
    path = written(tmp_path, {"id": "a", "text": "x"}, row)
    with pytest.raises(LabError) as caught:
        read_documents(path)
    assert str(caught.value) == f"{path}:2: {said}"


def test_doubts_count_what_no_search_can_answer() -> None:
    queries = [
        LabelledQuery("a", {"x": 1, "gone": 1, "zero": 0}),
        LabelledQuery(" ", {"x": 1}),
        LabelledQuery("b", {"zero": 0}),
    ]
    assert doubts(queries, {"x"}) == [
        "1 of 3 questions are empty: counted as found nothing",
        "1 of 3 questions have no relevant note: counted as found nothing",
        "1 of 2 labels name no note that is indexed, such as 'gone'",
    ]
    assert doubts(queries[:1], {"x", "gone"}) == []
