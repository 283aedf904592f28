"""`eval --claims` and the claims of `ask`, as a person and a program read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from glassbox_tui import cli
from glassbox_tui.answer.claims import Claim, ClaimSource
from glassbox_tui.views.answer import claim_lines

SENTENCES = (
    "The lease of node {0} expires after {1} seconds, which is short, so it has to be renewed in time. "
    "Copy number {0} is kept on shelf {1}, next to the door, because the archive is full."
)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GLASSBOX_EMBED_MODEL", "hashing")
    monkeypatch.setenv("GLASSBOX_DATA", str(tmp_path / "data"))
    folder = tmp_path / "notes"
    folder.mkdir()
    for n, word in enumerate(("tea", "lock", "cat")):
        (folder / f"{word}.md").write_text(f"# {word}\n\n" + SENTENCES.format(n + 2, 10 * n + 31), "utf-8")
    return str(folder)


def test_json_holds_each_kind_of_claim_and_nothing_else_is_on_standard_output(
    notes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand = tmp_path / "claims.jsonl"
    by_hand.write_text(
        '{"claim": "Node 2 loses its lease after 31 seconds.", "swapped": "Node 2 loses its lease after 99 seconds.",'
        ' "source": "tea.md", "kind": "en"}\n',
        "utf-8",
    )
    assert cli.main(["eval", "--claims", str(by_hand), "--notes", notes, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"notes", "embedder", "kinds"}
    assert set(document["kinds"]["en"]) >= {"true", "removed", "by hand"}
    made = document["kinds"]["made"]
    assert made["true"]["claims"] == 6 and made["number"]["auroc"] == 1.0
    for row in made.values():
        assert row["supported"] + row["weak"] + row["unsupported"] == pytest.approx(1)


def test_the_table_is_for_people_and_odd_company_is_refused(notes: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["eval", "--claims", "--notes", notes]) == 0
    assert "made · number" in capsys.readouterr().out
    assert cli.main(["eval", "--claims", "--notes", notes, "--rounds", "2"]) == 2
    assert "--claims goes with" in capsys.readouterr().err


def test_a_doubtful_sentence_is_marked_with_the_reason_and_hostile_text_stays_text() -> None:
    source = ClaimSource(2, "a.md#0", "a[/].md", (4, 4), None, "x")
    good = Claim("Fine.", 0.9, "supported", source, (), (2,), "right")
    bad = Claim("Tea [/] \x1b[2J takes 45.", 0.21, "unsupported", source, ("45",), (1,), "")
    wrong = Claim("Cited elsewhere.", 0.8, "supported", source, (), (1,), "wrong")
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        for line in claim_lines([good, bad, wrong]):
            console.print(line)
    text = capture.get()
    assert "checked: 2 of 3 supported" in text and "Fine." not in text
    assert "no support in the evidence; not in the source: 45, support .21 (nearest: [2] a[/].md:4)" in text
    assert "cites [1], which does not say so" in text
    assert "\x1b" not in text and "[/]" in text
