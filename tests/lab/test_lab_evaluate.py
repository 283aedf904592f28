"""Evaluation and the comparisons end to end on small labelled collections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from glassbox_tui import Engine
from glassbox_tui.commands import parser
from glassbox_tui.commands.evaluate import comparison, evaluate, opened
from glassbox_tui.lab import experiments
from glassbox_tui.lab.evaluate import Extracted, Judged, extract_sizes, judge, labelled_ranking, report
from glassbox_tui.lab.experiments import passages_by
from glassbox_tui.lab.jsonl import LabError
from glassbox_tui.lab.queries import LabelledQuery
from glassbox_tui.progress import Progress
from glassbox_tui.settings import Settings
from glassbox_tui.text.tokens import terms

NOTES = {
    "tea.md": "# Tea\n\nGreen tea is steamed so that the leaves do not oxidise.\n\n## Pots\n\nClay pots keep the heat.",
    "coffee.txt": "Coffee beans are roasted until they crack.",
    "lock.md": "# Locks\n\nA lease expires; a lock does not.",
    "猫.md": "# 猫\n\n猫在窗台上睡觉。",
}
QUESTIONS: list[dict[str, Any]] = [
    {"query": "why is green tea steamed", "relevant": ["tea.md"], "answers": ["leaves do not oxidise"]},
    {"query": "coffee beans crack", "relevant": {"coffee.txt": 2, "tea.md": 1}, "answers": ["green cheese"]},
    {"query": "猫在哪里睡觉", "relevant": ["猫.md"]},
    {"query": "", "relevant": ["lock.md"], "answers": ["a lock does not"]},
]
METRICS = {
    *("success@1", "success@3", "success@5", "recall@1", "recall@3", "recall@5"),
    *("mrr@10", "ndcg@5", "ndcg@10"),
}


def silent(_: Progress) -> None:
    pass


@pytest.fixture
def collection(tmp_path: Path) -> tuple[Path, Path]:
    """A notes folder and its questions."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    return folder, written(tmp_path / "queries.jsonl", QUESTIONS)


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def settings(tmp_path: Path, **changes: Any) -> Settings:
    return Settings(data=str(tmp_path / "data"), **({"embed_model": "hashing", "max_rewrites": 0} | changes))


def test_the_document_has_the_keys_of_the_contract_and_no_others(tmp_path: Path, collection: tuple[Path, Path]) -> None:
    found = evaluate(*collection, settings(tmp_path), (), silent)
    assert set(found.document) == {"queries", "configs", "extract_hit", "extract"}
    assert list(found.document["configs"]) == ["bm25", "dense", "fused", "final"]
    assert all(set(metrics) == METRICS for metrics in found.document["configs"].values())
    assert found.document["queries"] == 4


def test_figures_are_means_over_all_questions_and_an_empty_one_is_a_miss(
    tmp_path: Path, collection: tuple[Path, Path]
) -> None:
    found = evaluate(*collection, settings(tmp_path), (), silent)
    bm25 = found.document["configs"]["bm25"]
    # First for three of four; the second question has two relevant notes, of which one shares no word with it.
    assert bm25["recall@1"] == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert bm25["success@1"] == pytest.approx(3 / 4)
    assert bm25["mrr@10"] == pytest.approx(3 / 4)
    assert bm25["ndcg@10"] == pytest.approx((1 + 2 / (2 + 1 / 1.584962500721156) + 1 + 0) / 4)
    assert found.document["extract_hit"] == pytest.approx(1 / 3)
    assert any("1 of 4 questions are empty" in notice for notice in found.notices)


def test_kinds_add_figures_of_their_own(tmp_path: Path, collection: tuple[Path, Path]) -> None:
    rows = [row | {"kind": kind} for row, kind in zip(QUESTIONS, ("en", "en", "zh", "en"), strict=True)]
    document = evaluate(collection[0], written(tmp_path / "k.jsonl", rows), settings(tmp_path), (), silent).document
    assert {kind: group["queries"] for kind, group in document["kinds"].items()} == {"en": 3, "zh": 1}
    whole, en, zh = document["configs"], document["kinds"]["en"]["configs"], document["kinds"]["zh"]["configs"]
    for config in whole:
        for metric in METRICS:
            assert whole[config][metric] == pytest.approx((3 * en[config][metric] + zh[config][metric]) / 4)


