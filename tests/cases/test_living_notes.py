"""Situations that people run into, one test an id: each makes its own folder and asks the engine what came of it.

Other tests go deeper: text/ for C and U, notes/ for E, index/ for I (crashes, damage, no room), notes/test_watch for W.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hostile import make
from pdf_bytes import lines_at, pages_pdf, text_pdf, unicode_map

from glassbox_tui import Engine
from glassbox_tui.index import indexer
from glassbox_tui.index.fingerprint import PROBE
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.models.protocols import Matrix
from glassbox_tui.notes.load import Limits, load
from glassbox_tui.progress import Cancelled
from glassbox_tui.settings import Settings
from glassbox_tui.text.sentences import sentences

Open = Callable[..., Engine]


class Counting(HashingEmbedder):
    """Remembers every text of a note that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def embed_passages(self, texts: list[str]) -> Matrix:  # type: ignore[override]
        self.seen += [text for text in texts if text != PROBE]  # that one is for knowing the embedder again
        return super().embed_passages(texts)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def at(tmp_path: Path) -> Open:
    def open_(notes: Path, embedder: HashingEmbedder | None = None) -> Engine:
        return Engine.open(notes, Settings(data=str(tmp_path / "data")), embedder=embedder or HashingEmbedder())

    return open_


def found(engine: Engine, query: str) -> list[str]:
    return [hit.path for hit in engine.search(query, mode="bm25", max_rewrites=0).hits]


def test_c1_every_chunk_of_a_table_knows_its_columns(notes: Path, at: Open) -> None:
    head = "| server | region | owner | port |\n|---|---|---|---|\n"
    rows = "".join(f"| host{n:02} | region{n % 5} | owner{n} | {9000 + n} |\n" for n in range(80))
    (notes / "t.md").write_text(f"# Servers\n\n{head}{rows}")
    with at(notes) as engine:
        engine.update()
        chunks = engine.snapshot.chunks
        assert len(chunks) > 2 and all("| server | region | owner | port |" in c.index_text for c in chunks)
        best = engine.search("which port has host70", max_rewrites=0).hits[0]
        assert "| host70 | region0 | owner70 | 9070 |" in best.text


@pytest.mark.parametrize(
    "top", ["---\ntitle: Plan: draft\n---\n", "---\ntitle: x\nlist:\n\t- secretkey\n---\n", "---\n"],
    ids=["colon", "tab", "a lone rule"],
)  # fmt: skip
def test_c3_broken_front_matter_keeps_the_note_and_stays_out_of_the_prose(notes: Path, at: Open, top: str) -> None:
    (notes / "plan.md").write_text(f"{top}\n# The heading\n\nThe kettle boils.\n")
    with at(notes) as engine:
        engine.update()
        [note] = engine.notes()
        assert (note.status, note.title, len(note.warnings)) == ("ok", "The heading", 1)
        assert found(engine, "kettle") == ["plan.md"]
        assert found(engine, "secretkey") == [] == found(engine, "draft")


def test_c5_an_inline_picture_is_a_handful_of_chunks(notes: Path, at: Open) -> None:
    (notes / "p.md").write_text(f"# Picture\n\nbefore ![chart](data:image/png;base64,{'QUJD' * 500_000}) after\n")
    with at(notes) as engine:
        engine.update()
        assert len(engine.snapshot.chunks) <= 3
        assert all(len(c.index_text) < 1_000 and "QUJD" not in c.index_text for c in engine.snapshot.chunks)
        assert found(engine, "chart after") == ["p.md"]


def test_c6_chinese_without_spaces_is_capped_and_joins_again_and_numbers_stay_whole(notes: Path, at: Open) -> None:
    text = "".join(f"第{n}条规则写明检索必须保持稳定{'。' if n % 2 else '；'}" for n in range(1_200))
    assert len(text) >= 18_000
    (notes / "z.txt").write_text(text, encoding="utf-8")
    with at(notes) as engine:
        engine.update()
        chunks = engine.snapshot.chunks
        assert max(len(c.text) for c in chunks) <= 700
        end, joined = 0, ""
        for c in chunks:
            assert c.start <= end and c.text == text[c.start : c.end]
            joined, end = joined + c.text[end - c.start :], c.end
        assert joined == text
    sentence = "Dr. Wu shipped v3.14. Then he left."
    assert [sentence[a:b].strip() for a, b in sentences(sentence)] == ["Dr. Wu shipped v3.14.", "Then he left."]


