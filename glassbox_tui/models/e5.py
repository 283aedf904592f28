"""multilingual-e5-small on the CPU: vectors and token states from one forward pass, one text at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from glassbox_tui.models import calibration, e5_convert, e5_graph, token_means
from glassbox_tui.models.calibration import Calibration
from glassbox_tui.models.e5_text import Normaliser, make_normaliser, normalise, original_span
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.protocols import Matrix, TokenEncoding, Vector
from glassbox_tui.models.runtime import session_options
from glassbox_tui.progress import Progress, ProgressFn

NAME = f"{e5_convert.MODEL_NAME}/{e5_graph.QUANTISATION}"
DIMENSION = 384
POSITIONS = 512
# XLM-R's ids. The prefixes' tokens do not depend on what follows: the text begins a new word.
_BOS, _EOS, _UNK = 0, 2, 3
_QUERY, _PASSAGE = "query: ", "passage: "


class E5Embedder:
    """A `TokenEmbedder` over a converted folder. Threads may share one."""

    calibration: Calibration

    def __init__(self, session: Any, tokenizer: Any, normaliser: Normaliser, mean: Vector) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._normaliser = normaliser
        self._mean = mean
        self._bare_space = tokenizer.token_to_id("\u2581")
        # The same few chunks are explained again and again while somebody types.
        self._spans = lru_cache(maxsize=512)(self._token_spans)
        self._prefixes = {prefix: self._tokens(prefix)[0] for prefix in (_QUERY, _PASSAGE)}

    @property
    def name(self) -> str:
        return NAME

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def token_limit(self) -> int:
        return POSITIONS - 2 - max(map(len, self._prefixes.values()))

    @property
    def token_mean(self) -> Vector:
        return self._mean

    def count_tokens(self, text: str) -> int:
        return len(self._encoded(text.translate(self._normaliser.table)))

    def token_spans(self, text: str) -> tuple[tuple[int, int], ...]:
        return self._spans(text)

    def _token_spans(self, text: str) -> tuple[tuple[int, int], ...]:
        return tuple(self._tokens(text)[1][: self.token_limit])

    def count_unknown(self, text: str) -> tuple[int, int]:
        """(unknown, all) tokens of `text`."""
        ids: list[int] = self._encoded(text.translate(self._normaliser.table)).ids
        return ids.count(_UNK), len(ids)

    def encode_query(self, text: str) -> TokenEncoding:
        return self._encode(text, _QUERY)

    def encode_passage(self, text: str) -> TokenEncoding:
        return self._encode(text, _PASSAGE)

    def embed_query(self, text: str) -> Vector:
        return self._encode(text, _QUERY).vector

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        return np.stack([self._encode(text, _PASSAGE).vector for text in texts])

    def _encode(self, text: str, prefix: str) -> TokenEncoding:
        ids, spans = self._tokens(text)
        fit = self.token_limit
        before = [_BOS, *self._prefixes[prefix]]
        row = np.array([[*before, *ids[:fit], _EOS]], dtype=np.int64)
        states: Matrix = self._session.run(None, {"input_ids": row})[0][0]
        # Mean over all tokens, specials and prefix included, as the model was trained.
        pooled = states.mean(axis=0, dtype=np.float64)
        vector: Vector = (pooled / np.sqrt(pooled @ pooled)).astype(np.float32)
        return TokenEncoding(vector, states[len(before) : -1].copy(), tuple(spans[:fit]), max(0, len(ids) - fit))

    def _tokens(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and spans in `text`. A bare word mark (before a Chinese word) stands for no character: an empty span."""
        normalised, origins = normalise(text, self._normaliser)
        encoding = self._encoded(normalised)
        ids: list[int] = encoding.ids
        spans = [
            original_span((a, a) if token == self._bare_space else (a, b), origins)
            for token, (a, b) in zip(ids, encoding.offsets, strict=True)
        ]
        return ids, spans

    def _encoded(self, normalised: str) -> Any:
        return self._tokenizer.encode(normalised, add_special_tokens=False)


def open_e5(models_dir: Path, progress: ProgressFn | None = None) -> tuple[E5Embedder, tuple[str, ...]]:
    """The bundled embedder, converted on first use, and notices for the user. ModelError if it cannot be had."""
    report = progress or (lambda _: None)
    mean = token_means.read(NAME)
    prepared = e5_convert.prepare(models_dir, report)
    try:
        embedder = _load(prepared.folder, mean)
        return embedder, (*prepared.notices, *_calibrate(embedder, prepared.folder, report))
    except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions of their own
        fault = f"{prepared.folder} does not load: {_first_line(error)}"
    prepared = e5_convert.prepare(models_dir, report, distrust=fault)
    try:
        embedder = _load(prepared.folder, mean)
        return embedder, (*prepared.notices, *_calibrate(embedder, prepared.folder, report))
    except Exception as error:
        raise ModelError(f"{prepared.folder} was just made and does not load: {_first_line(error)}") from None


def write_token_mean(models_dir: Path) -> None:
    """For maintainers: compute the shipped mean anew after the numbers of the model changed."""
    folder = e5_convert.prepare(models_dir, lambda _: None).folder
    embedder = _load(folder, np.zeros(DIMENSION, dtype=np.float32))
    token_means.write(NAME, token_means.compute(embedder, token_means.calibration_texts()))


def _calibrate(embedder: E5Embedder, folder: Path, report: ProgressFn) -> tuple[str, ...]:
    """Give the embedder its calibration, made beside the model on first use (a few seconds), and return notices."""
    texts = token_means.calibration_texts()
    path = folder.with_name(f"{folder.name}-calibration-{calibration.fingerprint(texts)}.npz")
    stored = calibration.read(path)
    if stored is not None:
        embedder.calibration = stored
        return ()
    embedder.calibration = calibration.calibrate(
        embedder, texts, lambda done: report(Progress("model", done, len(texts), "calibrating the scores"))
    )
    try:
        calibration.write(path, embedder.calibration)
    except OSError as error:
        return (
            f"The calibration of the scores cannot be kept as {path} ({error.strerror or error}): it is made anew at "
            "every start, which takes seconds.",
        )
    return ()


def _load(folder: Path, mean: Vector) -> E5Embedder:
    from tokenizers import Tokenizer

    with ThreadPoolExecutor(1) as pool:  # onnxruntime reads its graph outside the interpreter's lock
        session = pool.submit(_session, folder / "model.onnx")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.normalizer = None  # the model's own table goes first instead
        table = json.loads((folder / "normaliser.json").read_text("utf-8"))
        normaliser = make_normaliser({int(point, 16): out for point, out in table.items()})
        return E5Embedder(session.result(), tokenizer, normaliser, mean)


def _session(path: Path) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(str(path), session_options(), providers=["CPUExecutionProvider"])


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