def test_more_depths_add_keys(tmp_path: Path, collection: tuple[Path, Path]) -> None:
    found = evaluate(*collection, settings(tmp_path), (2, 50), silent)
    assert set(found.document["configs"]["final"]) == METRICS | {"recall@2", "recall@50", "ndcg@2", "ndcg@50"}
    assert any("GLASSBOX_FANOUT=50" in notice for notice in found.notices)


def test_documents_are_found_by_id_and_title_and_indexed_once(tmp_path: Path) -> None:
    rows = [{"id": f"d{i}", "title": "", "text": f"Text number {i} speaks of nothing much."} for i in range(9)]
    rows[4]["title"] = "Zeppelin"
    docs = written(tmp_path / "docs.jsonl", rows)
    queries = written(tmp_path / "q.jsonl", [{"query": "zeppelin", "relevant": ["d4"]}])
    assert evaluate(docs, queries, settings(tmp_path), (), silent).document["configs"]["bm25"]["recall@1"] == 1.0

    # The second run embeds what is new and forgets what is gone.
    rows[4] = {"id": "new", "title": "Zeppelin", "text": "Another one."}
    embedded: list[int] = []
    engine = opened(written(docs, rows), settings(tmp_path), lambda p: embedded.append(p.total))
    with engine:
        assert [n.path for n in engine.notes()] == [*(f"d{i}" for i in range(9) if i != 4), "new"]
        assert engine.search("zeppelin", mode="bm25").hits[0].path == "new"
    assert max(embedded) == 1


def test_documents_rank_as_the_same_notes_in_memory(tmp_path: Path) -> None:
    rows = [{"id": uid, "text": text} for uid, text in NOTES.items()]
    with opened(written(tmp_path / "docs.jsonl", rows), settings(tmp_path), silent) as kept:
        inside = Engine(settings=settings(tmp_path)).build(NOTES)
        for query in ("clay pots", "lease", "猫"):
            assert [h.uid for h in kept.search(query).hits] == [h.uid for h in inside.search(query).hits]


def test_a_note_counts_once_at_its_best_chunk_and_uid_labels_count_chunks() -> None:
    uids = ["a#1", "b#0", "a#0", "c#2"]
    assert labelled_ranking(uids, {"a": 1}) == ("a", "b", "c")
    assert labelled_ranking(uids, {"a#0": 1}) == ("a#1", "b#0", "a#0", "c#2")
    assert labelled_ranking(uids, {"a#0": 1, "b": 1}) == ("a#1", "b", "a#0", "c#2")
    assert labelled_ranking(["no#1#0"], {"no#1": 1}, frozenset({"no#1"})) == ("no#1",)


def test_line_breaks_do_not_hide_an_answer() -> None:
    trace = Engine(settings=Settings(embed_model="hashing")).build(NOTES).search("tea")
    labelled = LabelledQuery("tea", {}, ("do not\noxidise",))
    assert judge(trace, labelled, frozenset(), lambda _: Extracted("leaves do not oxidise")).extract_hit is True
    assert judge(trace, labelled, frozenset(), lambda _: Extracted("leaves")).extract_hit is False
    assert judge(trace, labelled, frozenset(), None).extract_hit is None
    assert report([judge(None, LabelledQuery("", {"x": 1}), frozenset())])["extract_hit"] is None


