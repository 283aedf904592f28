"""The Python door: open a folder of notes (or build from texts), keep its index up to date, search it.

from glassbox_tui import Engine
trace = Engine().build({"a.md": "..."}).search("...")
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.embedding import embed_missing
from glassbox_tui.index.fingerprint import FOREIGN, Replanned, foreign, forget, remember, replanned
from glassbox_tui.index.gate import Gate
from glassbox_tui.index.indexer import Calls, UpdateReport, index_texts
from glassbox_tui.index.keeper import Keeper, Way
from glassbox_tui.index.location import index_path
from glassbox_tui.index.lock import lock_of, writing
from glassbox_tui.index.rows import NoteRecord, text_hash
from glassbox_tui.index.schema import DamagedError
from glassbox_tui.index.scope import rows_within, tidy, within
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.store import Store, begin_anew, open_store
from glassbox_tui.models.catalog import E5, CatalogEntry, open_embedder
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.generators import OpenedOnce
from glassbox_tui.models.judging import weights_for
from glassbox_tui.models.lexicon import LexiconOnce
from glassbox_tui.models.llm_rerank import LLMReranker
from glassbox_tui.models.off import NoEmbedder
from glassbox_tui.models.protocols import (
    Embedder,
    FusionStrategy,
    Generator,
    Judge,
    QueryTransform,
    Reranker,
    Retriever,
)
from glassbox_tui.models.verdict_weights import Fitted
from glassbox_tui.models.vocabulary import language_notice
from glassbox_tui.notes.decode import repair
from glassbox_tui.notes.ignore import rules_of
from glassbox_tui.notes.load import LoadedNote
from glassbox_tui.notes.reading import NoteText
from glassbox_tui.notes.scan import NotesError, Scan, Skipped, check_file, scan
from glassbox_tui.notes.synonyms import read_synonyms
from glassbox_tui.offline import too_late
from glassbox_tui.progress import CancelledFn, Progress, ProgressFn
from glassbox_tui.retrieval.assistance import assisted, unassisted
from glassbox_tui.retrieval.listing import ChunkInfo, NoteInfo, chunks_of, files_of, notes_of
from glassbox_tui.retrieval.loop import MODES, run
from glassbox_tui.retrieval.notetext import note_text, text_around
from glassbox_tui.retrieval.plugins import Plugins
from glassbox_tui.retrieval.remedies import Expander, by_lexicon, by_synonyms, known_to
from glassbox_tui.retrieval.reranking import Reranking, choose_reranker
from glassbox_tui.retrieval.rounds import Pipeline
from glassbox_tui.retrieval.stages import LateInteraction
from glassbox_tui.retrieval.trace import IndexInfo, Round, Trace, decided
from glassbox_tui.settings import Settings, check, knobs, load_settings
from glassbox_tui.text.chunks import ChunkSpan
from glassbox_tui.text.language import CJK, OTHER
from glassbox_tui.text.synonyms import Synonyms
from glassbox_tui.text.translations import Gloss, translations
from glassbox_tui.text.visible import has_visible

# Chunks that an embedder is asked about when we want to know whether it knows their language.
LANGUAGE_SAMPLE = 50
SPOILT = "{} of the index's vectors or token codes are not what was written: they count as none and are made anew"


class EngineError(GlassboxError):
    """The engine was asked for something it cannot do; the message says what."""


class Engine:
    """One index with its models. `update` and `search` may run in different threads; a search works on a snapshot."""

    def __init__(
        self,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        settings: Settings | None = None,
        progress: ProgressFn | None = None,
        *,
        retrievers: Sequence[Retriever] = (),
        fusion: FusionStrategy | None = None,
        transform: QueryTransform | None = None,
        judge: Judge | None = None,
        generator: Generator | ChatModel | None = None,
    ) -> None:
        """What is injected stays; what is None is opened by the settings, or is the built-in way.

        The protocols are in `models.protocols`; a class fits by its shape alone. Raises SettingsError, ModelError.
        """
        self.settings = settings if settings is not None else load_settings()
        check(self.settings)
        self.root: Path | None = None
        self._notices: list[str] = [*too_late()]
        self._entry: CatalogEntry | None = None
        if embedder is None and self.settings.disable_dense:
            embedder = NoEmbedder()
        elif embedder is None:
            opened = open_embedder(self.settings, progress)
            embedder, self._entry = opened.embedder, opened.entry
            self._notices += opened.notices
        self.embedder = embedder
        self._given_reranker = reranker
        self.plugins = Plugins(tuple(retrievers), fusion, transform, judge)
        self.generator = generator
        self._chat = OpenedOnce(self.settings, generator if isinstance(generator, ChatModel) else None)
        self._lexicon = LexiconOnce(self.settings.models_dir)
        self._keeper: Keeper | None = None
        self._gate = Gate()
        self._seen: Scan | None = None  # the last look at the folder
        self._out_of_reach: tuple[str, ...] = ()  # why notes could not be looked at the last time
        self._reranking = Reranking(None)
        self._language_notice: str | None = None

    @classmethod
    def open(
        cls,
        notes: Path | str,
        settings: Settings | None = None,
        progress: ProgressFn | None = None,
        index_file: Path | None = None,
        **parts: Any,
    ) -> Self:
        """The engine on a folder (or one file), with the index as it stands: call `update` to bring it up to date.

        `index_file`: where the index is kept, if not where the settings put it.
        Raises NotesError, StoreError, SettingsError, ModelError.
        """
        return cls(settings=settings, progress=progress, **parts)._at(Path(notes), index_file)

    def build(
        self,
        source: Path | str | Mapping[str, str | Sequence[str] | LoadedNote],
        progress: ProgressFn | None = None,
        index_file: Path | None = None,
    ) -> Self:
        """Index a folder, or texts: {id: text} is cut into chunks, {id: [chunk, ...]} is taken as it is.

        Texts are indexed in memory, or in `index_file`, where the next build finds what has not changed. Raises
        EngineError while another process builds there, StoreError, NotesError.
        """
        if isinstance(source, Path | str):
            self._at(Path(source), index_file).update(progress)
            return self
        self.close()
        store, notices = open_store(index_file) if index_file else (Store(None), ())
        self._notices += notices
        try:
            with writing(lock_of(index_file)) if index_file else nullcontext():
                store.remove_notes(sorted({note.path for note in store.notes()} - source.keys()))
                notes = [_note_of(uid, given) for uid, given in source.items()]
                index_texts(store, notes, self.settings, self.embedder)
                if not self.settings.disable_dense:
                    if index_file and (why := foreign(store, self.embedder)):
                        self._notices.append(FOREIGN.format(self.embedder.name, why))
                        forget(store, self.embedder)
                    if index_file:
                        remember(store, self.embedder)
                    embed_missing(store, self.embedder, self.settings.token_codes, Calls(progress or _silent))
                store.drop_orphans()
        except Timeout:
            raise EngineError(f"another process is writing the index {index_file}: try again when it is done") from None
        self._use(store)
        return self

    def sibling(self, notes: Path) -> Self:
        """An engine on another folder with the same settings and the models that are loaded here."""
        other = type(self)(self.embedder, self._given_reranker, self.settings)
        other._entry, other._notices = self._entry, list(self._notices)
        other.plugins, other.generator, other._chat = self.plugins, self.generator, self._chat
        other._lexicon = self._lexicon
        return other._at(notes)

    def _at(self, notes: Path, index_file: Path | None = None) -> Self:
        """Point at a folder's index, as it stands on disk."""
        self.close()
        try:
            self.root = notes.expanduser().absolute()
        except RuntimeError as error:  # ~somebody who is not there
            raise EngineError(f"the notes folder {str(notes)!r} cannot be found: {error}") from None
        check_file(self.root)
        path = index_file or index_path(self.settings, self.root)
        store, notices = open_store(path)
        try:
            self._use(store, lock_of(path))
        except DamagedError as error:  # a row that cannot be read shows when all are
            store, more = begin_anew(path, str(error))
            notices += more
            self._use(store, lock_of(path))
        self._notices += notices
        return self

    def _use(self, store: Store, lock: FileLock | None = None) -> None:
        try:
            given = self._given_reranker
            self._reranking = choose_reranker(self.settings, self.embedder, store, given, lambda: self.chat)
            self._keeper = Keeper(store, Way(self.settings, self.embedder), lock)
        except BaseException:
            store.close()
            raise
        self._read_language()

    def _read_language(self) -> None:
        if self._entry is not E5:  # which knows the languages of the world
            chunks = self.snapshot.chunks
            sample = [chunk.index_text for chunk in chunks[:: max(1, len(chunks) // LANGUAGE_SAMPLE)]]
            self._language_notice = language_notice(self.embedder, sample)

    @property
    def _kept(self) -> Keeper:
        if self._keeper is None:
            raise EngineError("this engine has no index: use Engine.open(folder) or Engine().build(texts) first")
        return self._keeper

    @property
    def store(self) -> Store:
        return self._kept.store

    @property
    def snapshot(self) -> Snapshot:
        """The picture of the index that a search begun now works on."""
        return self._kept.snapshot

    # -- updating ------------------------------------------------------------------------------------------------

    def update(
        self,
        progress: ProgressFn | None = None,
        cancelled: CancelledFn | None = None,
        changed: Callable[[], None] = lambda: None,
        hold: CancelledFn | None = None,
        grace: float = 0.0,
    ) -> UpdateReport:
        """Bring the index up to the folder: text first (searchable at once), then vectors.

        `changed` is called whenever searches would see something new. Once `hold()` is true the rest of the embedding
        is left for another update, and the report says how much is `pending`. A note counts as gone when it is missing
        for `grace` seconds. If another process is writing this index, nothing is written and the report says `locked`.
        Raises Cancelled (what was done stays done), NotesError, StoreError.
        """
        if self.root is None:
            raise EngineError("an engine built from texts has no folder to update from")
        calls = Calls(
            progress or _silent, cancelled or _never, hold or _never, changed, self._saw, self._gate.give_way, grace
        )
        try:
            report = self._kept.update(self.root, calls)
        except NotesError as error:
            count = len(self.snapshot.notes)
            self._out_of_reach = (f"{error}; the {count:,} notes of the index are kept as last read",) if count else ()
            raise
        if report.locked:
            self._seen = None
        else:
            self._out_of_reach = tuple(map(str, report.kept))
        if report.embedded and len(self.snapshot.languages) > 1:
            with suppress(ModelError):  # a search that needs it says so
                self._lexicon.get()  # here rather than in the first search: making its table takes seconds
        if report.locked or report.parsed:
            self._read_language()
        return report

    def new_embedder(self) -> Replanned | None:
        """What an update would embed anew because another embedder has embedded it; None: nothing much."""
        return None if self._keyword_only(self.settings) else replanned(self.store, self.embedder)

    # -- searching -----------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        top_k: int | None = None,
        mode: str = "hybrid",
        explain: bool = True,
        max_rewrites: int | None = None,
        cancelled: CancelledFn | None = None,
        on_round: Callable[[Round], None] = lambda _: None,
        scope: str = "",
        hurried: bool = False,
        typing: bool = False,
        **changes: Any,
    ) -> Trace:
        """Run the pipeline on the current snapshot. `changes` override settings for this search (rrf_k=10, ...).

        "a phrase" in the query must stand in a chunk, -word and -"a phrase" must not (see `text.operators`).
        `scope` names the folder or note to search in by its path relative to the notes ("" searches them all). Lists
        and feedback hold nothing from outside; idf and lengths stay those of the whole index, so that a chunk scores
        the same in every scope. `hurried`: somebody types, so no language model is asked to rerank or judge, and a
        notice says so. `typing`: the last word may be half a word, and keywords match what it may become (see
        `half_typed`). Raises EngineError for an unknown mode, an empty query or a scope that holds nothing,
        SettingsError, RerankError, Cancelled.
        """
        started = time.perf_counter()
        if mode not in MODES:
            raise EngineError(f"mode {mode!r} is not one of {', '.join(MODES)}")
        if not query.strip():
            raise EngineError("the query is empty: type a question")
        unknown = changes.keys() - knobs().keys()
        if unknown:
            raise EngineError(f"there is no setting {sorted(unknown)[0]!r}; there are {', '.join(knobs())}")
        if top_k is not None:
            changes["top_k"] = top_k
        if max_rewrites is not None:
            changes["max_rewrites"] = max_rewrites
        settings = replace(self.settings, **changes)
        check(settings)
        if mode == "dense" and self._keyword_only(settings):
            raise EngineError("dense search is off: GLASSBOX_DISABLE_DENSE is set")
        if mode != "bm25" and not self._keyword_only(settings):
            self._kept.meet()
        pipe = replace(self.pipeline(settings, mode, explain, cancelled or _never, scope), typing=typing)
        pipe, unasked = unassisted(pipe) if hurried else (pipe, ())
        with self.going_first():
            ran = run(query, pipe, settings.max_rewrites, on_round)
        return Trace(
            query=query,
            settings=_public(settings, pipe),
            index=self.info(pipe.snapshot),
            rounds=ran.rounds,
            decision=decided(ran.rounds[-1]),
            ended=ran.ended,
            notices=(*self._standing_notices(pipe), *unasked, *ran.notices),
            attempts=ran.attempts,
            timings_ms={"total": round((time.perf_counter() - started) * 1000.0, 3)},
        )

    def pipeline(
        self,
        settings: Settings | None = None,
        mode: str = "hybrid",
        explain: bool = True,
        cancelled: CancelledFn | None = None,
        scope: str = "",
    ) -> Pipeline:
        """Everything a round needs, fixed as of now: for stepping through rounds by hand.

        Raises EngineError for a scope that holds nothing to search.
        """
        settings, scope, snapshot = settings or self.settings, tidy(scope), self.snapshot
        if scope and not len(rows_within(snapshot.chunks, scope)):
            raise EngineError(_nothing_within(scope, snapshot.notes))
        chosen = self._reranking
        keyword_only = self._keyword_only(settings)
        on = not (settings.disable_rerank or (keyword_only and isinstance(chosen.reranker, LateInteraction)))
        fitted, _ = self._weights(keyword_only, chosen.reranker if on else None)
        pipe = Pipeline(
            snapshot=snapshot,
            settings=settings,
            embedder=None if keyword_only else self.embedder,
            reranker=chosen.reranker if on else None,
            rerank_weight=chosen.weight if settings.rerank_weight is None else settings.rerank_weight,
            thresholds={**(self._entry.thresholds if self._entry else {}), **chosen.thresholds},
            mode=mode,
            explain=explain,
            cancelled=cancelled or _never,
            plugins=self.plugins,
            scope=scope,
            lexicon=self._lexicon,
            expanders=self._expanders(settings, mode),
            is_word=self._is_word,
            fitted=fitted if settings.verdict == "probability" else None,
        )
        return assisted(pipe, lambda: self.chat)

    def _expanders(self, settings: Settings, mode: str) -> tuple[Expander, ...]:
        """What may stand for a word of a question, surest first. A hybrid search translates in every round anyway."""
        synonyms, _ = self._synonyms(settings)
        own = (by_synonyms(synonyms),) if synonyms.entries else ()
        return own if mode == "hybrid" else (*own, by_lexicon(self._translations))

    def _translations(self, text: str) -> list[Gloss]:
        """What the words of a text mean in the other language, whichever that is; nothing without a dictionary."""
        with suppress(ModelError):  # the stage that lives from it says so
            lexicon = self._lexicon.get()
            return [gloss for language in (CJK, OTHER) for gloss in translations(text, lexicon, language)]
        return []

    def _is_word(self, word: str) -> bool:
        """Whether a word is a real one, and no misspelling of another; without a dictionary none is known to be."""
        with suppress(ModelError):
            return known_to(self._lexicon.get())(word)
        return False

    def _synonyms(self, settings: Settings) -> tuple[Synonyms, tuple[str, ...]]:
        folder = self.root if self.root is not None and self.root.is_dir() else None
        return read_synonyms(folder, settings.synonyms)

    def going_first(self) -> AbstractContextManager[None]:
        """Around rounds that somebody waits for: an update that runs beside them begins no chunk meanwhile."""
        return self._gate.search()

    def pipeline_of(self, trace: Trace, cancelled: CancelledFn | None = None) -> Pipeline:
        """The pipeline that made `trace`, on the index as it is now: for taking the trace up where it was left."""
        known = {name: value for name, value in trace.settings.items() if name in knobs()}
        mode, scope = (str(trace.settings.get(name, default)) for name, default in (("mode", "hybrid"), ("scope", "")))
        pipe = self.pipeline(replace(self.settings, **known), mode, True, cancelled, scope)
        return replace(pipe, typing=bool(trace.settings.get("typing", False)))

    def _keyword_only(self, settings: Settings) -> bool:
        return settings.disable_dense or isinstance(self.embedder, NoEmbedder)

    def _weights(self, keyword_only: bool, reranker: LateInteraction | Reranker | None) -> tuple[Fitted, str]:
        embedder = "" if keyword_only else self.embedder.name
        return weights_for(embedder, "" if reranker is None else reranker.name)

    def _standing_notices(self, pipe: Pipeline) -> tuple[str, ...]:
        notices = [*self.notices, *(self._reranking.notices if pipe.mode == "hybrid" else ())]
        notices += self._synonyms(pipe.settings)[1]
        if not pipe.snapshot.chunks:
            notices.append("the index is empty: no note with text was found")
        elif pipe.embedder is None:
            notices.append("dense search is off (GLASSBOX_DISABLE_DENSE)")
        elif (covered := pipe.dense_coverage) < 1.0 and pipe.mode != "bm25":
            where = " in scope" if pipe.scope else ""
            notices.append(f"dense search covers {covered:.0%} of the chunks{where} so far")
        if pipe.fitted is not None and pipe.mode != "bm25" and pipe.snapshot.chunks:
            _, unheard = self._weights(pipe.embedder is None, pipe.reranker if pipe.mode == "hybrid" else None)
            notices += [unheard] if unheard else []
        return tuple(notices)

    # -- asking about the index ----------------------------------------------------------------------------------

    def info(self, snapshot: Snapshot | None = None) -> IndexInfo:
        snapshot = snapshot or self.snapshot
        reranker = self._reranking.reranker
        return IndexInfo(
            notes=snapshot.searchable_notes,
            chunks=len(snapshot.chunks),
            dense_coverage=round(snapshot.dense_coverage, 6),
            embedder=self.embedder.name,
            reranker="off" if reranker is None else reranker.name,
        )

    def notes(self) -> list[NoteInfo]:
        """Every file the index knows, searchable or not, by path."""
        return notes_of(self.snapshot)

    def files(self) -> list[NoteInfo]:
        """Every file of the folder: `notes`, those that are not read yet, and those left out, with the reason.

        As of the last update's look at the folder, or of a look now if there was none. Raises NotesError.
        """
        if self._seen is None and self.root is not None:
            self._seen = scan(self.root, rules_of(self.settings))
        return files_of(self.snapshot, self._seen or Scan((), ()))

    def chunks(self, path: str) -> list[ChunkInfo]:
        """The chunks of the note `path` in reading order; none if the index does not hold it."""
        return chunks_of(self.snapshot, path)

    def note_text(self, path: str) -> NoteText:
        """The text of the note `path` as its file is now, and whether that is what was indexed. Never raises."""
        return note_text(self.root, self.snapshot, path, self.settings.follow_links)

    def text_around(self, uid: str) -> tuple[str, str]:
        """The text of the note before and after a chunk, as indexed."""
        return text_around(self.snapshot, uid)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What the last look at the folder left out, and why; empty before the first update."""
        return self._seen.skipped if self._seen is not None else ()

    def _saw(self, seen: Scan) -> None:
        self._seen = seen

    @property
    def notices(self) -> tuple[str, ...]:
        """Fallbacks made when models and index were opened, and what they cannot do here, each a sentence."""
        spoilt = len(self._keeper.store.spoilt) if self._keeper is not None else 0
        foreign = self._keeper.foreign if self._keeper is not None else ""
        return (
            *self._notices,
            *([foreign] if foreign else []),
            *([self._language_notice] if self._language_notice else []),
            *([SPOILT.format(spoilt)] if spoilt else []),
            *self._out_of_reach,
        )

    @property
    def chat(self) -> ChatModel | None:
        """The language model: the injected one, or what the settings come to; None where there is none.

        It is opened once, loaded when it is first asked something, and shared with siblings. Raises ModelError if the
        one that the settings name cannot be had.
        """
        return self._chat.get()

    def use_model(self, file: Path | str) -> None:
        """Let the GGUF in `file` be the language model from now on, also of siblings; "": what the settings say else.

        Raises ModelError, changing nothing, if it cannot be had.
        """
        settings = replace(self.settings, llm_path=str(file))
        self._chat.use(settings)
        self.settings = settings
        if isinstance(self._reranking.reranker, LLMReranker) and self._given_reranker is None:
            self._reranking = choose_reranker(settings, self.embedder, self.store, None, lambda: self.chat)

    @property
    def index_file(self) -> Path | None:
        return self.store.path

    def close(self) -> None:
        """Let go of the database. A second call does nothing."""
        if self._keeper is not None:
            self._keeper.store.close()
        self._keeper = self._seen = None
        self._out_of_reach = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _note_of(uid: str, given: str | Sequence[str] | LoadedNote) -> tuple[LoadedNote, str, tuple[ChunkSpan, ...] | None]:
    """A text, or chunks handed in ready-made, as a note; ready-made chunks stand one after another in its text."""
    if isinstance(given, LoadedNote):
        return given, uid, None
    uid = repair(uid)[0]
    ready = None if isinstance(given, str) else tuple(repair(piece)[0] for piece in given)
    text = repair(given)[0] if isinstance(given, str) else "\n\n".join(ready or ())
    spans: list[ChunkSpan] | None = None
    if ready is not None:
        spans, at = [], 0
        for piece in ready:
            spans.append(ChunkSpan(at, at + len(piece), piece, piece, ()))
            at += len(piece) + 2
    kind = "md" if uid.lower().endswith((".md", ".markdown")) else "txt"
    status = "ok" if has_visible(text) else "empty"
    note = LoadedNote(
        text=text, title="", kind=kind, encoding="utf-8", status=status, reason="" if status == "ok" else "has no text",
        warnings=(), pages=(), body_start=0, digest=text_hash(text),
    )  # fmt: skip
    return note, uid, None if spans is None else tuple(spans)


def _nothing_within(scope: str, notes: Sequence[NoteRecord]) -> str:
    """Why there is nothing to search in `scope`."""
    inside = [note for note in notes if within(note.path, scope)]
    if not inside:
        return f"there is no note or folder {scope!r} in the index: name it by its path below the notes folder"
    if len(inside) == 1:
        return f"nothing in {scope!r} can be searched: {inside[0].reason or inside[0].status}"
    return f"nothing in {scope!r} can be searched: none of its {len(inside)} files holds text"


# Settings that say where things are on this machine, or how it writes answers: no ranking depends on them.
_PRIVATE = (
    "data",
    "ignore",
    "synonyms",
    "follow_links",
    "answers",
    *("llm_path", "llm_repo", "llm_file", "llm_threads", "llm_context", "llm_answer_tokens"),
    "llm_passages",
    *("llm_server", "llm_server_model", "llm_remote"),
)


def _public(settings: Settings, pipe: Pipeline) -> dict[str, Any]:
    """What shaped a ranking, by the names of the knobs, with mode and scope; paths of this machine stay out of it."""
    values = dataclasses.asdict(settings)
    for private in _PRIVATE:
        del values[private]
    typing = {"typing": True} if pipe.typing else {}
    return {**values, "rerank_weight": pipe.rerank_weight, "mode": pipe.mode, "scope": pipe.scope, **typing}


def _silent(_: Progress) -> None:
    pass


def _never() -> bool:
    return False
