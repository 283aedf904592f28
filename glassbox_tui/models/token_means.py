"""The mean token state of each token embedder, on which late interaction centres.

Computed over `calibration.txt`, text of our own on everyday subjects in both languages, and shipped as numbers: it
costs no time at the first start and is the same for everyone. `e5.write_token_mean` writes it anew; do so whenever the
embedder's numbers change (then its name changes, too).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from glassbox_tui.models.protocols import TokenEmbedder, Vector

_HERE = Path(__file__).parent
_FILE = _HERE / "token_means.json"
_CALIBRATION = _HERE / "calibration.txt"


@cache
def read(embedder_name: str) -> Vector:
    """(dimension,) float32. KeyError for an embedder without a shipped mean."""
    mean = np.array(json.loads(_FILE.read_text("utf-8"))[embedder_name], dtype=np.float32)
    mean.setflags(write=False)
    return mean


def calibration_texts() -> tuple[str, ...]:
    """The paragraphs of calibration.txt."""
    return tuple(part.strip() for part in _CALIBRATION.read_text("utf-8").split("\n\n") if part.strip())


def write(embedder_name: str, mean: Vector) -> None:
    means = json.loads(_FILE.read_text("utf-8")) if _FILE.exists() else {}
    means[embedder_name] = [round(float(value), 5) for value in mean]
    _FILE.write_text(json.dumps(means) + "\n", encoding="utf-8")


def compute(embedder: TokenEmbedder, texts: Sequence[str]) -> Vector:
    """Mean over all tokens of all texts, encoded as passages."""
    total, count = np.zeros(embedder.dimension), 0
    for text in texts:
        states = embedder.encode_passage(text).states
        total += states.sum(axis=0, dtype=np.float64)
        count += len(states)
    mean: Vector = (total / max(count, 1)).astype(np.float32)
    return mean
