"""The benchmark compares two ways to one result; what is promised is what it says, never how fast it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glassbox_tui import Engine
from glassbox_tui.lab.bench import bench, to_dict
from glassbox_tui.lab.edits import bench_edits
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings

NOTES = {"a.md": "Ranks are fused.", "b.md": "融合的是名次，分数不算。"}


def test_both_ways_are_timed_and_the_ratio_is_theirs() -> None:
    found = bench(Engine(HashingEmbedder(), settings=Settings()).build(NOTES), ["scores and ranks", "融合"])
    document = json.loads(json.dumps(to_dict(found)))
    assert (document["notes"], document["chunks"], document["queries"]) == (2, 2, 2)
    # Notes in two languages: keywords are looked for across them, too.
    assert set(document["stages_ms"]) == {"bm25", "translated", "dense", "fused", "final"}
    assert [v["other"] for v in document["versus"]] == ["rank_bm25", "numpy"]
    for v in document["versus"]:
        assert v["ours_ms"] > 0 and abs(v["ratio"] * v["ours_ms"] - v["other_ms"]) < 1e-9


def test_an_empty_index_has_nothing_to_compare() -> None:
    assert bench(Engine(HashingEmbedder(), settings=Settings()).build({}), ["x"]).versus == ()


def test_an_edit_and_a_rebuild_are_timed_on_a_copy(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for i in range(8):
        (notes / f"{i}.md").write_text(f"note {i} on ranks")
    before = {path.name: path.read_bytes() for path in notes.iterdir()}
    found = bench_edits(notes, Settings(data=str(tmp_path / "data")), HashingEmbedder(), ["ranks"], 3, lambda _: None)
    assert (found.notes, found.chunks, found.edits) == (8, 8, 3)
    assert 0 < found.bm25_ms <= found.vectors_ms <= found.vectors_worst_ms
    assert found.ratio == found.rebuild_ms / found.vectors_ms
    assert {path.name: path.read_bytes() for path in notes.iterdir()} == before
    assert list((tmp_path / "data").iterdir()) == []  # what was made for it is gone


def test_a_data_folder_inside_the_notes_is_not_copied_into_itself(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "a.md").write_text("a note on ranks")
    monkeypatch.chdir(tmp_path)
    for data in (str(tmp_path / "data"), "data"):
        found = bench_edits(tmp_path, Settings(data=data), HashingEmbedder(), ["ranks"], 1, lambda _: None)
        assert found.notes == 1
