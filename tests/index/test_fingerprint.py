"""Two models that bear one name never mix: what the other one has embedded is not used, said, and made anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.fingerprint import replanned
from glassbox_tui.index.store import Store
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.models.protocols import Matrix, Vector
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings

NOTES = {
    f"{word}.md": f"The {word} stands by the river, and the {word} sleeps." for word in ("heron", "marmot", "otter")
}


class Other:
    """The hashing embedder's name and words, other vectors: turned over, shorter, or rounded as another CPU would."""

    name = HashingEmbedder().name

    def __init__(self, way: str) -> None:
        self._way, self._own = way, HashingEmbedder()

    @property
    def dimension(self) -> int:
        return 64 if self._way == "shorter" else self._own.dimension

    def _made(self, vectors: Matrix) -> Matrix:
        if self._way == "rounded":
            vectors = np.round(vectors * 500) / 500
        else:
            vectors = np.roll(vectors, 7, axis=1)[:, : self.dimension] + np.float32(1e-3)
        made: Matrix = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return made

    def embed_query(self, text: str) -> Vector:
        found: Vector = self._made(self._own.embed_query(text)[None])[0]
        return found

    def embed_passages(self, texts: list[str]) -> Matrix:  # type: ignore[override]
        return self._made(self._own.embed_passages(texts))


def dense(trace: Trace) -> list[tuple[str, float]]:
    stage = trace.last.stage("dense")
    return [] if stage is None else [(c.uid, round(c.score, 5)) for c in stage.candidates]


def write(notes: Path) -> None:
    notes.mkdir(exist_ok=True)
    for path, text in NOTES.items():
        (notes / path).write_text(text, "utf-8")


def ask(engine: Engine) -> Trace:
    return engine.search("where does the heron sleep", max_rewrites=0)


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Settings]:
    write(tmp_path / "notes")
    settings = Settings(data=str(tmp_path / "data"))
    with Engine.open(tmp_path / "notes", settings, embedder=HashingEmbedder()) as engine:
        engine.update()
    return tmp_path / "notes", settings


@pytest.mark.parametrize("way", ["turned", "shorter"])
@pytest.mark.parametrize("older", [False, True])
def test_another_model_of_the_same_name_is_noticed_and_embeds_anew(
    place: tuple[Path, Settings], tmp_path: Path, way: str, older: bool
) -> None:
    notes, settings = place
    with Engine.open(notes, settings, embedder=Other(way)) as engine:
        if older:  # an index from before there was a probe
            engine.store.set_meta(f"probe of {Other.name}", "")
            engine.store._write.execute("DELETE FROM meta WHERE key LIKE 'probe%'")
        trace = ask(engine)
        assert dense(trace) == [] and trace.index.dense_coverage == 0.0
        assert any("another model's of that name" in notice for notice in trace.notices)
        report = engine.update()
        assert (report.embedded, report.pending) == (3, 0)
        made = dense(ask(engine))
    with Engine.open(notes, Settings(data=str(tmp_path / "cold")), embedder=Other(way)) as cold:
        cold.update()
        assert made == dense(ask(cold)) != []
    with Engine.open(notes, settings, embedder=Other(way)) as engine:  # and that is that
        assert engine.update().embedded == 0
        assert dense(ask(engine)) == made
        assert not any("another model's" in notice for notice in ask(engine).notices)


@pytest.mark.parametrize("kept", ["x", "1 x", "7 AAAA", "0 ", "é"])
def test_a_damaged_probe_is_no_other_model(place: tuple[Path, Settings], kept: str) -> None:
    notes, settings = place
    with Engine.open(notes, settings, embedder=HashingEmbedder()) as engine:
        engine.store.set_meta(f"probe of {HashingEmbedder().name}", kept)
        assert not any("another model's" in notice for notice in ask(engine).notices)
        assert engine.update().embedded == 0
        assert engine.store.meta(f"probe of {HashingEmbedder().name}") != kept  # it is kept anew


@pytest.mark.parametrize("older", [False, True])
def test_another_processor_s_rounding_is_no_other_model(place: tuple[Path, Settings], older: bool) -> None:
    notes, settings = place
    with Engine.open(notes, settings, embedder=Other("rounded")) as engine:
        if older:
            engine.store._write.execute("DELETE FROM meta WHERE key LIKE 'probe%'")
        assert engine.update().embedded == 0
        assert not any("another model's" in notice for notice in ask(engine).notices)


def test_notes_that_change_meanwhile_do_not_bring_old_vectors_back(
    place: tuple[Path, Settings], tmp_path: Path
) -> None:
    notes, settings = place
    (notes / "new.md").write_text("The beaver sleeps too.", "utf-8")
    (notes / "heron.md").rename(notes / "crane.md")
    with Engine.open(notes, settings, embedder=Other("turned")) as engine:
        assert engine.update().embedded == 4
        made = dense(ask(engine))
    with Engine.open(notes, Settings(data=str(tmp_path / "cold")), embedder=Other("turned")) as cold:
        cold.update()
        assert made == dense(ask(cold))


def test_texts_built_into_a_file_are_embedded_anew_too(tmp_path: Path) -> None:
    file = tmp_path / "index.sqlite"
    Engine(HashingEmbedder(), settings=Settings()).build(NOTES, index_file=file).close()
    with Engine(Other("turned"), settings=Settings()).build(NOTES, index_file=file) as built:
        assert any("another model's" in notice for notice in ask(built).notices)
        assert dense(ask(built)) == dense(ask(Engine(Other("turned"), settings=Settings()).build(NOTES)))


def test_an_index_that_cannot_be_written_is_searched_without_them(place: tuple[Path, Settings]) -> None:
    notes, settings = place
    with Engine.open(notes, settings, embedder=Other("turned")) as engine:
        engine.store.read_only = "it is a test"
        assert dense(ask(engine)) == []
        with pytest.raises(GlassboxError, match="cannot be written"):
            engine.update()
        assert any("another model's" in notice for notice in ask(engine).notices)


class Slow(HashingEmbedder):
    name = "slow"

    def embed_passages(self, texts: list[str]) -> Matrix:  # type: ignore[override]
        self.made = getattr(self, "made", 0) + len(texts)
        return super().embed_passages(texts)


def test_what_another_embedder_takes_is_known_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {f"{i}.md": f"Note {i} of the herons." for i in range(12)}
    file = tmp_path / "index.sqlite"
    Engine(HashingEmbedder(), settings=Settings()).build(notes, index_file=file).close()
    store, slow = Store(file), Slow()
    clock = iter(range(0, 1000, 90))
    monkeypatch.setattr("glassbox_tui.index.fingerprint.time.monotonic", lambda: float(next(clock)))
    assert replanned(store, slow) is None  # a dozen is no matter
    monkeypatch.setattr("glassbox_tui.index.fingerprint.MANY", 10)
    plan = replanned(store, slow)
    assert plan is not None
    assert (plan.before, plan.now, plan.chunks) == (HashingEmbedder().name, "slow", 12)
    assert plan.seconds == pytest.approx(90 / 3 * 12)  # three were embedded in 90 s
    assert slow.made == 3
    assert replanned(store, HashingEmbedder()) is None
    assert replanned(Store(None), slow) is None
    store.close()