def test_every_comparison_the_command_offers_is_there() -> None:
    assert parser.COMPARISONS == experiments.COMPARISONS == tuple(experiments._RUNS)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("models", ["hashing-512 · bm25", "hashing-512 · dense", "hashing-512 · hybrid"]),
        ("chunks", ["sentences", "headings", "recursive", "fixed"]),
        ("words", ["stems and stop words", "stems only", "stop words only", "neither"]),
        (
            "feedback",
            ["one round", "2 rounds, fuse", "2 rounds, replace", "3 rounds, fuse", "3 rounds, replace"],
        ),
    ],
)
def test_a_comparison_has_a_row_for_each_variant_and_its_default_row_is_what_eval_says(
    tmp_path: Path, collection: tuple[Path, Path], name: str, rows: list[str]
) -> None:
    plain = evaluate(*collection, settings(tmp_path), (), silent).document["configs"]
    document = comparison(name, *collection, settings(tmp_path), silent).document
    assert [row["name"] for row in document["rows"]] == rows
    figures = {row["name"]: row for row in document["rows"]}
    if name == "chunks":
        assert figures["sentences"]["final"] == plain["final"]["ndcg@10"]
        assert figures["fixed"]["chunks"] != figures["sentences"]["chunks"]
    elif name == "feedback":
        assert figures["one round"]["ndcg@10"] == plain["final"]["ndcg@10"]
        assert figures["one round"]["rewritten"] == 0
    elif name == "words":
        # These questions are answered by keywords that pass the floor of the keyword stage, which eval keeps.
        assert figures["stems and stop words"]["ndcg@10"] == plain["bm25"]["ndcg@10"]
    elif name == "models":
        assert figures["hashing-512 · hybrid"]["ndcg@10"] == plain["final"]["ndcg@10"]


def test_a_comparison_leaves_the_usual_index_as_it_was(tmp_path: Path, collection: tuple[Path, Path]) -> None:
    with opened(collection[0], settings(tmp_path), silent) as engine:
        before = engine.snapshot.chunks
    comparison("chunks", *collection, settings(tmp_path), silent)
    with Engine.open(collection[0], settings(tmp_path)) as engine:
        assert engine.snapshot.chunks == before


def test_weights_need_a_reranker(tmp_path: Path, collection: tuple[Path, Path]) -> None:
    with pytest.raises(LabError, match="no reranker"):
        comparison("weights", *collection, settings(tmp_path), silent)


def test_the_weight_table_agrees_with_real_runs_at_those_weights(
    tmp_path: Path, collection: tuple[Path, Path], data_dir: Path
) -> None:
    bundled = Settings(data=str(data_dir), max_rewrites=0)
    rows = comparison("weights", *collection, bundled, silent).document["rows"]
    table = {row["name"].removesuffix(" (default)"): row for row in rows}
    assert sum(row["name"].endswith(" (default)") for row in rows) == 1
    assert table.keys() >= {"0", "0.25", "0.5", "0.75", "1", "2", "3", "takeover"}
    for weight in (0.0, 3.0):
        run = evaluate(*collection, Settings(data=str(data_dir), max_rewrites=0, rerank_weight=weight), (), silent)
        assert table[f"{weight:g}"]["ndcg@10"] == run.document["configs"]["final"]["ndcg@10"]


@pytest.mark.parametrize("chars", [700, 60])
def test_an_index_by_the_usual_reading_is_the_usual_index(chars: int) -> None:
    engine = Engine(settings=Settings(embed_model="hashing", chunk_chars=chars, chunk_overlap=20)).build(NOTES)
    usual, again = engine.snapshot.passages, passages_by(engine.snapshot, terms)
    assert again.note_of.tolist() == usual.note_of.tolist()
    for a, b in ((usual.chunks, again.chunks), (usual.notes, again.notes)):
        assert b.lengths.tolist() == a.lengths.tolist()
        assert b.vocabulary.keys() == a.vocabulary.keys()
        for term in a.vocabulary:
            assert a.rows[a.postings(term)].tolist() == b.rows[b.postings(term)].tolist()
            assert a.tfs[a.postings(term)].tolist() == b.tfs[b.postings(term)].tolist()


