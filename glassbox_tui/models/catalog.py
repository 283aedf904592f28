"""The models this program knows, and the one door through which they are opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from glassbox_tui.models.protocols import Embedder
from glassbox_tui.progress import ProgressFn
from glassbox_tui.settings import Settings


class ModelError(Exception):
    """A model cannot be had; the message is one clear sentence."""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """What a person and the pipeline need to know of a model before it is opened.

    `token_limit` 0: any length. `thresholds`: the least score, by signal name, at which evidence counts as sufficient;
    `calibration` says how they were found. `rerank_weight`: weight of a reranker in the second fusion.
    """

    name: str
    kind: str  # "embedder" or "reranker"
    dimension: int
    token_limit: int
    licence: str
    size_mb: float
    rerank_weight: float = 1.0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    calibration: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class OpenedEmbedder:
    embedder: Embedder
    entry: CatalogEntry
    notices: tuple[str, ...] = ()


HASHING = CatalogEntry(
    name="hashing",
    kind="embedder",
    dimension=512,
    token_limit=0,
    licence="MIT",
    size_mb=0.0,
    thresholds={"dense": 0.25},
    calibration="not calibrated yet",
    source="part of glassbox-tui",
)


def open_embedder(settings: Settings, progress: ProgressFn | None = None) -> OpenedEmbedder:
    from glassbox_tui.models.hashing import HashingEmbedder

    return OpenedEmbedder(HashingEmbedder(), HASHING)
