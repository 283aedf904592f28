"""What a score gets by where the chunk stands between the languages, so that average texts of all of them score alike.

A label (Chinese or not) would do for pure text. It fails where a chunk is mixed: a track list with Latin names inside
a Chinese note, or code, is lifted above every real answer. So a chunk's own vector says where it stands, on the line
between the mean vectors of the calibration passages of the two languages. Pure texts stand at its ends (measured:
Chinese passages at .87 to 1.2, English ones at -.12 to .2, code at .3 to .45), and there the place saturates, so within
one language no order changes; only what lies between them is interpolated.

What is left is hubness (Radovanovic et al., JMLR 2010): a few chunks are near to every question of a language. A chunk
whose cosine with the average text of the *question's* language is more than HUB_TOLERANCE above what its place predicts
loses the excess: cross-domain similarity local scaling (Conneau et al., ICLR 2018) with one neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.models.calibration import Calibration, late_averages
from glassbox_tui.models.protocols import Matrix, Vector
from glassbox_tui.text.language import CJK, OTHER

# Below and above these, a place on the line between the languages counts as one of its ends.
OTHER_END, CJK_END = 0.15, 0.85
HUB_TOLERANCE = 0.01  # cosine

Places = NDArray[np.float32]  # (chunks, 3): how Chinese, excess for Chinese questions, excess for other questions
WIDTH = 3


@dataclass(frozen=True, slots=True)
class Level:
    """What a score gets at a place: `base` + `slopes` (3,) times the place (3,). The default gives nothing."""

    base: float = 0.0
    slopes: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def at(self, place: NDArray[np.floating]) -> float:
        """By language and by hubness together."""
        return self.language(place) + self.hub(place)

    def language(self, place: NDArray[np.floating]) -> float:
        return self.base + self.slopes[0] * float(place[0])

    def hub(self, place: NDArray[np.floating]) -> float:
        """Never above zero for a level of `dense_level`."""
        return self.slopes[1] * float(place[1]) + self.slopes[2] * float(place[2])


FLAT = Level()


def places(calibration: Calibration | None, vectors: Matrix) -> Places:
    """Where each of the vectors (n, d) stands; zeros without a calibration of both languages."""
    if calibration is None or not {CJK, OTHER} <= calibration.means.keys():
        return np.zeros((len(vectors), WIDTH), dtype=np.float32)
    cjk, other = calibration.means[CJK], calibration.means[OTHER]
    line = cjk - other
    # einsum: unlike a matrix product, it gives a row the same bits whatever rows stand beside it.
    along = (np.einsum("nd,d->n", vectors, line) - float(other @ line)) / float(line @ line)
    u = np.clip((along - OTHER_END) / (CJK_END - OTHER_END), 0.0, 1.0)
    found = np.empty((len(vectors), WIDTH), dtype=np.float32)
    found[:, 0] = u
    for column, mean in ((1, cjk), (2, other)):
        expected = (1.0 - u) * float(other @ mean) + u * float(cjk @ mean)
        found[:, column] = np.maximum(0.0, np.einsum("nd,d->n", vectors, mean) - expected - HUB_TOLERANCE)
    return found


def end_of(language: str) -> Places:
    """(3,): the place of a pure text of that language."""
    return np.array([float(language == CJK), 0.0, 0.0], dtype=np.float32)


def dense_level(calibration: Calibration | None, vector: Vector, chinese: float) -> Level:
    """The level of cosines with the query `vector`; `chinese`: how Chinese the question is, 0 to 1."""
    if calibration is None or not {CJK, OTHER} <= calibration.means.keys():
        return FLAT
    cjk, other = (float(calibration.means[language] @ vector) for language in (CJK, OTHER))
    return Level((cjk - other) / 2.0, (other - cjk, -chinese, chinese - 1.0))


def late_level(calibration: Calibration | None, rows: Matrix, weights: NDArray[np.float64]) -> Level:
    """The level of late-interaction scores with these query rows and token weights: by language alone."""
    if calibration is None or not len(rows) or not {CJK, OTHER} <= calibration.means.keys():
        return FLAT
    averages = late_averages(calibration, rows, weights)
    cjk, other = averages[CJK], averages[OTHER]
    return Level((cjk - other) / 2.0, (other - cjk, 0.0, 0.0))
