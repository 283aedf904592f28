"""The models this program knows, and the one door through which they are opened.

A model asked for by name is that model or a ModelError; only where nobody asked does the next one serve, with a notice.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from glassbox_tui.models import manifest
from glassbox_tui.models.entries import (
    BUNDLED,
    E5,
    HASHING,
    LATE_INTERACTION,
    LLM_RERANKERS,
    NO_RERANKER,
    QWEN,
    UNMEASURED_WEIGHT,
    CatalogEntry,
    generator_entry,
)
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.protocols import Embedder, Reranker, TokenEmbedder
from glassbox_tui.progress import ProgressFn
from glassbox_tui.settings import Settings

__all__ = [
    "BUNDLED",
    "E5",
    "HASHING",
    "LATE_INTERACTION",
    "NO_RERANKER",
    "CatalogEntry",
    "ModelError",
    "OpenedEmbedder",
    "OpenedReranker",
    "all_entries",
    "find",
    "folder_of",
    "open_embedder",
    "open_reranker",
]


@dataclass(frozen=True, slots=True)
class OpenedEmbedder:
    """`notices` are sentences for the screen, e.g. why this one serves in place of the bundled one."""

    embedder: Embedder
    entry: CatalogEntry
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenedReranker:
    """`reranker` None with the entry LATE_INTERACTION: rank by stored token codes. None with NO_RERANKER: no stage."""

    reranker: Reranker | None
    entry: CatalogEntry
    notices: tuple[str, ...] = ()


E5_NAMES = {"bundled", E5.name, "intfloat/multilingual-e5-small", "e5"}
HASHING_NAMES = {"hashing", "hash", "hashing-512"}
LATE_NAMES = {"bundled", LATE_INTERACTION.name}
# Tried in this order, from local files, where the bundled embedder is missing and nobody named another.
NEXT = ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "BAAI/bge-small-zh-v1.5")


def open_embedder(settings: Settings, progress: ProgressFn | None = None) -> OpenedEmbedder:
    """The embedder of GLASSBOX_EMBED_MODEL: "" (bundled, else the next that works), a catalog name or a local folder.

    Raises ModelError if the one that was named cannot be had.
    """
    first, *others = embedder_order(settings)
    if first == HASHING.name:
        return _hashing()
    if first != E5.name:
        return _named_embedder(first, settings)
    try:
        return _e5(settings, progress)
    except ModelError as error:
        if not others:
            raise
        return _next_embedder(settings, str(error))


def embedder_order(settings: Settings) -> tuple[str, ...]:
    """The embedders that may serve, by name or folder: the first that can be had does. One if it was asked for."""
    named = settings.embed_model.strip()
    if not named:
        return (E5.name, *NEXT, HASHING.name)
    return (E5.name if named in E5_NAMES else HASHING.name if named in HASHING_NAMES else named,)


def wanted_reranker(settings: Settings) -> str:
    """The reranker that the settings ask for, by name or folder; nobody asked: late interaction."""
    named = settings.rerank_model.strip()
    return LATE_INTERACTION.name if not named or named in LATE_NAMES else named


def why_no_rerank(settings: Settings, embedder: str, token_states: bool) -> str | None:
    """Why no rerank stage runs over that embedder, which gives token states or none; None: one does.

    "" where the settings switch it off, which needs no explaining.
    """
    if settings.disable_rerank:
        return ""
    if settings.rerank_model.strip():
        return None
    if settings.disable_dense:
        return "rerank is off: without an embedder there is no late interaction"
    if not token_states:
        return f"rerank is off: {embedder} has no token states for late interaction"
    return None if settings.token_codes else "rerank is off: no token codes are kept (GLASSBOX_TOKEN_CODES=0)"


def open_reranker(settings: Settings, embedder: Embedder | None = None) -> OpenedReranker:
    """The reranker of GLASSBOX_RERANK_MODEL: "" (late interaction, if the embedder has token states), a name, a folder.

    Cheap to call again: a loaded model is kept. Raises ModelError if the one that was named cannot be had.
    """
    name = wanted_reranker(settings)
    if name == LATE_INTERACTION.name:
        if isinstance(embedder, TokenEmbedder):
            return OpenedReranker(None, LATE_INTERACTION)
        reason = (
            f"late interaction needs token states, which {embedder.name if embedder else 'no embedder'} does not give"
        )
        if settings.rerank_model.strip():
            raise ModelError(f"{reason}: GLASSBOX_RERANK_MODEL={name} works with {E5.name}")
        return OpenedReranker(None, NO_RERANKER, (f"No rerank stage: {reason}.",))
    return _named_reranker(name, settings.models_dir)


def all_entries(settings: Settings) -> list[CatalogEntry]:
    """Every model with a name: ours, fastembed's, and the generator (by default, or the one the settings name)."""
    from glassbox_tui.models import fastembed_models

    generators = [QWEN]
    if settings.llm_repo and settings.llm_file:
        chosen = generator_entry(settings.llm_repo, settings.llm_file)
        generators = [chosen, *(g for g in generators if g != chosen)]
    embedders = [E5, HASHING, *fastembed_models.embedder_entries().values()]
    return [
        *embedders,
        LATE_INTERACTION,
        *LLM_RERANKERS.values(),
        *fastembed_models.reranker_entries().values(),
        *generators,
    ]