def test_what_an_extract_costs_its_reader_stands_beside_its_hits() -> None:
    question = LabelledQuery("q", {}, ("a",))
    quoted = [("One two.", "Three. Four."), ("Five six seven.",), ()]
    sizes = extract_sizes([Judged(question, {}, True, quotes) for quotes in quoted])
    # 3 and 1 sentences for those that were answered; quotes of 8, 12 and 15 characters.
    assert sizes == {"sentences": 2.0, "median_chars": 12.0}
    assert extract_sizes([Judged(question, {}, None)]) == {}


# -- whether the notes hold an answer --------------------------------------------------------------------------------


def verdict_of(answerable: bool | None, probability: float | None, sufficient: bool, kind: str = "") -> Judged:
    labelled = LabelledQuery("?", {"a.md": 1.0} if answerable is not False else {}, (), kind, answerable)
    rankings = dict.fromkeys(("bm25", "dense", "fused", "final"), ("a.md", "b.md"))
    return Judged(labelled, rankings, None, (), probability, sufficient)


VERDICTS = [
    verdict_of(True, 0.9, True, "en"),
    verdict_of(True, 0.4, False, "zh"),
    verdict_of(False, 0.6, True, "en"),
    verdict_of(False, 0.1, False, "zh"),
]


def test_where_labels_say_what_can_be_answered_the_verdict_is_held_against_them() -> None:
    found = report(VERDICTS)["verdict"]
    assert found["questions"] == 4 and found["answerable"] == 2
    assert found["auroc"] == pytest.approx(3 / 4)  # of four pairs one is the wrong way round
    assert (found["answered_of_answerable"], found["answered_of_others"]) == (0.5, 0.5)
    assert found["ece"] == pytest.approx((0.1 + 0.6 + 0.6 + 0.1) / 4)  # each question is alone in its tenth


def test_the_verdict_is_told_by_kind_and_only_where_labels_speak_of_it() -> None:
    kinds = report(VERDICTS)["kinds"]
    assert kinds["en"]["verdict"]["auroc"] == 1.0 and kinds["zh"]["verdict"]["answered_of_others"] == 0.0
    assert "verdict" not in report([verdict_of(None, 0.9, True)])


def test_by_thresholds_there_are_shares_and_no_probability() -> None:
    found = report([verdict_of(True, None, True), verdict_of(False, None, False)])["verdict"]
    assert (found["auroc"], found["ece"]) == (None, None)
    assert (found["answered_of_answerable"], found["answered_of_others"]) == (1.0, 0.0)
    assert report([verdict_of(True, 0.9, True)])["verdict"]["auroc"] is None  # nothing to tell it from


def test_what_has_no_answer_in_the_notes_does_not_count_in_a_ranking() -> None:
    both = report([verdict_of(True, 0.9, True), verdict_of(False, 0.1, False)])
    assert both["queries"] == 2 and both["configs"]["final"]["success@1"] == 1.0
    assert report([verdict_of(False, 0.1, False)])["configs"]["final"]["recall@5"] == 0.0


def test_the_verdict_of_real_searches(tmp_path: Path, collection: tuple[Path, Path]) -> None:
    rows = [
        {"query": "why is green tea steamed", "relevant": ["tea.md"], "answerable": True},
        {"query": "zymurgy of the quokka", "relevant": [], "answerable": False},
        # Of this nothing is found at all, and no signal can be read.
        {"query": 'where is the "zymurgy of the quokka"', "relevant": [], "answerable": False},
    ]
    found = evaluate(collection[0], written(tmp_path / "q.jsonl", rows), settings(tmp_path), (), silent)
    assert found.document["verdict"]["auroc"] == 1.0
    assert found.document["verdict"]["answered_of_others"] == 0.0
    assert not any("no relevant note" in notice for notice in found.notices)


def test_a_label_that_is_neither_true_nor_false_names_its_line(tmp_path: Path, collection: tuple[Path, Path]) -> None:
    queries = written(tmp_path / "q.jsonl", [{"query": "tea", "relevant": [], "answerable": "yes"}])
    with pytest.raises(LabError, match=r'q\.jsonl:1: "answerable" must be true or false'):
        evaluate(collection[0], queries, settings(tmp_path), (), silent)
