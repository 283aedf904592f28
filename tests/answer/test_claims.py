"""Each sentence of an answer is tied to what supports it; what is false is told from what is true."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from glassbox_tui import Engine
from glassbox_tui.answer.answers import answer
from glassbox_tui.answer.claims import Claim, check
from glassbox_tui.answer.statements import Statement, said, statements
from glassbox_tui.commands.claims import Judged, judge_claims, rareness, report
from glassbox_tui.lab.claim_sets import LabelledClaim, made_claims, read_claims
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
NOTES = {
    "tea.md": "# Tea\n\nGreen tea is steamed within 20 hours, so the leaves do not oxidise. Black tea is rolled first.",
    "lock.md": "# Leases\n\nA lease expires after 30 seconds and has to be renewed. A bare lock stays for ever.",
    "锁.md": "# 锁\n\n租约到期以后锁会自动释放。持有者要在三十秒之内续租，否则别人可以拿走它。",
}


class Writer:
    """A generator that says what it was told to say."""

    name = "writer"

    def __init__(self, text: str) -> None:
        self.text = text

    def generate(self, query: str, passages: object) -> Iterator[str]:
        yield self.text


def checked(text: str, embedder: E5Embedder | None = None, question: str = "tea and leases") -> tuple[Claim, ...]:
    engine = Engine(embedder or HashingEmbedder(), settings=Settings(), generator=Writer(text)).build(NOTES)
    found = answer(engine.search(question, max_rewrites=0), engine)
    assert found.mode == "generate"
    return found.claims


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea is steamed [1]. Coffee is not [2][3].", [("Tea is steamed.", (1,)), ("Coffee is not.", (2, 3))]),
        ("Tea is steamed. [1] Coffee is not. [2]", [("Tea is steamed.", (1,)), ("Coffee is not.", (2,))]),
        (
            "锁会释放【1】。租约会到期。[2]\n\n没有引用。",
            [("锁会释放。", (1,)), ("租约会到期。", (2,)), ("没有引用。", ())],
        ),
        ("- Tea [1]\n- Coffee [2]\n", [("- Tea", (1,)), ("- Coffee", (2,))]),
        ("  \n ... \n", []),
    ],
)
def test_a_citation_belongs_to_the_words_before_it(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(s.text, s.cited) for s in statements(text)] == expected


@pytest.mark.parametrize(
    "silent",
    [
        "## Green tea",
        "**Green tea:**",
        "1",
        "2. tea-notes.md > Green tea > Steaming",
        "Would you like to know more about tea?",
        "还想了解绿茶吗？",
        "Here are the steps:",
        "Sure, here is what I found about tea.",
        "I don't know.",
        "I'm sorry, but I cannot answer this.",
        "The price of tea is not mentioned in the notes.",
        "The provided context does not say when tea was first drunk.",
        "not in your notes",
        "笔记里没有提到绿茶的价格。",
        "很抱歉，无法回答这个问题。",
        "以下是绿茶的做法：",
    ],
)
def test_what_claims_nothing_of_the_world_is_not_held_against_the_notes(silent: str) -> None:
    assert statements(silent) == []
    assert [s.text for s in statements(f"{silent}\n\nGreen tea is steamed.")] == ["Green tea is steamed."]


@pytest.mark.parametrize(
    ("sentence", "bare"),
    [
        ("According to passage 2, tea is steamed.", "tea is steamed."),
        ("Based on the provided notes, tea is steamed.", "tea is steamed."),
        ("The notes say that tea is steamed.", "tea is steamed."),
        ("2. Tea is steamed.", "Tea is steamed."),
        ("- **Tea** is steamed.", "**Tea** is steamed."),
        ("Yes, tea is steamed.", "tea is steamed."),
        ("根据笔记 3，绿茶要蒸青。", "绿茶要蒸青。"),
        ("资料中提到，绿茶要蒸青。", "绿茶要蒸青。"),
        ("In 1920 tea was steamed.", "In 1920 tea was steamed."),
        ("3.5 grams of tea are steamed.", "3.5 grams of tea are steamed."),
        ("Notes are steamed.", "Notes are steamed."),
        ("笔记要备份。", "笔记要备份。"),
    ],
)
def test_talk_about_where_it_is_from_is_no_part_of_a_claim(sentence: str, bare: str) -> None:
    assert said(sentence) == bare


def test_a_list_number_and_a_passage_number_are_not_details_that_the_source_lacks() -> None:
    first, second = checked(
        "1. Green tea is steamed within 20 hours.\n2. According to passage 1, a lease expires after 30 seconds."
    )
    assert (first.verdict, first.missing) == (second.verdict, second.missing) == ("supported", ())


@pytest.mark.parametrize("bundled", [True, False])
def test_true_false_and_changed_sentences_get_different_verdicts(bundled: bool, e5: E5Embedder) -> None:
    true, number, strange = checked(
        "The leaves of green tea do not oxidise, since it is steamed within 20 hours. "
        "The leaves of green tea do not oxidise, since it is steamed within 45 hours. "
        "Whales breathe air and return to the surface of the ocean.",
        e5 if bundled else None,
    )
    assert (true.verdict, true.missing) == ("supported", ())
    assert true.source is not None and true.source.path == "tea.md" and true.source.lines == (3, 3)
    assert "steamed within 20 hours" in true.source.text
    assert number.verdict != "supported" and number.missing == ("45",) and number.support < true.support / 2
    assert strange.verdict == "unsupported" and strange.support < number.support + 0.2


def test_a_claim_in_another_language_than_its_source_can_be_supported(e5: E5Embedder) -> None:
    (claim,) = checked("当租约到期时，锁会自动释放。", e5)
    assert claim.source is not None and claim.source.path == "锁.md"
    engine = Engine(e5, settings=Settings()).build({"锁.md": NOTES["锁.md"], "tea.md": NOTES["tea.md"]})
    hits = engine.search("lease", max_rewrites=0).hits
    across, wrong = check(
        [Statement("The lock is released once the lease expires.", ()), Statement("The moon is made of cheese.", ())],
        hits, {}, engine,
    )  # fmt: skip
    assert across.source is not None and across.source.path == "锁.md"
    assert across.verdict == "supported" and wrong.verdict == "unsupported"


def test_wrong_and_missing_citations_are_marked_and_the_right_source_is_named() -> None:
    engine = Engine(HashingEmbedder(), settings=Settings()).build(NOTES)
    hits = engine.search("green tea steamed leaves lease", max_rewrites=0).hits
    number = {hit.path: n for n, hit in enumerate(hits, start=1)}
    tea, lock = number["tea.md"], number["lock.md"]
    said = "Green tea is steamed within 20 hours, so the leaves do not oxidise"
    right, wrong, none, gone = check(
        statements(f"{said} [{tea}]. {said} [{lock}]. {said}. Whales sing in the deep ocean [{tea}]."),
        hits, dict(enumerate(hits, start=1)), engine,
    )  # fmt: skip
    assert [c.citation for c in (right, wrong, none, gone)] == ["right", "wrong", "missing", ""]
    for claim in (right, wrong, none):
        assert claim.source is not None and claim.source.number == tea


def test_an_extract_supports_itself_and_its_claims_are_plain_json(e5: E5Embedder) -> None:
    engine = Engine(e5, settings=Settings(answers="extract")).build(NOTES)
    found = answer(engine.search("how long until green tea is steamed"), engine)
    assert found.mode == "extract" and len(found.claims) == len(found.citations)
    for claim, citation in zip(found.claims, found.citations, strict=True):
        assert (claim.text, claim.verdict, claim.citation, claim.missing) == (citation.text, "supported", "right", ())
    (first, *_) = json.loads(json.dumps(asdict(found)))["claims"]
    assert set(first) == {"text", "support", "verdict", "source", "missing", "cited", "citation"}
    assert set(first["source"]) == {"number", "uid", "path", "lines", "page", "text"}


def test_no_evidence_supports_nothing_and_words_without_content_are_no_claim() -> None:
    engine = Engine(HashingEmbedder(), settings=Settings()).build(NOTES)
    (claim,) = check([Statement("Tea is steamed.", ()), Statement("It is the.", ())], [], {}, engine)
    assert (claim.verdict, claim.support, claim.source, claim.citation) == ("unsupported", 0.0, None, "")


WITHIN, ACROSS = {"zh", "en", "made"}, {"zh on en", "en on zh"}


def auroc_by_counting(true: list[float], false: list[float]) -> float:
    """Every pair, won, lost or tied: the definition."""
    return sum(1.0 if t > f else 0.5 if t == f else 0.0 for t in true for f in false) / len(true) / len(false)


@pytest.fixture(scope="module")
def judged(e5: E5Embedder, tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    """Claims by hand and made, over eight of the bundled notes."""
    folder = tmp_path_factory.mktemp("claims")
    for number in ("01", "04", "13", "14", "16", "25", "26", "28"):
        for file in CORPUS.glob(f"{number}-*"):
            shutil.copy(file, folder)
    names = {file.name for file in folder.iterdir()}
    by_hand = [claim for claim in read_claims(CORPUS / "claims.jsonl") if claim.note in names]
    texts = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    engine = Engine(e5, settings=Settings()).build(folder, index_file=folder.parent / "claims.sqlite")
    with engine:
        return judge_claims(engine, [*by_hand, *made_claims(texts, 20, rareness(engine))], lambda _: None)


def test_true_claims_stand_over_those_from_elsewhere_and_those_with_another_detail(judged: list[Judged]) -> None:
    """The issue's bar is .95 against sentences from elsewhere; changed details are reported, and may not sink."""

    def figure(kinds: set[str], *labels: str) -> float:
        mine = [j for j in judged if j.kind in kinds]
        true, false = ([j.claim.support for j in mine if j.label in which] for which in (("true",), labels))
        return auroc_by_counting(true, false)

    assert figure(WITHIN, "elsewhere") >= 0.95
    assert figure(WITHIN, "removed") >= 0.95
    assert figure(WITHIN, "number") >= 0.95
    assert figure(WITHIN, "name") >= 0.85
    assert figure({"zh", "en"}, "number", "name", "word") >= 0.8
    assert sum(j.kind in ACROSS and j.label == "true" for j in judged) >= 25
    assert figure(ACROSS, "elsewhere") >= 0.95
    assert figure(ACROSS, "number") >= 0.9
    assert figure(ACROSS, "name") >= 0.8
    for kind, rows in report(judged)["kinds"].items():
        for label, row in rows.items():
            if label != "true":
                assert row["auroc"] == pytest.approx(figure({kind}, label))