_HUB_FILE = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)/(?P<file>(?:[\w.+-]+/)*[\w.+-]+\.gguf)", re.IGNORECASE | re.ASCII)


def find(name: str, settings: Settings) -> CatalogEntry:
    """The entry of that name, in any case, with or without the part before the slash; or of any OWNER/REPO/FILE.gguf.

    Raises ModelError with suggestions.
    """
    entries = all_entries(settings)
    wanted = name.strip().lower()
    for names in (_full_name, _other_names):
        for entry in entries:
            if wanted in names(entry):
                return entry
    if (file := _HUB_FILE.fullmatch(name.strip())) and ".." not in name.split("/"):
        return generator_entry(file["repo"], file["file"])
    spellings = {spelling: entry.name for entry in entries for spelling in _full_name(entry) | _other_names(entry)}
    near = dict.fromkeys(spellings[spelling] for spelling in difflib.get_close_matches(wanted, spellings, n=3))
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise ModelError(f"there is no model {name!r}: {hint}`glassbox-tui models list` shows all")


def _full_name(entry: CatalogEntry) -> set[str]:
    return {entry.name.lower()}


def _other_names(entry: CatalogEntry) -> set[str]:
    more = E5_NAMES if entry is E5 else HASHING_NAMES if entry is HASHING else set()
    file = {entry.repo.lower(), *entry.files} if entry.kind == "generator" else set()
    return {entry.name.rpartition("/")[2].lower(), *more, *file}


def folder_of(entry: CatalogEntry, models_dir: Path) -> Path:
    """Where `models pull` puts a model and where a start looks for it."""
    return models_dir / "pulled" / entry.name.replace("/", "--")


def fastembed_cache(models_dir: Path) -> Path:
    """A cache of fastembed's own layout, for those who bring one from elsewhere."""
    return models_dir / "fastembed"


def _hashing(notices: tuple[str, ...] = ()) -> OpenedEmbedder:
    from glassbox_tui.models.hashing import HashingEmbedder

    return OpenedEmbedder(HashingEmbedder(), HASHING, notices)


def _e5(settings: Settings, progress: ProgressFn | None) -> OpenedEmbedder:
    from glassbox_tui.models.e5 import open_e5

    embedder, notices = open_e5(settings.models_dir, progress)
    return OpenedEmbedder(embedder, E5, notices)


