"""No embedder at all, for keyword search alone."""

from __future__ import annotations

from collections.abc import Sequence

from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.protocols import Matrix, Vector


class NoEmbedder:
    """Stands where an embedder would. Whoever asks it for a vector gets a ModelError."""

    name = "off"
    dimension = 0

    def embed_query(self, text: str) -> Vector:
        raise ModelError("dense search is off: GLASSBOX_DISABLE_DENSE is set")

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        raise ModelError("dense search is off: GLASSBOX_DISABLE_DENSE is set")
