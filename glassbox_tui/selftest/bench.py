"""What the invariants work on: the bundled notes, indexed with the user's models in a folder that is thrown away."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from glassbox_tui.index.dense import DenseIndex, serve
from glassbox_tui.index.indexer import UpdateReport
from glassbox_tui.index.location import index_path
from glassbox_tui.index.rows import ChunkRow
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.models.levelling import WIDTH, Level
from glassbox_tui.models.protocols import Embedder, Reranker
from glassbox_tui.notes.load import LoadedNote, load
from glassbox_tui.notes.scan import scan
from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Round, Trace
from glassbox_tui.settings import Settings

T = TypeVar("T")

# One question in each language, one that crosses, and one that no note answers.
ZH = "写到一半突然停电，数据会坏掉吗？"
EN = "When can an inverse document frequency become negative?"
CROSS = "Is the database damaged if the power fails halfway through?"
NOWHERE = "zymurgy of the quokka in Reykjavik"
QUESTIONS = (ZH, EN, CROSS, NOWHERE)
# Lifts what stands at the Chinese end by .14, and holds hubs down by their excess.
LEVEL = Level(-0.07, (0.14, -1.0, -0.5))


class _Once(Generic[T]):
    """A value made when first asked for. A failure is kept too: ten invariants must not wait for it ten times."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._value, self._error = make, list[T](), list[Exception]()

    def __call__(self) -> T:
        if self._error:
            raise self._error[0]
        if not self._value:
            try:
                self._value.append(self._make())
            except Exception as error:
                self._error.append(error)
                raise
        return self._value[0]


class Bench:
    """The parts that invariants share. `settings` carries the user's models, every other knob at its default."""

    def __init__(
        self,
        user: Settings,
        corpus: Path,
        scratch: Path,
        progress: ProgressFn = lambda _: None,
        embedder: Embedder | None = None,
    ) -> None:
        """`scratch` is an empty folder that the caller removes. `embedder` stands in for the one the settings name."""
        self.user, self.corpus, self.scratch = user, corpus, scratch
        self.settings = _models_of(user, scratch / "data")
        self._progress = progress
        self._embedder = embedder
        self._opened = _Once(self._index_corpus)
        self._loaded = _Once(self._load_notes)
        self._traces: dict[str, Trace] = {}

    @property
    def engine(self) -> Engine:
        """The engine on the bundled notes, up to date."""
        return self._opened()[0]

    @property
    def report(self) -> UpdateReport:
        """What indexing the bundled notes from nothing did."""
        return self._opened()[1]

    @property
    def embedder(self) -> Embedder:
        return self.engine.embedder

    @property
    def chunks(self) -> tuple[ChunkRow, ...]:
        return self.engine.snapshot.chunks

    @property
    def notes(self) -> Mapping[str, LoadedNote]:
        """The bundled notes as the loader reads them, by path."""
        return self._loaded()

    def trace(self, question: str) -> Trace:
        """A search of the bundled notes with the default settings; each question is searched once."""
        if question not in self._traces:
            self._traces[question] = self.engine.search(question)
        return self._traces[question]

    @property
    def traces(self) -> list[Trace]:
        return [self.trace(question) for question in QUESTIONS]

    @property
    def rounds(self) -> list[Round]:
        return [round_ for trace in self.traces for round_ in trace.rounds]

    def small(
        self,
        texts: Sequence[str],
        *,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        **knobs: Any,
    ) -> Engine:
        """An engine in memory over one ready-made chunk a text; text i is `000i.txt#0`, row i. Hashing by default."""
        settings = replace(Settings(), **knobs)
        engine = Engine(embedder or HashingEmbedder(), reranker, settings)
        return engine.build({f"{i:04}.txt": [text] for i, text in enumerate(texts)})

    def on_folder(self, notes: Path, *, cold: bool = False) -> Engine:
        """An engine on another folder with the same models, which the caller closes. `cold`: its index is new."""
        if cold:
            shutil.rmtree(index_path(self.settings, notes).parent, ignore_errors=True)
        return Engine.open(notes, self.settings, embedder=self.embedder)

    def placed(self) -> DenseIndex:
        """The corpus's vectors, each chunk put somewhere between the languages: at the ends, in the middle, and hubs.

        Places of our own, so that levelling is checked whatever embedder serves.
        """
        dense = self.engine.snapshot.dense
        stand = np.zeros((dense.size, WIDTH), dtype=np.float32)
        stand[:, 0] = [(0.0, 1.0, 1.0, 0.4)[row % 4] for row in dense.rows.tolist()]
        stand[::7, 1], stand[::5, 2] = 0.02, 0.03
        return serve(dense.matrix, dense.rows, stand)

    def close(self) -> None:
        if self._opened._value:
            self.engine.close()

    def _index_corpus(self) -> tuple[Engine, UpdateReport]:
        self._share_models()
        engine = Engine.open(self.corpus, self.settings, self._progress, embedder=self._embedder)
        try:
            return engine, engine.update(self._progress)
        except BaseException:
            engine.close()
            raise

    def _share_models(self) -> None:
        """The throw-away data folder borrows the user's models: preparing one takes a while."""
        if not self.settings.models_dir.exists():
            self.user.models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.settings.data_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
            self.settings.models_dir.symlink_to(self.user.models_dir.absolute(), target_is_directory=True)

    def _load_notes(self) -> Mapping[str, LoadedNote]:
        return {file.path: load(file.absolute, file.path) for file in scan(self.corpus).files}

    def tell(self, done: int, total: int, detail: str) -> None:
        self._progress(Progress("check", done, total, detail))


def _models_of(user: Settings, data: Path) -> Settings:
    """Default knobs with the user's models: the invariants test the program, not somebody's taste.

    A missing reranker is a fallen check of its own (the rerank group), not an engine that does not open.
    """
    return Settings(
        embed_model=user.embed_model,
        rerank_model=user.rerank_model,
        rerank_weight=user.rerank_weight,
        disable_rerank=user.disable_rerank,
        require_rerank=False,
        answers="extract",  # the invariant that is about a language model asks for it itself
        data=str(data),
    )
