"""PDFs: pages and their offsets, repairs, a status of its own for each way to have no text (E3, E4, E6)."""

from __future__ import annotations

import os
import time
import zlib
from pathlib import Path

import pytest
from pdf_bytes import lines_at, pages_pdf, pdf_bytes, stream, text_pdf, unicode_map
from pypdf import PdfWriter

from glassbox_tui.notes.lines import page_of
from glassbox_tui.notes.load import Limits, LoadedNote, load

PLAIN = {code: [code] for code in b"abcdefghijklmnopqrstuvwxyz "}


def note(tmp_path: Path, raw: bytes, limits: Limits | None = None) -> LoadedNote:
    path = tmp_path / "some_paper.pdf"
    path.write_bytes(raw)
    return load(path, "sub/some_paper.pdf", limits or Limits())


def mapped(tmp_path: Path, shown: bytes, codes: dict[int, list[int]]) -> LoadedNote:
    """A page that shows `shown`, where `codes` says which UTF-16 units some codes stand for."""
    return note(tmp_path, pages_pdf([lines_at([(72, 700, shown)])], to_unicode=unicode_map(PLAIN | codes)))


def test_pages_are_joined_by_a_blank_line_and_their_starts_are_kept(tmp_path: Path) -> None:
    loaded = note(tmp_path, text_pdf([["Alpha one", "Alpha two"], ["Beta"], ["Gamma"]]))
    assert loaded.text == "Alpha one\nAlpha two\n\nBeta\n\nGamma"
    assert (loaded.status, loaded.reason, loaded.warnings, loaded.kind) == ("ok", "", (), "pdf")
    assert [loaded.text[start:][:5] for start in loaded.pages] == ["Alpha", "Beta\n", "Gamma"]
    assert page_of(loaded.pages, loaded.text.index("Gamma")) == 3


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        (b"(On Ranking)", "On Ranking"),
        (b"<FEFF6DF75408>", "混合"),
        (b"(Microsoft Word - draft.doc)", "some paper"),
        (b"(thesis.tex)", "some paper"),
        (b"(untitled)", "some paper"),
        (b"()", "some paper"),
        (b"42", "some paper"),
        (None, "some paper"),
    ],
)
def test_the_title_is_the_document_s_unless_a_program_made_it_up(
    tmp_path: Path, title: bytes | None, shown: str
) -> None:
    assert note(tmp_path, text_pdf([["Text"]], title=title)).title == shown


def test_ligatures_are_folded(tmp_path: Path) -> None:
    loaded = mapped(tmp_path, b"e\x01cient \x02le \x03ow", {1: [0xFB03], 2: [0xFB01], 3: [0xFB02]})
    assert loaded.text == "efficient file flow"


def test_kangxi_radicals_become_characters(tmp_path: Path) -> None:
    assert mapped(tmp_path, b"\x01\x02", {1: [0x2F42], 2: [0x2F00]}).text == "文一"


def test_words_cut_at_a_line_s_end_are_joined(tmp_path: Path) -> None:
    lines = ["the infor-", "mation in state-of-", "the-art work, from 2020-", "2024 and A-", "B"]
    loaded = note(tmp_path, text_pdf([lines]))
    assert loaded.text == "the information in state-of-the-art work, from 2020-\n2024 and A-\nB"


@pytest.mark.parametrize(
    ("units", "text", "warnings"),
    [
        ([0xD800], "a\ufffdb", ("1 unpaired surrogate replaced",)),
        ([0x0000], "a\ufffdb", ("1 NUL character replaced",)),
        ([0xD83D, 0xDE00], "a😀b", ()),
    ],
)
def test_what_a_store_cannot_hold_is_repaired_and_flagged(
    tmp_path: Path, units: list[int], text: str, warnings: tuple[str, ...]
) -> None:
    loaded = mapped(tmp_path, b"a\x01b", {1: units})
    assert (loaded.text, loaded.warnings) == (text, warnings)
    loaded.text.encode()


def test_interleaved_columns_are_flagged_and_ordered_ones_are_not(tmp_path: Path) -> None:
    rows = [
        (x, 700 - 14 * row, f"{side} column, line {row} of it".encode())
        for row in range(8)
        for side, x in (("left", 72), ("right", 320))
    ]
    by_row = note(tmp_path, pages_pdf([lines_at(rows)]))
    assert by_row.warnings == ("columns may be mixed line by line: page 1",)
    by_column = note(tmp_path, pages_pdf([lines_at(sorted(rows, key=lambda row: (row[0], -row[1])))]))
    assert by_column.warnings == ()
    assert by_column.text.index("left column, line 7") < by_column.text.index("right column, line 0")
    words = [
        (72 + 60 * column, 700 - 14 * row, b"wordish") for row in range(8) for column in range(8)
    ]  # one column, written word by word
    assert note(tmp_path, pages_pdf([lines_at(words)])).warnings == ()


