"""A search in a folder or one note: the list of all, with everything from outside left out before it is cut."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.scope import rows_within, tidy
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.engine import EngineError
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings

# "work-old" and "work.md" sort between "work" and "work/": a prefix alone would let them in.
NOTES = {
    "tea.md": "# Tea\n\nA lease on a tea house. 茶馆的租约。",
    "work-old/lock.md": "# Old locks\n\nA lease that nobody renews. 过期的租约。",
    "work.md": "# Work\n\nWhat a lease is at work. 工作与租约。",
    "work/lock.md": "# Locks\n\nRedlock hands out a lease. 锁依赖租约和时钟。\n\n## Clock\n\nIt ends by the clock.",
    "work/db/lease.md": "# Leases\n\nA lease ends by the clock. 时钟漂移会让租约失效。ZooKeeper counts sessions.",
    "work/db/quorum.md": "# Quorum\n\nA majority grants the lease. 多数派授予租约。",
    "工作/租约.md": "# 租约\n\n租约靠时钟到期。 A lease ends.",
}
SCOPES = ("work", "work/db", "work/lock.md", "work.md", "work-old", "工作", "工作/租约.md", "tea.md")
QUERIES = ("a lease ends by the clock", "时钟让租约失效", "lease 租约")
ALL = 10_000


@pytest.fixture(scope="module", params=["hashing", "e5"])
def engine(request: pytest.FixtureRequest) -> Engine:
    embedder: HashingEmbedder | E5Embedder
    embedder = HashingEmbedder() if request.param == "hashing" else request.getfixturevalue("e5")
    return Engine(embedder, settings=Settings(max_rewrites=0, bm25_floor=0.0)).build(NOTES)


def stage(trace: Trace, name: str) -> list[tuple[str, float]]:
    found = trace.rounds[0].stage(name)
    assert found is not None
    assert [c.rank for c in found.candidates] == list(range(1, len(found.candidates) + 1))
    return [(c.uid, c.score) for c in found.candidates]


def lies_in(uid: str, scope: str) -> bool:
    return PurePosixPath(uid.rpartition("#")[0]).is_relative_to(scope)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("fanout", [1, 2, 30])
def test_a_scoped_list_is_the_endless_one_filtered_and_then_cut(engine: Engine, scope: str, fanout: int) -> None:
    for query in QUERIES:
        everything = engine.search(query, fanout=ALL)
        scoped = engine.search(query, fanout=fanout, scope=scope)
        for name in ("bm25", "dense"):
            inside = [(uid, score) for uid, score in stage(everything, name) if lies_in(uid, scope)]
            assert [uid for uid, _ in stage(scoped, name)] == [uid for uid, _ in inside[:fanout]]
            assert [s for _, s in stage(scoped, name)] == pytest.approx([s for _, s in inside[:fanout]], abs=1e-6)


@pytest.mark.parametrize("scope", SCOPES)
def test_no_round_shows_or_learns_from_anything_outside(scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # In one note no other round finds anything else: those that are not shown for that must keep to the scope, too.
    monkeypatch.setattr("glassbox_tui.retrieval.loop.changes", lambda before, after: True)
    engine = Engine(HashingEmbedder(), settings=Settings()).build(NOTES)
    trace = engine.search("a lease for harbour pilots who steer ships 港口领航", scope=scope, max_rewrites=3)
    assert len(trace.rounds) > 1
    for round_ in trace.rounds:
        seen = [c.uid for s in round_.stages for c in s.candidates] + [h.uid for h in round_.hits]
        learnt = [uid for term in round_.added_terms for uid in term.sources]
        assert seen
        assert all(lies_in(uid, scope) for uid in seen + learnt)


def test_the_trace_says_where_it_searched(engine: Engine) -> None:
    trace = from_json(to_json(engine.search("lease", scope="./work/db/")))
    assert trace.settings["scope"] == "work/db"
    assert engine.search("lease").settings["scope"] == ""


def test_dense_coverage_is_said_of_what_is_searched() -> None:
    engine = Engine(HashingEmbedder()).build(NOTES)
    store, snapshot = engine.store, engine.snapshot
    keys = [(c.key,) for c in snapshot.chunks if lies_in(c.uid, "work/db/quorum.md")]
    store._write.executemany("DELETE FROM vectors WHERE key = ?", keys)
    engine._use(store)
    assert any("50% of the chunks in scope" in n for n in engine.search("lease", scope="work/db").notices)
    assert not any("dense search covers" in n for n in engine.search("lease", scope="tea.md").notices)


def test_a_scope_that_holds_nothing_is_a_sentence_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "note.md").write_text("a lease", "utf-8")
    (tmp_path / "sub" / "blank.md").write_text("  \n", "utf-8")
    (tmp_path / "sub" / "void.txt").write_text("", "utf-8")
    with Engine(HashingEmbedder()).build(tmp_path, index_file=tmp_path / ".index" / "i.sqlite") as engine:
        blank = {n.path: n for n in engine.notes()}["sub/blank.md"]
        for scope, words in (
            ("elsewhere", "there is no note or folder 'elsewhere' in the index"),
            ("no", "there is no note or folder 'no'"),
            ("../note.md", "there is no note or folder"),
            ("sub/blank.md", blank.reason),
            ("sub", "none of its 2 files holds text"),
        ):
            with pytest.raises(EngineError) as caught:
                engine.search("lease", scope=scope)
            assert words in str(caught.value)


class Everything:
    """A retriever on its own engine, which knows nothing of scopes: all chunks, those outside first."""

    name = "own"

    def __init__(self) -> None:
        self.depths: list[int] = []

    def retrieve(self, query: str, k: int) -> list[str]:
        self.depths.append(k)
        outside_first = sorted(NOTES, key=lambda path: (path.startswith("work/db/"), path))
        return [f"{path}#0" for path in outside_first][:k]


def test_a_plugged_in_list_is_filtered_too_and_asked_for_more_until_the_scope_is_filled() -> None:
    own = Everything()
    engine = Engine(HashingEmbedder(), retrievers=[own]).build(NOTES)
    trace = engine.search("lease", scope="work/db", fanout=2, max_rewrites=0)
    assert [uid for uid, _ in stage(trace, "own")] == ["work/db/lease.md#0", "work/db/quorum.md#0"]
    own.depths.clear()
    engine.search("lease", fanout=2, max_rewrites=0)
    assert own.depths == [2]


NAMES = st.text("ab-./0é中\U0001f600", min_size=1, max_size=3).filter(lambda s: "/" not in s and s.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


class Item:
    def __init__(self, path: str) -> None:
        self.path = path


@given(st.lists(PATHS, max_size=12), PATHS)
def test_the_rows_of_a_scope_are_those_a_path_library_calls_inside(paths: list[str], scope: str) -> None:
    items = [Item(path) for path in sorted(paths)]
    inside = [i for i, item in enumerate(items) if PurePosixPath(item.path).is_relative_to(PurePosixPath(scope))]
    assert rows_within(items, tidy(scope)).tolist() == inside
    assert rows_within(items, "").tolist() == list(range(len(items)))
