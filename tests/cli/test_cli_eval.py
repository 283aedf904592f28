"""`eval` as a person runs it: what is printed where, and what is said when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassbox_tui import cli


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GLASSBOX_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GLASSBOX_EMBED_MODEL", "hashing")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nGreen tea is steamed.\n", "utf-8")
    (folder / "lock.md").write_text("# Locks\n\nA lease expires; a lock does not.\n", "utf-8")
    return folder


def labelled(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    return str(path)


GOOD = '{"query": "green tea", "relevant": ["tea.md"], "answers": ["is steamed"], "kind": "en"}'
EMPTY = '{"query": "", "relevant": ["lock.md"]}'


def test_json_is_the_only_thing_on_standard_output(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = labelled(tmp_path, GOOD, EMPTY, '{"query": "lease", "relevant": ["gone.md"]}')
    assert cli.main(["eval", "--notes", str(notes), "--queries", queries, "--at", "2,10", "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["queries"] == 3
    assert document["configs"]["final"]["recall@2"] == pytest.approx(1 / 3)
    assert document["extract_hit"] == 1.0
    assert "1 of 3 questions are empty" in err
    assert "1 of 3 labels name no note that is indexed, such as 'gone.md'" in err
    assert "asking questions (3)" in err


def test_the_table_has_a_row_for_each_stage_and_kind(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["eval", "--notes", str(notes), "--queries", labelled(tmp_path, GOOD, EMPTY)]) == 0
    out, _ = capsys.readouterr()
    cells = [[cell.strip() for cell in row.strip("| ").split("|")] for row in out.splitlines() if row.startswith("|")]
    assert cells[0] == ["stage", "recall@1", "recall@3", "recall@5", "mrr@10", "ndcg@5", "ndcg@10"]
    second = cells.index(["stage", "success@1", "success@3", "success@5"])
    assert [row[0] for row in cells[2:second]] == [row[0] for row in cells[second + 2 :]]
    first = {row[0]: row[1] for row in cells[2:second]}
    assert first["final"] == ".500"
    assert first["en · final"] == "1.000"
    assert first["other · final"] == ".000"
    told = " ".join(out.split())
    assert "2 questions (1 other, 1 en)" in told
    assert "the extract holds an answer: 1.000" in told


def test_documents_in_one_file(notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = tmp_path / "docs.jsonl"
    docs.write_text('{"id": "1", "title": "Tea", "text": "Steamed."}\n{"id": "2", "text": "Locks."}\n', "utf-8")
    queries = labelled(tmp_path, '{"query": "tea", "relevant": ["1"]}')
    assert cli.main(["eval", "--notes", str(docs), "--queries", queries, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["configs"]["bm25"]["recall@1"] == 1.0


def test_a_comparison_is_a_table_or_json(notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", "--notes", str(notes), "--queries", labelled(tmp_path, GOOD), "--compare", "words"]
    assert cli.main([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["compare"], document["queries"], len(document["rows"])) == ("words", 1, 4)
    assert cli.main(command) == 0
    assert "| neither" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--queries", "{gone}"], 2, "no such file"),
        (["--queries", "{bad}"], 1, "queries.jsonl:2: not JSON"),
        (["--queries", "{folder}"], 1, "cannot read"),
        ([], 2, "--queries FILE"),
        (["--queries", "{bad}", "--compare", "words", "--rounds", "2"], 2, "leave out --rounds"),
        (["--queries", "{bad}", "--at", "0"], 2, "not between"),
        (["--queries", "{bad}", "--at", "3,x"], 2, "not a whole number"),
        (["--queries", "{bad}", "--compare", "moods"], 2, "invalid choice"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, said: str
) -> None:
    bad = labelled(tmp_path, GOOD, '{"query": ')
    names = {"gone": str(tmp_path / "gone"), "bad": bad, "folder": str(notes)}
    args = ["eval", "--notes", str(notes), *(option.format(**names) for option in options)]
    try:
        assert cli.main(args) == code
    except SystemExit as leave:  # argparse's own way
        assert leave.code == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_a_document_file_that_is_damaged_names_its_line(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs.jsonl"
    docs.write_text('{"id": "1", "text": "x"}\n{"id": "1", "text": "y"}\n', "utf-8")
    assert cli.main(["eval", "--notes", str(docs), "--queries", labelled(tmp_path, GOOD)]) == 1
    assert "docs.jsonl:2: the id '1' is there twice" in capsys.readouterr().err
