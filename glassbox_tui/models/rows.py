"""A model as a person sees it in a list. Light: the app's own process knows it, and loads no model."""

from __future__ import annotations

from dataclasses import dataclass

from glassbox_tui.models.entries import CatalogEntry
from glassbox_tui.models.speed import Speed

# Which setting chooses a model of each kind; the kinds in the order in which they are listed.
KNOBS = {
    "embedder": "GLASSBOX_EMBED_MODEL",
    "reranker": "GLASSBOX_RERANK_MODEL",
    "generator": "GLASSBOX_LLM_PATH",
}
KINDS = tuple(KNOBS)


@dataclass(frozen=True, slots=True)
class ModelRow:
    """`present`: on this machine and whole. `in_use`: what the settings choose. `why` is a sentence on both.

    `broken`: it is damaged, or what the settings choose cannot be had. `speed`: what was measured of it here, if it was
    and it is the same file still.
    """

    entry: CatalogEntry
    present: bool
    in_use: bool
    why: str
    path: str = ""
    broken: bool = False
    speed: Speed | None = None
