"""How rows are stored takes nothing from them: what is read is what was written, or it is said to be damaged."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.index.postings import count_postings, pack_counts, unpack_forward
from glassbox_tui.index.rows import ChunkRecord
from glassbox_tui.index.sharing import share, unshare
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings

COUNTS = st.dictionaries(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1), max_size=30)


@given(st.lists(COUNTS, max_size=12))
def test_postings_come_back_as_they_were(texts: list[dict[int, int]]) -> None:
    ids = {str(number): number for text in texts for number in text}
    blobs = [pack_counts({str(number): n for number, n in text.items()}, ids) for text in texts]
    found = unpack_forward(blobs, ids)
    back = [
        dict(zip(found.ids[a:b].tolist(), found.counts[a:b].tolist(), strict=True))
        for a, b in zip(found.offsets, found.offsets[1:], strict=False)
    ]
    assert back == texts
    assert [list(text) for text in back] == [sorted(text) for text in texts]  # ids rise
    assert [count_postings(blob) for blob in blobs] == [len(text) for text in texts]


@given(st.lists(st.binary(max_size=12), max_size=5))
def test_postings_that_nobody_wrote_are_read_or_refused(blobs: list[bytes]) -> None:
    try:
        found = unpack_forward(blobs, {})
    except ValueError:
        return
    assert len(found.offsets) == len(blobs) + 1 and found.offsets[-1] == len(found.ids) == len(found.counts)


@pytest.mark.parametrize("blobs", [[b"\x80"], [b"\x01"], [b"\x01\x81", b"\x01"], [b"\xff\xff\xff\xff\xff\x01\x01"]])
def test_a_cut_or_joined_number_is_refused(blobs: list[bytes]) -> None:
    with pytest.raises(ValueError, match="can be read"):
        unpack_forward(blobs, {})


TEXTS = st.text(alphabet="ab \n>", max_size=6)


@given(st.lists(st.tuples(st.lists(TEXTS, max_size=4), TEXTS, TEXTS, st.booleans()), max_size=8))
def test_headings_and_context_lines_come_back_as_they_were(
    made: list[tuple[list[str], str, str, bool]],
) -> None:
    chunks = [
        ChunkRecord(i, 0, 0, (1, 1), None, tuple(path), "other", text, before + ("" if other else text), Counter())
        for i, (path, before, text, other) in enumerate(made)
    ]
    column, places = share(chunks)
    shared = unshare(column)
    for chunk, (heading, prefix, whole) in zip(chunks, places, strict=True):
        assert shared.path(heading) == chunk.heading
        assert shared.index_text(chunk.text, prefix, whole) == chunk.index_text


def test_what_many_chunks_share_is_stored_once() -> None:
    path = ("a" * 300, "b" * 300)
    chunks = [
        ChunkRecord(i, 0, 0, (1, 1), None, path, "other", f"{i}", f"{'c' * 160}\n{i}", Counter()) for i in range(500)
    ]
    assert len(share(chunks)[0]) < 1_000


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE notes SET shared = '{' WHERE shared != ''",
        "UPDATE notes SET shared = '[]' WHERE shared != ''",
        "UPDATE notes SET shared = '' WHERE shared != ''",
        """UPDATE notes SET shared = '{"headings":[[7,"x"]],"prefixes":[]}' WHERE shared != ''""",
        "UPDATE chunks SET heading = -1 WHERE heading IS NOT NULL",
        "UPDATE chunks SET prefix = 99 WHERE prefix IS NOT NULL",
        "UPDATE chunks SET terms = substr(terms, 2)",
        "UPDATE chunks SET terms = x'80'",
    ],
)
def test_damage_is_found_and_mended_by_a_repair_as_by_opening(tmp_path: Path, damage: str) -> None:
    from glassbox_tui.commands.doctor import diagnose, repair

    notes = tmp_path / "notes"
    settings = Settings(data=str(tmp_path / "data"), embed_model="hashing", chunk_chars=60, chunk_overlap=10)
    notes.mkdir()
    (notes / "a.md").write_text(f"# Huts\n\n## Marmots\n\n{'A marmot sleeps in the hut. ' * 12}\n\n## Tables\n\n3\n")

    def found() -> object:
        with Engine.open(notes, settings, embedder=HashingEmbedder()) as engine:
            engine.update()
            file = engine.index_file
            assert file is not None
            return file, [(hit.uid, hit.heading, hit.text) for hit in engine.search("marmot hut").rounds[0].hits]

    def damage_it(file: object) -> None:
        with closing(sqlite3.connect(file)) as db:  # type: ignore[arg-type]
            assert db.execute(damage).rowcount > 0
            db.commit()

    before = found()
    damage_it(before[0])  # type: ignore[index]
    assert found() == before  # opened, it is built anew; or it was changed in no way that matters to a search
    damage_it(before[0])  # type: ignore[index]
    wrong = diagnose(notes, settings, lambda _: None)
    assert not wrong.healthy
    assert repair(notes, settings, lambda _: None, wrong).healthy
    assert found() == before