def test_most_true_claims_pass_and_hardly_a_changed_number_does(judged: list[Judged]) -> None:
    def share(label: str, verdict: str) -> float:
        mine = [j for j in judged if j.label == label and j.kind in WITHIN]
        return sum(j.claim.verdict == verdict for j in mine) / len(mine)

    assert share("true", "supported") >= 0.85
    # A number may be changed to one that stands in the next sentence.
    assert share("elsewhere", "supported") == 0 and share("number", "supported") <= 0.1


MAKING = f"""
from pathlib import Path
from glassbox_tui.lab.claim_sets import made_claims
made = made_claims({{path.name: path.read_text("utf-8") for path in Path({str(CORPUS)!r}).glob("*.md")}}, 20, len)
"""


def test_the_same_claims_are_made_in_every_process() -> None:
    """Sets of strings come in another order in each."""
    made = set()
    for seed in "123":
        command = [sys.executable, "-X", "utf8", "-c", f"{MAKING}print(made)"]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        made.add(subprocess.run(command, env=env, check=True, capture_output=True, encoding="utf-8").stdout)
    assert len(made) == 1 and len(made.pop()) > 1_000


def test_made_claims_are_reshaped_and_their_twins_differ_in_one_place() -> None:
    texts = {
        "a.md": "# A\n\nThe lease of Redis expires after 30 seconds, so it has to be renewed by Etcd, again and again.",
        "b.md": "# B\n\n预写日志依赖共享内存，不能放在网络文件系统上，也不能只复制一半。"
        "这个容器看得到 16 个核，但是并不都能拿来用。",
    }
    claims = made_claims(texts, 10, len)
    assert claims == made_claims(texts, 10, len) and {c.note for c in claims} == set(texts)
    for claim in claims:
        source = texts[claim.note]
        assert claim.text not in source  # never simply the text
        for label, twin in claim.false.items():
            assert twin != claim.text and abs(len(twin) - len(claim.text)) <= 2, label
    assert any("number" in claim.false for claim in claims) and any("name" in claim.false for claim in claims)


def test_the_claims_by_hand_are_of_the_notes_and_not_their_text() -> None:
    claims: list[LabelledClaim] = read_claims(CORPUS / "claims.jsonl")
    assert {claim.kind for claim in claims} == (WITHIN | ACROSS) - {"made"}
    assert sum(claim.kind in ACROSS for claim in claims) >= 60
    for claim in claims:
        file = CORPUS / claim.note
        assert file.is_file()
        assert claim.text.rstrip("。.") not in " ".join(file.read_text("utf-8").split())
        assert set(claim.false) <= {"number", "name", "word"} and all(
            twin != claim.text for twin in claim.false.values()
        )
