"""What another index file holds of vectors, as far as it is sound: they are dear, and the notes can be read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path

import numpy as np

from glassbox_tui.index.rows import Embedding

BATCH = 500
NORM_TOLERANCE = 1e-3


def embeddings_of(path: Path) -> Iterator[tuple[str, list[Embedding]]]:
    """(model, embeddings) in batches, until the file can be read no further.

    What is not what was written stays behind; so do vectors of no unit length, and those whose token codes are lost.
    """
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as source:
        for model, rows in groupby(_sound(source), key=lambda found: found[0]):
            batch: list[Embedding] = []
            with suppress(sqlite3.Error):  # what was read before the damage is handed on
                for _, embedding in rows:
                    batch.append(embedding)
                    if len(batch) >= BATCH:
                        yield model, batch
                        batch = []
            if batch:
                yield model, batch


def _sound(source: sqlite3.Connection) -> Iterator[tuple[str, Embedding]]:
    # Before schema 5 there were no checksums.
    summed = any(name == "checksum" for _, name, *_ in source.execute("PRAGMA table_info(vectors)"))
    coded = {model for (model,) in source.execute("SELECT DISTINCT model FROM token_codes")}
    rows = source.execute(
        f"SELECT v.model, v.key, v.vector, t.truncated, t.codes, {'v.checksum, t.checksum' if summed else 'NULL, NULL'}"
        " FROM vectors v LEFT JOIN token_codes t ON t.model = v.model AND t.key = v.key ORDER BY v.model"
    )
    for model, key, blob, truncated, codes, *written in rows:
        vector = np.frombuffer(blob, dtype="<f4") if len(blob) % 4 == 0 else np.zeros(0, np.float32)
        if not abs(float(vector @ vector) - 1) <= NORM_TOLERANCE or (codes is None and model in coded):  # nan too
            continue
        packed = None if codes is None else np.frombuffer(codes, dtype=np.uint8)
        embedding = Embedding(key, vector, packed, truncated or 0)
        found = (embedding.vector_row(model)[2], embedding.codes_row(model)[2])
        if all(was is None or was == now for was, now in zip(written, found, strict=True)):
            yield model, embedding
