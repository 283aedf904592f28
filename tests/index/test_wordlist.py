"""The words of an index: those of its chunks, and after an update those of its chunks still."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.wordlist import words_of
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings
from glassbox_tui.text.spelling import words_in


def counted(snapshot: Snapshot) -> Counter[str]:
    return Counter(word for chunk in snapshot.chunks for word in words_in(chunk.index_text))


def built(notes: dict[str, str]) -> Engine:
    return Engine(HashingEmbedder(), settings=Settings()).build(notes)


def test_words_are_as_written_and_counted_by_chunk() -> None:
    words = words_of(built({"a.md": "Reciprocal ranks, ranks", "b.md": "the ranks 数据库 DEC-0054"}).snapshot)
    assert words.counts == {"reciprocal": 1, "ranks": 2, "the": 1, "dec": 1}


TEXT = st.sampled_from(["reciprocal rank", "the heron sleeps", "ranks of herons", "tea", ""])


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), TEXT), min_size=1, max_size=4))
@settings(max_examples=15)
def test_whatever_changes_the_list_is_that_of_the_chunks(states: list[dict[str, str]]) -> None:
    for notes in states:
        snapshot = built({f"{name}.md": text for name, text in notes.items()}).snapshot
        assert dict(words_of(snapshot).counts) == dict(counted(snapshot))
        assert words_of(snapshot) is words_of(snapshot)


def test_an_update_of_a_folder_renews_the_list(tmp_path: Path) -> None:
    for i in range(30):
        (tmp_path / f"{i}.md").write_text(f"note{chr(97 + i % 26)} about herons", "utf-8")
    with Engine(HashingEmbedder(), settings=Settings()).build(
        tmp_path, index_file=tmp_path / ".i" / "i.sqlite"
    ) as made:
        assert "zymurgy" not in words_of(made.snapshot)
        before = made.snapshot.chunks
        (tmp_path / "1.md").write_text("zymurgy", "utf-8")
        (tmp_path / "2.md").unlink()
        made.update()
        kept = {id(chunk) for chunk in before} & {id(chunk) for chunk in made.snapshot.chunks}
        assert len(kept) == 28  # or the test shows nothing
        assert dict(words_of(made.snapshot).counts) == dict(counted(made.snapshot))