def test_u1_chinese_substrings_glued_ascii_and_single_characters_match(notes: Path, at: Open) -> None:
    (notes / "n.md").write_text("重启nginx后502", encoding="utf-8")
    (notes / "near.md").write_text("先重启服务", encoding="utf-8")
    (notes / "far.md").write_text("启动很重，务必服从", encoding="utf-8")
    with at(notes) as engine:
        engine.update()
        assert all("n.md" in found(engine, query) for query in ("启", "nginx", "502"))
        ranked = found(engine, "重启服务")
        assert ranked[0] == "near.md" and ranked.index("near.md") < ranked.index("far.md")


def test_u2_full_and_half_width_meet_and_the_original_is_shown(notes: Path, at: Open) -> None:
    (notes / "e.md").write_text("每晚的ＥＴＬ作业。", encoding="utf-8")
    (notes / "o.md").write_text("ｵｰﾀﾞｰの確認。", encoding="utf-8")
    with at(notes) as engine:
        engine.update()
        assert engine.search("etl", max_rewrites=0).hits[0].text == "每晚的ＥＴＬ作业。"
        assert found(engine, "ETL") == ["e.md"] and found(engine, "オーダー") == ["o.md"]


def test_u5_an_embedder_that_does_not_know_the_notes_language_is_named_with_the_share(notes: Path, at: Open) -> None:
    class English(HashingEmbedder):
        name = "english-only"

        def count_unknown(self, text: str) -> tuple[int, int]:
            return sum(not character.isascii() for character in text), len(text)

    (notes / "zh.md").write_text("全部都是中文没有别的", encoding="utf-8")
    with at(notes, English()) as engine:
        engine.update()
        told = " ".join(engine.search("中文").notices)
        assert "english-only does not know 77% of the tokens" in told  # 10 of 13: the title stands above the text
    with at(notes) as engine:
        assert engine.notices == ()


def test_e3_a_pdf_with_surrogates_and_nuls_is_repaired_stored_and_flagged(notes: Path, at: Open) -> None:
    codes = {code: [code] for code in b"abcdefghijklmnopqrstuvwxyz "} | {1: [0xD800], 2: [0]}
    shown = lines_at([(72, 700, b"kettle \x01 and steam \x02 rise")])
    (notes / "s.pdf").write_bytes(pages_pdf([shown], to_unicode=unicode_map(codes)))
    with at(notes) as engine:
        engine.update()
        [note] = engine.notes()
        assert note.status == "ok" and len(note.warnings) == 2
        assert found(engine, "kettle") == ["s.pdf"]
    with at(notes) as engine:  # and it is there after a restart
        assert "\ufffd" in engine.snapshot.chunks[0].text


def test_e4_what_is_slow_or_huge_is_listed_and_the_rest_is_done(
    notes: Path, at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "load", partial(load, limits=Limits(pdf_seconds=1.0)))
    (notes / "slow.pdf").write_bytes(pages_pdf([b"BT /F1 12 Tf " + b"(hello) Tj " * 400_000 + b" ET"]))
    with (notes / "huge.txt").open("wb") as file:
        file.truncate(500_000_000)
    (notes / "z.md").write_text("the kettle")
    (notes / "z.pdf").write_bytes(text_pdf([["steam"]]))
    started = time.monotonic()
    with at(notes) as engine:
        engine.update()
        reasons = {note.path: (note.status, note.reason) for note in engine.notes() if note.status != "ok"}
        assert reasons == {
            "slow.pdf": ("too-slow", "reading it took longer than 1 seconds"),
            "huge.txt": ("too-large", "larger than 20 MB"),
        }
        assert found(engine, "kettle") == ["z.md"] and found(engine, "steam") == ["z.pdf"]
    assert time.monotonic() - started < 60


# A kind of `hostile`, and what is said of it: status and a word of the reason.
PDFS = {
    "pdf": ("ok", ""),
    "pdf, locked with nothing": ("ok", ""),
    "pdf, no text": ("no-text", "no text layer"),
    "pdf, no pages": ("no-text", "no pages"),
    "pdf, locked": ("encrypted", "password"),
    "pdf, header alone": ("damaged", "not a PDF that can be read"),
    "pdf, noise": ("damaged", "not a PDF that can be read"),
    "pdf, holds itself": ("damaged", ""),
    "pdf, plain text": ("damaged", "does not begin with %PDF-"),
    "pdf, nothing": ("empty", "no bytes"),
}


def test_e4_each_way_a_pdf_has_no_text_is_a_status_of_its_own(notes: Path, at: Open) -> None:
    for kind in PDFS:
        make(notes, kind, Random(7), 0)
    (notes / "cut 0.pdf").write_bytes(text_pdf([["Some words"]])[:300])
    with at(notes) as engine:
        engine.update()
        said = {note.path.removesuffix(" 0.pdf"): (note.status, note.reason) for note in engine.notes()}
    assert {kind: status for kind, (status, _) in said.items()} == {
        "cut": "damaged",
        **{kind: status for kind, (status, _) in PDFS.items()},
    }
    assert all(reason in said[kind][1] for kind, (_, reason) in PDFS.items())
    assert all(reason for status, reason in said.values() if status != "ok")


