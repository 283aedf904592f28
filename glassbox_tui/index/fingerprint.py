"""Whose vectors an index holds: two models may bear one name, and a folder may be embedded anew by another model.

The vector of a probe text is kept with the index and compared with the one that the embedder makes of it now. Near
enough is the same, for processors round differently.
"""

from __future__ import annotations

import base64
import time
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.store import Store
from glassbox_tui.index.token_codes import encode_passage
from glassbox_tui.models.protocols import Embedder

FOREIGN = "the vectors of {} in this index are another model's of that name ({}): they are not used, and made anew"
PROBE = "The kettle boils at 96 degrees. 水壶在九十六度烧开。"
SAME = 0.99  # cosine; another processor's rounding costs a thousandth, another model's opinion far more
MANY = 500  # chunks; embedding fewer anew is no matter
ASKED_FROM = 60.0  # seconds
TIMED = 3  # chunks that are embedded to know the pace


@dataclass(frozen=True, slots=True)
class Replanned:
    """An index of another embedder, `before`: its `chunks` are to be embedded by `now`, in about `seconds`."""

    before: str
    now: str
    chunks: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"this index was embedded by {self.before}: embedding its {self.chunks:,} chunks by {self.now} takes about"
            f" {max(1, round(self.seconds / 60)):,} min"
        )


def foreign(store: Store, embedder: Embedder) -> str:
    """Why the vectors under the embedder's name are not its own, as a half sentence; "" if they are, or there are none.

    An index without a probe is compared by one of its own texts.
    """
    held = store.some_vector(embedder.name)
    if held is None:
        return ""
    known, text = _kept(store, embedder), PROBE
    if known is None:
        key, blob = held
        own = store.index_text(key)
        if own is None or len(blob) % 4:  # of a chunk that is gone, or damaged
            return ""
        known, text = np.frombuffer(blob, dtype="<f4"), own
    if known.size != embedder.dimension:
        return f"they have {known.size} dimensions, not {embedder.dimension}"
    cosine = float(known @ _vector(embedder, text))
    return "" if cosine >= SAME else f"the cosine of one text with itself is {cosine:.2f}"


def remember(store: Store, embedder: Embedder) -> None:
    """Keep the probe's vector, if none is kept."""
    if _kept(store, embedder) is None:
        raw = _vector(embedder, PROBE).astype("<f4").tobytes()
        store.set_meta(_meta(embedder), f"{zlib.crc32(raw)} {base64.b64encode(raw).decode()}")


def forget(store: Store, embedder: Embedder) -> None:
    """Drop every vector under the embedder's name, with its token codes, and the probe."""
    store.forget_model(embedder.name)
    store.set_meta(_meta(embedder), "")


def _kept(store: Store, embedder: Embedder) -> NDArray[np.float32] | None:
    """The probe's vector as it was kept; None: none was, or it is damaged."""
    sum_, _, written = (store.meta(_meta(embedder)) or "").partition(" ")
    try:
        raw = base64.b64decode(written, validate=True)
    except ValueError:
        return None
    return np.frombuffer(raw, dtype="<f4") if raw and str(zlib.crc32(raw)) == sum_ else None


def replanned(store: Store, embedder: Embedder) -> Replanned | None:
    """What it takes to embed an index anew that another embedder has embedded; None: nothing, or not much."""
    if store.read_only or store.some_vector(embedder.name) is not None:  # it cannot be, has begun, or is done
        return None
    counts = store.models()
    if not counts:
        return None
    keys = [key for _, key in store.missing_keys(embedder.name)]
    if len(keys) < MANY:
        return None
    began, step = time.monotonic(), len(keys) // TIMED
    for key in keys[::step][:TIMED]:
        if (text := store.index_text(key)) is not None:
            _vector(embedder, text)
    seconds = (time.monotonic() - began) / TIMED * len(keys)
    before = max(sorted(counts), key=lambda model: counts[model])
    return Replanned(before, embedder.name, len(keys), seconds) if seconds >= ASKED_FROM else None


def _meta(embedder: Embedder) -> str:
    return f"probe of {embedder.name}"


def _vector(embedder: Embedder, text: str) -> NDArray[np.float32]:
    return encode_passage(embedder, "", text, keep_codes=False).vector
