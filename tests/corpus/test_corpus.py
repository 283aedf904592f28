"""The bundled notes and their labelled questions keep the promises that the demo and the evaluation rest on."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import make_pdf
import pypdf
import pytest

from glassbox_tui.notes.load import LoadedNote, load
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.tokens import tokenize

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
RRF_QUESTION = "为什么混合检索要用 RRF 而不是加权分数相加"
CHINESE = re.compile("[\u4e00-\u9fff]")


def is_chinese(text: str) -> bool:
    """Mainly Chinese: more ideographs than Latin words, since one of either carries about as much."""
    return len(CHINESE.findall(text)) > len(re.findall("[A-Za-z]+", text))


@pytest.fixture(scope="module")
def notes() -> dict[str, LoadedNote]:
    return {path.name: load(path, path.name) for path in sorted(CORPUS.iterdir()) if path.suffix != ".jsonl"}


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / "queries.jsonl").read_text(encoding="utf-8").splitlines()]


def terms(text: str) -> set[str]:
    return {token.term for token in tokenize(text)}


def test_notes_are_many_bilingual_and_of_every_kind(notes: dict[str, LoadedNote]) -> None:
    assert 26 <= len(notes) <= 30
    assert {note.kind for note in notes.values()} == {"md", "txt", "pdf"}
    chinese = sum(is_chinese(note.text) for note in notes.values())
    assert abs(2 * chinese - len(notes)) <= 4
    assert all(re.fullmatch(r"\d\d-[a-z0-9-]+\.(md|txt|pdf)", name) for name in notes)


def test_every_note_loads_without_a_complaint(notes: dict[str, LoadedNote]) -> None:
    for name, note in notes.items():
        assert (note.status, note.warnings) == ("ok", ()), name
        assert 400 <= len(note.text) <= 1800, name
    assert len({note.title for note in notes.values()}) == len(notes)


def test_one_note_has_front_matter_and_one_has_code_and_a_table(notes: dict[str, LoadedNote]) -> None:
    raw = {path.name: path.read_text(encoding="utf-8") for path in CORPUS.glob("*.md")}
    headed = [name for name, text in raw.items() if re.match(r"---\ntitle: .+\ntags: .+\n(?:.+\n)*---\n", text)]
    assert headed == ["20-front-matter.md"]
    assert notes[headed[0]].title == "Front matter: the header block of a note"
    assert any(re.search(r"^```\w+$", text, re.M) and re.search(r"^\|[-:| ]+\|$", text, re.M) for text in raw.values())


def test_pdf_gives_its_text_on_both_pages() -> None:
    pages = [page.extract_text() for page in pypdf.PdfReader(CORPUS / "18-pdf-text.pdf", strict=True).pages]
    assert len(pages) == 2
    for page, lines in zip(pages, make_pdf.PAGES, strict=True):
        assert [line.strip() for line in page.splitlines() if line.strip()] == [line for line in lines if line]


def test_pdf_is_what_its_script_writes() -> None:
    assert make_pdf.TARGET.read_bytes() == make_pdf.build()


def test_questions_have_the_shape_that_eval_reads(
    questions: list[dict[str, Any]], notes: dict[str, LoadedNote]
) -> None:
    for question in questions:
        assert set(question) == {"query", "relevant", "answers", "kind"}
        assert question["query"] == question["query"].strip() != ""
        assert question["relevant"] and set(question["relevant"]) <= set(notes)
    assert len({question["query"] for question in questions}) == len(questions)


def test_there_are_enough_questions_of_each_kind(questions: list[dict[str, Any]], notes: dict[str, LoadedNote]) -> None:
    directions: Counter[tuple[str, bool, bool]] = Counter()
    for question in questions:
        about_chinese = {is_chinese(notes[path].text) for path in question["relevant"]}
        assert len(about_chinese) == 1, question["query"]
        directions[question["kind"], is_chinese(question["query"]), about_chinese.pop()] += 1
    assert set(directions) == {
        ("zh", True, True),
        ("en", False, False),
        ("cross", True, False),
        ("cross", False, True),
    }
    assert directions["zh", True, True] >= 15
    assert directions["en", False, False] >= 15
    assert directions["cross", True, False] >= 5
    assert directions["cross", False, True] >= 5


def test_every_note_answers_a_question(questions: list[dict[str, Any]], notes: dict[str, LoadedNote]) -> None:
    assert {path for question in questions for path in question["relevant"]} == set(notes)


def test_the_rrf_question_belongs_to_the_rrf_note(questions: list[dict[str, Any]]) -> None:
    assert [q["relevant"] for q in questions if q["query"] == RRF_QUESTION] == [["04-rrf-fusion.md"]]


def test_no_question_contains_its_notes_title(questions: list[dict[str, Any]], notes: dict[str, LoadedNote]) -> None:
    for question in questions:
        for path in question["relevant"]:
            for title in (notes[path].title, Path(path).stem.partition("-")[2].replace("-", " ")):
                assert fold(title) not in fold(question["query"]), question["query"]


def test_cross_language_pairs_share_no_term(questions: list[dict[str, Any]], notes: dict[str, LoadedNote]) -> None:
    for question in questions:
        if question["kind"] == "cross":
            asked = terms(question["query"])
            assert asked, question["query"]
            for path in question["relevant"]:
                assert not asked & terms(notes[path].title + "\n" + notes[path].text), question["query"]


def test_answers_stand_in_their_notes(questions: list[dict[str, Any]], notes: dict[str, LoadedNote]) -> None:
    assert sum(bool(question["answers"]) for question in questions) >= 20
    for question in questions:
        for answer in question["answers"]:
            assert any(answer in notes[path].text for path in question["relevant"]), (question["query"], answer)
            assert answer not in question["query"]
