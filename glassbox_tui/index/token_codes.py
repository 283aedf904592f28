"""Embeds one text for the index, and brings stored token codes back for a rerank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.rows import Embedding
from glassbox_tui.index.store import Store
from glassbox_tui.models.late_interaction import PER_BYTE, quantise
from glassbox_tui.models.protocols import Embedder, TokenEmbedder


def encode_passage(embedder: Embedder, key: str, text: str, keep_codes: bool = True) -> Embedding:
    """Vector and, where the embedder shows token states, their codes from the same forward pass.

    One text at a time: an embedding must not depend on what shared its batch, or the index would not be reproducible.
    """
    if isinstance(embedder, TokenEmbedder):
        encoding = embedder.encode_passage(text)
        codes = quantise(encoding.states, embedder.token_mean) if keep_codes else None
        return Embedding(key, encoding.vector, codes, encoding.truncated)
    return Embedding(key, np.asarray(embedder.embed_passages([text]), dtype=np.float32)[0], None, 0)


def read_codes(
    store: Store, model: str, dimension: int, keys: Sequence[str]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], list[bool]]:
    """Codes of `keys` end to end (tokens, dimension / 4), offsets (keys + 1,), and which keys have codes.

    Codes of no whole number of tokens are damaged, and count as none.
    """
    width = dimension // PER_BYTE
    found = {key: blob for key, blob in store.token_codes(model, keys).items() if len(blob) % width == 0}
    blobs = [found.get(key, b"") for key in keys]
    codes = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(-1, width)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(b) // width for b in blobs], dtype=np.int64)])
    return codes, offsets, [key in found for key in keys]