def test_e6_ligatures_are_folded_and_mixed_columns_are_flagged(notes: Path, at: Open) -> None:
    rows = [(x, 700 - 14 * n, f"{side} column line {n} here".encode()) for n in range(8) for side, x in
            (("left", 72), ("right", 320))]  # fmt: skip
    (notes / "columns.pdf").write_bytes(pages_pdf([lines_at(rows)]))
    codes = unicode_map({code: [code] for code in b"abcdefghijklmnopqrstuvwxyz "} | {1: [0xFB03]})
    (notes / "ligature.pdf").write_bytes(pages_pdf([lines_at([(72, 700, b"an e\x01cient kettle")])], to_unicode=codes))
    with at(notes) as engine:
        engine.update()
        warned = {note.path: note.warnings for note in engine.notes()}
        assert warned == {"columns.pdf": ("columns may be mixed line by line: page 1",), "ligature.pdf": ()}
        assert found(engine, "efficient") == ["ligature.pdf"]


def test_w6_deleted_and_edited_notes_leave_the_ranking_also_the_last_one(notes: Path, at: Open) -> None:
    for name in ("a", "b"):
        (notes / f"{name}.md").write_text(f"kettle {name}")
    with at(notes) as engine:
        engine.update()
        (notes / "a.md").write_text("steam")
        assert engine.note_text("a.md").changed  # a stale row is told before any update
        (notes / "b.md").unlink()
        assert "gone" in engine.note_text("b.md").problem
        engine.update()
        assert found(engine, "kettle") == [] and found(engine, "steam") == ["a.md"]
        (notes / "a.md").unlink()
        report = engine.update()
        assert (report.removed, engine.info().chunks, engine.snapshot.dense.size) == (1, 0, 0)
        assert found(engine, "steam") == []
        assert any("empty" in notice for notice in engine.search("steam").notices)


def test_w8_a_linked_root_is_searched_loops_end_and_skips_are_counted(notes: Path, at: Open, tmp_path: Path) -> None:
    for name in ("a.md", ".trash/old.md", "plan.sync-conflict-20240301-101500-ABCDEFG.md", "sub/b.md"):
        (notes / name).parent.mkdir(exist_ok=True)
        (notes / name).write_text("kettle")
    (notes / "sub" / "loop").symlink_to("..")
    (tmp_path / "link").symlink_to(notes)
    with at(tmp_path / "link") as engine:
        report = engine.update()
        assert sorted(note.path for note in engine.notes()) == ["a.md", "sub/b.md"]
        assert sorted(skip.reason for skip in report.skipped) == [
            "hidden folder", "link to a folder that is searched already", "sync-conflict copy",
        ]  # fmt: skip


def test_i3_of_two_processes_the_second_reads_says_so_and_takes_over(notes: Path, at: Open) -> None:
    (notes / "a.md").write_text("kettle")
    with at(notes) as engine:
        engine.update()
        code = (
            "import sys; from pathlib import Path; from glassbox_tui.index.lock import lock_of, writing\n"
            "with writing(lock_of(Path(sys.argv[1]))): print('held', flush=True); sys.stdin.read()"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code, str(engine.index_file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as first:
            assert first.stdout is not None and first.stdout.readline() == b"held\n"
            (notes / "b.md").write_text("steam")
            assert engine.update().locked
            assert found(engine, "kettle") == ["a.md"] and found(engine, "steam") == []
            first.kill()
        report = engine.update()
        assert (report.locked, report.added) == (False, 1) and found(engine, "steam") == ["b.md"]


def test_i5_what_was_interrupted_is_resumed_and_the_third_start_does_nothing(
    notes: Path, at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(8):
        (notes / f"{i}.md").write_text(f"note {i}. " + "words of it. " * 100)
    read: list[str] = []

    def counted(absolute: Path, relative: str) -> object:
        read.append(relative)
        return load(absolute, relative)

    monkeypatch.setattr(indexer, "load", counted)
    first = Counting()
    with at(notes, first) as engine, pytest.raises(Cancelled):
        engine.update(cancelled=lambda: len(first.seen) >= 5)
    second = Counting()
    with at(notes, second) as engine:
        engine.update()
        assert engine.snapshot.dense_coverage == 1.0
    assert len(first.seen) >= 5 and second.seen and not set(first.seen) & set(second.seen)
    assert sorted(read) == [f"{i}.md" for i in range(8)]  # once each
    third = Counting()
    read.clear()
    with at(notes, third) as engine:
        report = engine.update()
        assert (report.parsed, report.embedded, report.unchanged) == (0, 0, 8)
    assert (read, third.seen) == ([], [])
