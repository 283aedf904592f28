"""What an average text scores: calibration passages of our own, through the embedder, by language.

Multilingual embedders place texts of one language nearer to each other than texts of one meaning in two languages: in a
folder of mixed notes nearly every chunk in the question's language outscores the right one in the other. A query's
score against a chunk is therefore read relative to its mean score against calibration passages of the chunk's language.
Within one language this adds a constant, so no order changes there. (Removing language means is known from Libovicky
et al. 2020, "On the Language Neutrality of Pre-trained Multilingual Representations"; done on scores it stays visible.)
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.models.late_interaction import (
    Codes,
    DecodedTokens,
    best_similarities,
    contributions,
    decode_tokens,
    quantise,
)
from glassbox_tui.models.protocols import Matrix, TokenEmbedder, Vector
from glassbox_tui.text.language import language_of


@dataclass(frozen=True, slots=True)
class Calibration:
    """Per language the mean passage vector (d,), and all passages' token codes: passage i owns offsets[i]..[i+1].

    `tokens` are the codes decoded, since every query meets them all.
    """

    means: Mapping[str, Vector]
    languages: tuple[str, ...]
    codes: Codes
    offsets: NDArray[np.int64]
    tokens: DecodedTokens


@runtime_checkable
class Calibrated(Protocol):
    """An embedder that can say what an average text scores."""

    @property
    def calibration(self) -> Calibration: ...


def dense_offsets(calibration: Calibration, vector: Vector) -> dict[str, float]:
    """What to add to a cosine, by the chunk's language, so that average texts of all languages score alike."""
    return _level({language: float(mean @ vector) for language, mean in calibration.means.items()})


def late_offsets(calibration: Calibration, rows: Matrix, weights: NDArray[np.float64]) -> dict[str, float]:
    """The same for a late-interaction score with these query rows and token weights."""
    return _level(late_averages(calibration, rows, weights))


def late_averages(calibration: Calibration, rows: Matrix, weights: NDArray[np.float64]) -> dict[str, float]:
    """The mean late-interaction score of the calibration passages, by language."""
    sims = best_similarities(rows, calibration.tokens, calibration.offsets)
    scores = contributions(sims, weights).sum(axis=1)
    languages = np.array(calibration.languages)
    return {language: float(scores[languages == language].mean()) for language in calibration.means}


def _level(averages: Mapping[str, float]) -> dict[str, float]:
    middle = sum(averages.values()) / len(averages)
    return {language: middle - average for language, average in averages.items()}


def calibrate(embedder: TokenEmbedder, texts: Sequence[str], done: Callable[[int], None]) -> Calibration:
    """Encode the calibration passages. `done` hears how many are through."""
    languages, vectors, codes = [], [], []
    for i, text in enumerate(texts, start=1):
        encoding = embedder.encode_passage(text)
        languages.append(language_of(text))
        vectors.append(encoding.vector)
        codes.append(quantise(encoding.states, embedder.token_mean))
        done(i)
    return _assemble(languages, np.stack(vectors), np.concatenate(codes), [len(c) for c in codes])


def _assemble(languages: Sequence[str], vectors: Matrix, codes: Codes, lengths: Sequence[int]) -> Calibration:
    named = np.array(languages)
    means = {
        language: np.asarray(vectors[named == language].mean(axis=0), dtype=np.float32)
        for language in sorted(set(languages))
    }
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    return Calibration(means, tuple(languages), codes, offsets, decode_tokens(codes))


def fingerprint(texts: Sequence[str]) -> str:
    """Names the calibration texts: other texts, another calibration."""
    return hashlib.blake2b("\n\n".join(texts).encode(), digest_size=4).hexdigest()


def write(path: Path, calibration: Calibration) -> None:
    """Store it whole or not at all. Raises OSError."""
    arrays: dict[str, Any] = {f"mean_{language}": mean for language, mean in calibration.means.items()}
    arrays["languages"], arrays["codes"] = np.array(calibration.languages), calibration.codes
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", suffix=".part", delete=False) as file:
        part = Path(file.name)
        try:
            np.savez(file, lengths=np.diff(calibration.offsets), **arrays)
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def read(path: Path) -> Calibration | None:
    """What `write` stored; None if it is not there or not readable, and should be made again."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            languages = tuple(map(str, stored["languages"]))
            means = {language: stored[f"mean_{language}"] for language in sorted(set(languages))}
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(stored["lengths"], dtype=np.int64)])
            codes = stored["codes"]
            return Calibration(means, languages, codes, offsets, decode_tokens(codes))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