def test_a_page_without_text_is_named_and_a_scan_has_its_own_status(tmp_path: Path) -> None:
    drawing = b"0 0 m 10 10 l S"
    some = note(tmp_path, pages_pdf([drawing, lines_at([(72, 700, b"Words")]), drawing]))
    assert (some.status, some.text) == ("ok", "\n\nWords\n\n")
    assert some.warnings == ("no text layer: pages 1 and 3",)
    assert page_of(some.pages, some.text.index("Words")) == 2
    none = note(tmp_path, pages_pdf([drawing, drawing]))
    assert (none.status, none.text, none.pages) == ("no-text", "", ())
    assert "text layer" in none.reason


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_encrypted_pdfs_open_with_the_empty_password_or_say_so(tmp_path: Path, algorithm: str) -> None:
    (tmp_path / "plain.pdf").write_bytes(text_pdf([["Readable words"]]))
    for password, status, text in (("", "ok", "Readable words"), ("secret", "encrypted", "")):
        writer = PdfWriter(clone_from=str(tmp_path / "plain.pdf"))
        writer.encrypt(password, "owner", algorithm=algorithm)
        writer.write(str(tmp_path / "locked.pdf"))
        loaded = load(tmp_path / "locked.pdf", "locked.pdf")
        assert (loaded.status, loaded.text) == (status, text)
        assert ("password" in loaded.reason) == (status == "encrypted")


TREE = {1: b"<< /Type /Catalog /Pages 2 0 R >>"}
DAMAGED = {
    "truncated": text_pdf([["Some words"]])[:300],
    "header only": b"%PDF-1.7\n",
    "junk": b"%PDF-1.4\n" + bytes(range(256)) * 20,
    "a page tree that holds itself": pdf_bytes(TREE | {2: b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"}),
    "no page tree": pdf_bytes({1: b"<< /Type /Catalog >>"}),
    "a text file": b"just words, no PDF",
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_pdfs_are_listed_with_a_reason(tmp_path: Path, kind: str) -> None:
    loaded = note(tmp_path, DAMAGED[kind])
    assert (loaded.status, loaded.text) == ("damaged", "")
    assert loaded.reason
    assert "\n" not in loaded.reason
    assert len(loaded.digest) == 64


def test_a_stream_that_unpacks_without_end_is_damaged(tmp_path: Path) -> None:
    """100 kB on disk, 100 MB unpacked."""
    packed = zlib.compress(b"BT /F1 12 Tf (x) Tj ET\n" * 4_500_000, level=1)
    raw = pages_pdf([b"PLACEHOLDER"]).replace(stream(b"PLACEHOLDER"), stream(packed, b"/Filter /FlateDecode "))
    loaded = note(tmp_path, raw)
    assert (loaded.status, loaded.text) == ("damaged", "")
    assert "decompress" in loaded.reason


def test_a_cross_reference_that_loops_ends(tmp_path: Path) -> None:
    loaded = note(tmp_path, text_pdf([["Words"]]).replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev 9"))
    assert loaded.status in {"ok", "damaged"}


SLOW_PAGE = b"BT /F1 12 Tf " + b"(hello) Tj " * 400_000 + b" ET"


def test_a_pdf_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    started = time.monotonic()
    loaded = note(tmp_path, pages_pdf([SLOW_PAGE]), Limits(pdf_seconds=0.5))
    assert (loaded.status, loaded.reason) == ("too-slow", "reading it took longer than 0.5 seconds")
    assert time.monotonic() - started < 10


def test_pages_read_before_the_time_was_up_are_kept(tmp_path: Path) -> None:
    page = b"BT /F1 12 Tf " + b"(hello) Tj " * 2_000 + b" ET"  # read in a small part of the time, on a busy machine too
    loaded = note(tmp_path, pages_pdf([page] * 400), Limits(pdf_seconds=2.0))
    assert loaded.status == "ok"
    assert 1 <= len(loaded.pages) < 400
    assert f"only pages 1 to {len(loaded.pages)} of 400 were read: 2 seconds were up" in loaded.warnings


def test_a_pdf_that_needs_too_much_memory_is_stopped(tmp_path: Path) -> None:
    loaded = note(tmp_path, pages_pdf([SLOW_PAGE]), Limits(pdf_memory=120_000_000))
    assert (loaded.status, loaded.reason) == ("too-large", "reading it needs more than 120 MB of memory")


def test_a_pdf_over_the_limits_is_left_out(tmp_path: Path) -> None:
    raw = text_pdf([["Some words"] * 20])
    assert note(tmp_path, raw, Limits(pdf_bytes=len(raw))).status == "ok"
    assert note(tmp_path, raw, Limits(pdf_bytes=len(raw) - 1)).status == "too-large"
    assert note(tmp_path, raw, Limits(pdf_chars=100)).status == "too-large"
    assert note(tmp_path, b"").status == "empty"


def test_no_file_beside_the_notes_stands_in_for_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started inside a hostile folder, the child must not import from it."""
    for name in ("pypdf", "json", "resource", "logging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')\n")
    monkeypatch.chdir(tmp_path)
    assert note(tmp_path, text_pdf([["Safe"]])).text == "Safe"


def test_odd_file_names_reach_the_child(tmp_path: Path) -> None:
    for name in (os.fsdecode(b"\xd6\xd0.pdf"), "two\nlines 🧪.pdf", "-x.pdf"):
        (tmp_path / name).write_bytes(text_pdf([["Words"]]))
        assert load(tmp_path / name, "x.pdf").text == "Words"