def _next_embedder(settings: Settings, reason: str) -> OpenedEmbedder:
    damaged: list[str] = []
    for name in NEXT if settings.models_dir.is_dir() else ():
        try:
            opened = _named_embedder(name, settings)
        except ModelError as error:
            if _is_here(name, settings.models_dir):
                damaged.append(f"{error}.")
            continue
        return OpenedEmbedder(opened.embedder, opened.entry, (*damaged, f"{name} serves as embedder: {reason}."))
    return _hashing((*damaged, f"The hashing embedder serves, which compares spelling and not meaning: {reason}."))


def _is_here(name: str, models_dir: Path) -> bool:
    return (models_dir / "pulled" / name.replace("/", "--")).exists()


def _named_embedder(name: str, settings: Settings) -> OpenedEmbedder:
    from glassbox_tui.models import fastembed_models
    from glassbox_tui.models.runtime import threads

    cache = fastembed_cache(settings.models_dir)
    known = fastembed_models.embedder_entries()
    folder, entry = _located(name, known, settings.models_dir)
    if entry is None and folder is None:
        raise ModelError(_unknown("embedder", name, [E5.name, HASHING.name, *known]))
    if entry is not None:
        embedder = fastembed_models.open_embedder(entry, cache, threads(), folder)
        return OpenedEmbedder(embedder, replace(entry, token_limit=embedder.token_limit))
    assert folder is not None
    embedder = fastembed_models.open_folder_embedder(folder, cache, threads())
    return OpenedEmbedder(
        embedder,
        CatalogEntry(
            name=embedder.name,
            kind="embedder",
            dimension=embedder.dimension,
            token_limit=embedder.token_limit,
            licence="unknown",
            size_mb=_size_mb(folder),
            source=str(folder),
            scale="cosine",
        ),
    )


@lru_cache(maxsize=1)
def _named_reranker(name: str, models_dir: Path) -> OpenedReranker:
    from glassbox_tui.models import fastembed_models
    from glassbox_tui.models.runtime import threads

    cache = fastembed_cache(models_dir)
    known = fastembed_models.reranker_entries()
    folder, entry = _located(name, known, models_dir)
    if entry is None and folder is None:
        raise ModelError(_unknown("reranker", name, [LATE_INTERACTION.name, *known]))
    if entry is not None:
        reranker = fastembed_models.open_reranker(entry, cache, threads(), folder)
        return OpenedReranker(reranker, replace(entry, token_limit=reranker.token_limit))
    assert folder is not None
    reranker = fastembed_models.open_folder_reranker(folder, cache, threads())
    return OpenedReranker(
        reranker,
        CatalogEntry(
            name=reranker.name,
            kind="reranker",
            dimension=0,
            token_limit=reranker.token_limit,
            licence="unknown",
            size_mb=_size_mb(folder),
            rerank_weight=UNMEASURED_WEIGHT,
            source=str(folder),
            scale="probability",
        ),
    )


def _located(name: str, known: dict[str, CatalogEntry], models_dir: Path) -> tuple[Path | None, CatalogEntry | None]:
    """(folder, entry) that a name means: a catalog name, or a folder (with an entry if it is called after one).

    The folder of a catalog name is None unless it was pulled; both are None for an unknown name. ModelError if the
    files are not what their manifest says.
    """
    entry = known.get(name)
    if entry is not None:
        pulled = folder_of(entry, models_dir)
        fault = manifest.check(pulled)
        if fault == "missing":
            return None, entry
        if fault:
            raise ModelError(f"{name} is damaged: {fault}; `glassbox-tui models pull {name}` fetches it anew")
        return pulled, entry
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return None, None
    if (folder / manifest.MANIFEST).exists() and (fault := manifest.check(folder)):
        raise ModelError(f"the model in {folder} is damaged: {fault}")
    called = folder.resolve().name.lower()
    for entry in known.values():
        names = {entry.name.rpartition("/")[2].lower(), entry.name.replace("/", "--").lower()}
        if called in names and (folder / entry.files[0]).is_file():
            return folder, entry
    return folder, None


def _size_mb(folder: Path) -> float:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1)


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"there is no {kind} {name!r}, and no such folder: {hint}known are {', '.join(known)}"
