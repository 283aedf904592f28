"""fastembed's models behind our protocols, from local files only: nothing here reaches the network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.protocols import Matrix, Vector

_SAMPLE_BYTES = 1 << 20


class FastembedEmbedder:
    """An `Embedder`. One text at a time: padding to a batch would change a row by what stands beside it."""

    def __init__(self, model: Any, name: str, dimension: int) -> None:
        self._model = model
        self._name = name
        self._dimension = dimension

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed_query(self, text: str) -> Vector:
        return _unit(next(iter(self._model.query_embed([text]))))

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return np.stack([_unit(row) for row in self._model.passage_embed(list(texts), batch_size=1)])

    def count_unknown(self, text: str) -> tuple[int, int]:
        """(unknown, all) tokens of `text`, special tokens left out."""
        tokenizer = self._model.model.tokenizer
        unknown = {tokenizer.token_to_id(token) for token in ("[UNK]", "<unk>")} - {None}
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return sum(token in unknown for token in ids), len(ids)


class FastembedReranker:
    """A `Reranker`: a cross-encoder reads query and text together. One text at a time, for the same reason."""

    def __init__(self, model: Any, name: str) -> None:
        self._model = model
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(score) for score in self._model.rerank(query, list(texts), batch_size=1)] if texts else []


def embedder_descriptions() -> dict[str, dict[str, Any]]:
    """fastembed's own catalog of text embedders, by name."""
    from fastembed import TextEmbedding

    return {str(row["model"]): row for row in TextEmbedding.list_supported_models()}


def reranker_descriptions() -> dict[str, dict[str, Any]]:
    """fastembed's own catalog of cross-encoders, by name."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return {str(row["model"]): row for row in TextCrossEncoder.list_supported_models()}


def open_fastembed_embedder(name: str, cache: Path, threads: int, folder: Path | None = None) -> FastembedEmbedder:
    """A catalog model from `cache` or from a folder of one's own. ModelError if it is not there or does not load."""
    from fastembed import TextEmbedding

    dimension = int(embedder_descriptions()[name]["dim"])
    model = _open(TextEmbedding, name, cache, threads, folder)
    return FastembedEmbedder(model, name if folder is None else f"{name}@{_mark(folder)}", dimension)


def open_folder_embedder(folder: Path, cache: Path, threads: int) -> FastembedEmbedder:
    """A folder with an ONNX embedder that fastembed does not list: pooling is read from 1_Pooling/config.json."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    pooling_file, model_file = folder / "1_Pooling" / "config.json", _model_file(folder)
    try:
        pooling = json.loads(pooling_file.read_text("utf-8"))
        dimension = int(pooling["word_embedding_dimension"])
        kind = PoolingType.CLS if pooling.get("pooling_mode_cls_token") else PoolingType.MEAN
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ModelError(
            f"{folder} is no model that fastembed lists, and {pooling_file} does not say how to pool its tokens"
        ) from None
    name = f"{folder.name}@{_mark(folder)}"
    if name not in embedder_descriptions():
        TextEmbedding.add_custom_model(
            model=name,
            pooling=kind,
            normalization=True,
            sources=ModelSource(url="local"),
            dim=dimension,
            model_file=model_file.relative_to(folder).as_posix(),
        )
    return FastembedEmbedder(_open(TextEmbedding, name, cache, threads, folder), name, dimension)


def open_fastembed_reranker(name: str, cache: Path, threads: int, folder: Path | None = None) -> FastembedReranker:
    """As `open_fastembed_embedder`, for a cross-encoder."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    model = _open(TextCrossEncoder, name, cache, threads, folder)
    return FastembedReranker(model, name if folder is None else f"{name}@{_mark(folder)}")


def _open(kind: Any, name: str, cache: Path, threads: int, folder: Path | None) -> Any:
    from loguru import logger

    logger.disable("fastembed")  # it writes to stderr, over the screen; what matters comes as an exception
    path = None if folder is None else str(folder)
    try:
        return kind(name, cache_dir=str(cache), threads=threads, local_files_only=True, specific_model_path=path)
    except Exception as error:  # fastembed, its hub client and onnxruntime raise what they like
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        if folder is not None:
            raise ModelError(f"the model in {folder} does not load: {reason}") from None
        raise ModelError(
            f"{name} is not on this machine, or does not load (looked in {cache}): "
            f"`glassbox-tui models pull {name}` fetches it, or name a local folder instead [{reason}]"
        ) from None


def _model_file(folder: Path) -> Path:
    for name in ("model.onnx", "onnx/model.onnx", "model_optimized.onnx"):
        if (folder / name).is_file():
            return folder / name
    raise ModelError(f"{folder} holds no model.onnx")


def _mark(folder: Path) -> str:
    """Tells one folder's weights from another's without reading all of them: size, first and last MiB."""
    path = _model_file(folder)
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=4)
    with path.open("rb") as stream:
        digest.update(stream.read(_SAMPLE_BYTES))
        stream.seek(max(0, size - _SAMPLE_BYTES))
        digest.update(stream.read())
    return digest.hexdigest()


def _unit(vector: Any) -> Vector:
    values = np.asarray(vector, dtype=np.float64)
    out: Vector = (values / max(float(np.sqrt(values @ values)), 1e-12)).astype(np.float32)
    return out
