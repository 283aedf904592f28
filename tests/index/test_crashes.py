"""Random edits, updates, kill -9 at random points, restarts: what settles is what a cold build gives (I1, I5, W6)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from killing import KILLED, Killer
from seeding import Seed
from test_updates import PIECES, apply, cold, engine_on, picture

from glassbox_tui.index.check import check_index
from glassbox_tui.index.location import index_path
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings, load_settings

NAMES = ("a.md", "A.md", "b.md", "sub/c.txt", "sub/deep/d.md", "other/e.md", "é 空.md", "二.md")
TEXT = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)
EDIT = st.one_of(
    st.tuples(st.sampled_from(["write", "write", "append", "delete", "touch", "again"]), st.sampled_from(NAMES), TEXT),
    st.tuples(st.just("move"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(
        st.just("move folder"), st.sampled_from(["sub", "other", "sub/deep"]), st.sampled_from(["sub", "new", "x"])
    ),
    st.tuples(st.sampled_from(["binary", "gb18030", "folder"]), st.sampled_from(NAMES), TEXT),
)
RUN = st.one_of(
    st.tuples(st.just("kill"), st.sampled_from(["sql", "call"]), st.floats(0.0, 1.0)),
    st.tuples(st.just("kill"), st.sampled_from(["sql", "call"]), st.floats(0.0, 0.2)),
    st.tuples(st.just("update"), st.just(""), st.just("")),
    st.tuples(st.just("restart"), st.just(""), st.just("")),
)
PROGRAM = st.lists(st.tuples(st.lists(EDIT, max_size=4), RUN), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    process = Killer()
    yield process
    process.close()


@given(PROGRAM, st.sampled_from(["sql", "call"]), st.floats(0.0, 1.0))
@settings(max_examples=20, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_what_settles_after_crashes_is_a_cold_build(
    killer: Killer, seed: Seed, program: list[Any], kind: str, where: float
) -> None:
    settled_equals_cold(killer, seed, program, kind, where)


@pytest.mark.full
@given(PROGRAM, st.sampled_from(["sql", "call"]), st.floats(0.0, 1.0))
@settings(
    max_examples=200,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # a crash is told as it is: shrinking it would take hours
)
def test_what_settles_after_many_crashes_is_a_cold_build(
    killer: Killer, seed: Seed, program: list[Any], kind: str, where: float
) -> None:
    settled_equals_cold(killer, seed, program, kind, where)


def settled_equals_cold(killer: Killer, seed: Seed, program: list[Any], kind: str, where: float) -> None:
    """Kill the first build, then edit, update, kill and restart as `program` says; then settle, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        notes, data = Path(folder, "notes"), seed(Path(folder, "data"))
        for i, name in enumerate(NAMES[2:6]):
            apply_any(notes, "write", name, " ".join(PIECES[i:] * 3))
        _, ticks = killer.update(notes, seed(Path(folder, "counted")), kind)
        status, _ = killer.update(notes, data, kind, 1 + int(where * 0.9 * ticks))
        assert status == KILLED
        engine = engine_on(notes, data)
        for edits, (run, how, share) in program:
            for edit in edits:
                apply_any(notes, *edit)
            if run == "kill":
                status, _ = killer.update(notes, data, how, 1 + int(share * ticks))
                assert status in (KILLED, 0)  # the update may have been over before
            elif run == "update":
                engine.update()
            else:
                engine.close()
                engine = engine_on(notes, data)
        engine.update()
        expected = cold(notes)
        assert picture(engine) == expected  # also the snapshot that was kept up all the while
        engine.close()
        for _ in range(2):  # I5: nothing is left to do, and nothing is done at the third start
            with engine_on(notes, data) as engine:
                report = engine.update()
                assert (report.parsed, report.embedded) == (0, 0)
                assert picture(engine) == expected
        here = Settings(data=str(data))
        found = check_index(index_path(here, notes), notes, here)
        assert [finding for finding in found if not finding.ok] == []  # no orphan, no lost row, no stale lock


def apply_any(notes: Path, what: str, name: str, text: str) -> None:
    """One edit as people, editors and sync programs make them. What cannot be done is left."""
    path = notes / name
    if what == "move folder":
        if path.is_dir() and not (notes / text).exists():
            (notes / text).parent.mkdir(parents=True, exist_ok=True)
            path.rename(notes / text)
        return
    if path.is_dir() or any(parent.is_file() for parent in path.parents if parent != notes and notes in parent.parents):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "move":
        if path.is_file() and not (notes / text).is_dir():
            (notes / text).parent.mkdir(parents=True, exist_ok=True)
            path.replace(notes / text)
    elif what == "again":  # as editors save: beside it, then over it, with what it holds
        if path.is_file():
            beside = path.with_name(path.name + "~")
            beside.write_bytes(path.read_bytes())
            beside.replace(path)
    elif what == "binary":
        path.write_bytes(b"\x00\x01\xff\xfe")
    elif what == "gb18030":
        path.write_bytes(("混合检索把两路结果按名次相加。" + text).encode("gb18030"))
    elif what == "folder":
        path.unlink(missing_ok=True)
        path.mkdir()
        (path / "in it.md").write_text(text, encoding="utf-8")
    else:
        apply(notes, what, name, text)


KILLED_WITH_THE_MODEL = """
import os, signal, sys
from pathlib import Path
from glassbox_tui.index.store import Store
from glassbox_tui.models.e5 import open_e5
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings
put = Store.put_embeddings
def killed(self, model, embeddings):
    put(self, model, embeddings)
    os.kill(os.getpid(), signal.SIGKILL)
Store.put_embeddings = killed
embedder, _ = open_e5(Path(sys.argv[1]))
with Engine.open(Path(sys.argv[2]), Settings(data=sys.argv[3]), embedder=embedder) as engine:
    engine.update()
"""


def test_a_killed_build_with_the_bundled_model_resumes_to_the_same_vectors_and_codes(
    e5: E5Embedder, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for i in range(20):
        (notes / f"{i}.md").write_text(f"# {i}\n\n第 {i} 篇：{PIECES[i % 4]}", encoding="utf-8")
    models = load_settings().models_dir
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WITH_THE_MODEL, models, notes, tmp_path / "killed"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
    )
    assert killed.returncode == KILLED, killed.stderr
    pictures = []
    for data in ("killed", "cold"):
        with Engine.open(notes, Settings(data=str(tmp_path / data)), embedder=e5) as engine:
            report = engine.update()
            assert 0 < report.embedded <= 20
            keys = [chunk.key for chunk in engine.snapshot.chunks]
            pictures.append((picture(engine), engine.store.token_codes(e5.name, keys), report.embedded))
    (resumed, codes, again), (whole, whole_codes, all_of_them) = pictures
    assert again < all_of_them == len(np.unique(list(whole_codes)))
    assert resumed == whole and codes == whole_codes
