"""The loop mends what is wrong with a question, says so, and leaves alone what it cannot know."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.notes.synonyms import read_synonyms
from glassbox_tui.retrieval.keyterms import left_out, lost
from glassbox_tui.retrieval.loop import run
from glassbox_tui.retrieval.moves import Accept, First, Skip
from glassbox_tui.retrieval.remedies import by_lexicon, by_synonyms, diagnose, known_to, mended
from glassbox_tui.retrieval.stepping import step
from glassbox_tui.retrieval.trace import Round, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings
from glassbox_tui.text.synonyms import parse_synonyms, spoken_of
from glassbox_tui.views.evidence import round_lines
from glassbox_tui.views.report import report
from glassbox_tui.views.xray import xray

NOTES = {
    "rrf.md": "# Fusion\n\nReciprocal rank fusion adds ranks.",
    "db.md": "# Stores\n\nA data base keeps rows. The webpage lists the stations.",
    "solberg.md": "# People\n\nIngrid Solberg wants to lead the next release, DEC-0054, version 3.3.3.",
    "car.md": "# Cars\n\nThe automobile stands in the garage. 汽车在车库里。",
    **{f"filler{i}.md": f"Number {i * 1001} of the herons sleeps on a leg by the river." for i in range(12)},
}


def engine(embedder: HashingEmbedder | E5Embedder | None = None) -> Engine:
    return Engine(embedder or HashingEmbedder(), settings=Settings()).build(NOTES)


ENGINE = engine()


def mended_by(trace: Trace) -> Round:
    (found,) = [r for r in trace.rounds if r.origin not in ("user", "prf")]
    return found


@pytest.mark.parametrize(
    ("question", "mend", "path"),
    [
        ("what does recipocal rank do", "what does reciprocal rank do", "rrf.md"),
        ("what does Reciprcoal rank do", "what does Reciprocal rank do", "rrf.md"),
        ("what is a database for rows", "what is a data base for rows", "db.md"),
        ("which web page lists them", "which webpage lists them", "db.md"),
        ("which web-page lists them", "which webpage lists them", "db.md"),
        ("what does Ingrid Solbreg want", "what does Ingrid Solberg want", "solberg.md"),
        ("fusoin of rnaks", "fusion of ranks", "rrf.md"),
    ],
)
def test_spelling_is_mended_searched_and_judged(question: str, mend: str, path: str) -> None:
    trace = ENGINE.search(question)
    r = mended_by(trace)
    assert (r.number, r.origin, r.query, r.judged_by) == (1, "spelling", mend, mend)
    assert trace.last.hits[0].path == path
    assert "stands nowhere in your notes" in r.why
    assert trace.asked == mend and trace.rounds[0].judged_by == question
    assert from_json(to_json(trace)) == trace


def test_the_reason_stands_in_every_view() -> None:
    trace = ENGINE.search("what does recipocal rank do")
    why = "'recipocal' stands nowhere in your notes; 'reciprocal' is near it (1 letter), in 1 chunk"
    assert trace.rounds[1].why == why
    lines = "\n".join(line.plain for line in round_lines(trace))
    assert all(why in text for text in (xray(trace), report(trace), lines))
    assert "judged by" in xray(trace)


def test_a_mended_round_keeps_round_0_and_reads_the_mended_text(e5: E5Embedder) -> None:
    made = engine(e5)
    r, clean = mended_by(made.search("recipocal rank")), made.search("reciprocal rank").rounds[0]
    assert r.terms == clean.terms
    for name in ("bm25", "dense"):
        assert r.stage(name).candidates == clean.stage(name).candidates  # type: ignore[union-attr]
    rerank, as_clean = r.stage("rerank"), clean.stage("rerank")
    assert rerank is not None and as_clean is not None
    scores = {c.uid: c.score for c in as_clean.candidates}
    assert {c.uid: c.score for c in rerank.candidates if c.uid in scores} == pytest.approx(scores)
    fused = r.stage("fused")
    assert fused is not None and any(p.name == "dense@0" for c in fused.candidates for p in c.parts)
    assert r.grade.missing == clean.grade.missing == ()


@pytest.mark.parametrize(
    "question",
    ["what is DEC-0055", "version 3.3.4 of it", "number 4005 of the herons", "what was decided in 2024", "err_code_17"],
)
def test_codes_and_numbers_are_never_changed(question: str) -> None:
    trace = ENGINE.search(question)
    assert {r.origin for r in trace.rounds} <= {"user", "prf"}
    assert all(r.query.startswith(question) for r in trace.rounds)


@pytest.mark.parametrize(("question", "named"), [("what is DEC-0055", "dec-0054"), ("number 4005 herons", "4004")])
def test_a_near_code_is_named(question: str, named: str) -> None:
    notices = [n for n in ENGINE.search(question).notices if "did you mean" in n]
    assert len(notices) == 1 and repr(named) in notices[0]
    assert not any("did you mean" in n for n in ENGINE.search(question, max_rewrites=0).notices)


def test_a_word_that_the_notes_hold_is_no_misspelling_and_a_dictionary_s_word_is_none_either() -> None:
    class Book:
        def words(self, keys: Sequence[str]) -> dict[str, object]:
            return {key: "" for key in keys if key == "sleep" or key == "fission"}

    found = diagnose("the fission of herons", ENGINE.snapshot)
    assert [f.words for f in found.fixes] == []  # two letters away in a short word
    assert [f.words for f in diagnose("statoins", ENGINE.snapshot).fixes] == [("stations",)]
    assert known_to(Book())("sleeping") and not known_to(Book())("slepeing")
    near = diagnose("herond sleep", ENGINE.snapshot)
    assert [f.words for f in near.fixes] == [("herons",)]
    assert diagnose("herond sleep", ENGINE.snapshot, is_word=lambda word: word == "herond").fixes == ()


def test_a_long_question_costs_as_much_as_its_words_and_not_their_square() -> None:
    """Counted in calls, which are the same on every machine."""

    def calls(words: int) -> int:
        question = " ".join(f"recip{chr(97 + i % 26)}cal{chr(97 + i // 26 % 26)}" for i in range(words))
        made = 0

        def count(frame: object, event: str, arg: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        diagnose(question, ENGINE.snapshot)  # what is made once
        sys.setprofile(count)
        try:
            diagnose(question, ENGINE.snapshot)
        finally:
            sys.setprofile(None)
        return made

    assert calls(600) < 2.5 * calls(300)


def test_an_unknown_word_is_mended_even_where_the_rest_suffices() -> None:
    trace = ENGINE.search("recipocal rank fusion adds ranks")
    assert trace.rounds[0].grade.sufficient
    assert [r.origin for r in trace.rounds] == ["user", "spelling"]
    assert ENGINE.search("reciprocal rank fusion adds ranks").rounds[0].grade.sufficient


def test_of_two_near_words_the_one_beside_the_other_words_is_taken() -> None:
    notes = {f"a{i}.md": "the lease ends by the clock" for i in range(5)} | {"b.md": "a leash for the dog"}
    made = Engine(HashingEmbedder(), settings=Settings()).build(notes)
    assert mended_by(made.search("the leasg of the dog")).query == "the leash of the dog"
    assert mended_by(made.search("the leasg by the clock")).query == "the lease by the clock"


@given(st.text(max_size=50))
def test_any_question_is_diagnosed(question: str) -> None:
    found = diagnose(question, ENGINE.snapshot)
    assert mended(question, ()) == question
    assert all(0 <= f.start < f.end <= len(question) for f in found.fixes)
    spans = sorted((f.start, f.end) for f in found.fixes)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


# -- synonyms and translation ------------------------------------------------------------------------------------------


def searched_with(question: str, synonyms: str, tmp_path: Path) -> Trace:
    for path, text in NOTES.items():
        (tmp_path / path).write_text(text, "utf-8")
    (tmp_path / "synonyms.txt").write_text(synonyms, "utf-8")
    with Engine(HashingEmbedder(), settings=Settings()).build(
        tmp_path, index_file=tmp_path / ".i" / "i.sqlite"
    ) as made:
        assert "synonyms.txt" not in {note.path for note in made.notes()}
        assert any(s.path == "synonyms.txt" and "your synonyms" in s.reason for s in made.skipped)
        return made.search(question)


@pytest.mark.parametrize("synonyms", ["automobile, wagon, 汽车", "wagon => automobile"])
def test_an_unknown_word_is_replaced_by_its_synonym(synonyms: str, tmp_path: Path) -> None:
    r = mended_by(searched_with("where does the wagon stand", synonyms, tmp_path))
    assert r.origin == "synonyms" and r.judged_by.startswith("where does the automobile")
    assert "by your synonyms it is 'automobile'" in r.why and r.hits[0].path == "car.md"


def test_a_known_word_gets_its_synonyms_beside_it_where_the_evidence_is_weak(tmp_path: Path) -> None:
    trace = searched_with("the herons of quokka zymurgy", "heron => garage", tmp_path)
    r = mended_by(trace)
    assert r.judged_by == trace.query and [(t.surface, t.sources) for t in r.added_terms] == [("garage", ())]
    assert "from your synonyms" in xray(trace)
    strong = searched_with("what does Ingrid Solberg want to lead", "lead => garage", tmp_path)
    assert [x.origin for x in strong.rounds] == ["user"]


def test_two_remedies_act_in_one_round(tmp_path: Path) -> None:
    r = mended_by(searched_with("recipocal wagon", "wagon, automobile", tmp_path))
    assert (r.origin, r.query) == ("spelling", "reciprocal automobile")
    assert len(r.why.splitlines()) == 2


def test_bad_lines_are_told_and_a_hostile_file_is_text(tmp_path: Path) -> None:
    trace = searched_with("the wagon", "lonely\nwagon, \x1b[31m[bold]automobile", tmp_path)
    assert "your synonyms (synonyms.txt): line 1 names one word and no other" in trace.notices
    assert "\x1b" not in xray(trace) + report(trace)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "gb18030", "utf-8-sig"])
def test_synonyms_are_read_in_every_encoding_that_notes_are_read_in(encoding: str, tmp_path: Path) -> None:
    said = "# 我自己写的同义词，每行一组\nwagon, automobile, 汽车\n发票, 收据, invoice\n"
    (tmp_path / "synonyms.txt").write_bytes(said.encode(encoding))
    found, notices = read_synonyms(tmp_path)
    assert not notices
    assert {k.word: k.others for k in spoken_of("the wagon 发票", found)} == {
        "wagon": ("automobile", "汽车"),
        "发票": ("收据", "invoice"),
    }


@pytest.mark.parametrize("kind", ["folder", "link", "loop", "pipe", "binary"])
def test_what_is_no_file_of_synonyms_is_told_and_no_search_fails_for_it(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "synonyms.txt"
    match kind:
        case "folder":
            place.mkdir()
        case "link":
            (tmp_path.parent / "mine.txt").write_text("wagon, automobile", "utf-8")
            place.symlink_to(tmp_path.parent / "mine.txt")
        case "loop":
            place.symlink_to(place)
        case "pipe":
            os.mkfifo(place)
        case _:
            place.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    found, notices = read_synonyms(tmp_path)
    assert not found.entries
    assert len(notices) == 1 and "synonyms.txt" in notices[0]


def test_a_synonym_that_begins_like_an_operator_is_a_word() -> None:
    found = parse_synonyms('wagon => -car, "sports car"\n-lorry, truck')
    assert found.entries[("wagon",)] == ("car", "sports car")
    assert [k.others for k in spoken_of("lorry", found)] == [("truck",)]


def test_a_file_that_the_settings_name_and_that_is_not_there_is_a_notice(tmp_path: Path) -> None:
    made = Engine(HashingEmbedder(), settings=Settings(synonyms=str(tmp_path / "none.txt"))).build(NOTES)
    assert any("cannot be read" in n and "none.txt" in n for n in made.search("herons").notices)
    (tmp_path / "mine.txt").write_text("wagon, automobile", "utf-8")
    made = Engine(HashingEmbedder(), settings=Settings(synonyms=str(tmp_path / "mine.txt"))).build(NOTES)
    assert mended_by(made.search("the wagon")).origin == "synonyms"


@dataclass(frozen=True)
class Meaning:
    text: str


@dataclass(frozen=True)
class Word:
    word: str
    start: int
    end: int
    alternatives: tuple[Meaning, ...]


def test_a_word_of_the_other_language_is_searched_beside_its_translation() -> None:
    """The question stays as it was asked: half a sentence in each language is none that a model understands."""

    def translations(text: str) -> list[Word]:
        at = text.find("苍鹭")
        return [Word("苍鹭", at, at + 2, (Meaning("苍鹭"), Meaning("heron")))] if at >= 0 else []

    pipe = replace(ENGINE.pipeline(), expanders=(by_lexicon(translations),))
    rounds = run("where does the 苍鹭 sleep", pipe, 1).rounds
    assert [(r.origin, r.judged_by) for r in rounds] == [
        ("user", "where does the 苍鹭 sleep"),
        ("translation", "where does the 苍鹭 sleep"),
    ]
    assert [(term.term, term.weight) for term in rounds[1].added_terms] == [("heron", 0.5)]
    assert run("what does Ingrid Solberg want to lead", pipe, 1).rounds[1:] == ()


def test_expanders_only_propose_what_the_notes_hold() -> None:
    synonyms = by_synonyms(parse_synonyms("wagon, chariot, cart"))
    assert diagnose("the wagon", ENGINE.snapshot, (synonyms,)).fixes == ()


# -- by hand, and by a model -------------------------------------------------------------------------------------------


def test_stepping_goes_the_same_way_and_a_skipped_mend_is_not_proposed_again() -> None:
    question = "what is recipocal quokka zymurgy"
    pause = step(ENGINE, First(question))
    assert pause.proposal is not None and pause.proposal.round.origin == "spelling"
    accepted = step(ENGINE, Accept(pause.trace, pause.proposal))
    while accepted.proposal is not None:
        accepted = step(ENGINE, Accept(from_json(to_json(accepted.trace)), accepted.proposal))
    assert to_json(accepted.trace, timings=False) == to_json(ENGINE.search(question), timings=False)
    skipped = step(ENGINE, Skip(pause.trace, pause.proposal))
    assert skipped.proposal is None or skipped.proposal.round.origin == "prf"


@pytest.mark.parametrize(
    ("question", "rewrite", "dropped"),
    [
        ("zymurgy of quokkas", "how beer is brewed", "zymurgy"),  # nothing of it is left
        ("zymurgy of quokkas", "zymurgy by small animals", None),
        ("zymurgy of the heron", "how herons brew", None),  # the notes hold the heron, and it stays
        ("zymurgy of the heron", "zymurgy of birds", "heron"),
        ("what did Zarquon say of herons", "herons and what was said", "Zarquon"),  # a name stays
        ("what is XK-99 of herons", "herons and codes", "XK-99"),
    ],
)
def test_what_the_notes_lack_may_go_if_something_of_the_question_stays(
    question: str, rewrite: str, dropped: str | None
) -> None:
    assert lost(question, rewrite, ENGINE.snapshot.sparse) == dropped
    if dropped is None and "zymurgy" not in rewrite:
        assert left_out(question, rewrite, ENGINE.snapshot.sparse) == ("zymurgy",)


def test_a_number_that_is_found_in_another_spelling_is_not_said_to_stand_nowhere() -> None:
    notes = {**NOTES, "clinic.md": "Call +49 30 901820 for Ms Vogel.", "codes.md": "Doors 000 and 031 are locked."}
    made = Engine(HashingEmbedder(), settings=Settings()).build(notes)
    assert made.search("030 901820").hits[0].path == "clinic.md"
    assert diagnose("030 901820", made.snapshot).offers == ()
    assert diagnose("door 030", made.snapshot).offers != ()


def test_a_misspelt_word_is_mended_though_the_filters_leave_nothing_that_it_finds(tmp_path: Path) -> None:
    (tmp_path / "bill.md").write_text("The refund of the invoice came in winter.")
    (tmp_path / "tar.md").write_text("The refund of the tar came in summer.")
    settings = Settings(data=str(tmp_path / "data"), disable_dense=True)
    with Engine.open(tmp_path, settings) as made:
        made.update()
        trace = made.search("refnud -tar")
        assert not trace.rounds[0].hits
        assert (trace.last.origin, [h.path for h in trace.last.hits]) == ("spelling", ["bill.md"])
        assert made.search("quokka -tar").ended == "no-idea"
