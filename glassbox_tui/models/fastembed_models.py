"""fastembed's models behind our protocols, from local files only: nothing here reaches the network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glassbox_tui.models.entries import PROMPTS, CatalogEntry, from_fastembed
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.protocols import Matrix, Vector
from glassbox_tui.models.relevance import sigmoid

_SAMPLE_BYTES = 1 << 20
_MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx")
_PASSES_THROUGH = {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten"}


class FastembedEmbedder:
    """An `Embedder`. One text at a time: padding to a batch would change a row by what stands beside it."""

    def __init__(self, model: Any, name: str, dimension: int, prompts: tuple[str, str] = ("", "")) -> None:
        self._model = model
        self._name = name
        self._dimension = dimension
        self._query, self._passage = prompts

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def token_limit(self) -> int:
        """Tokens of a passage that fit, special tokens and prompt already taken off: read from the tokenizer."""
        return _limit(self._model.model.tokenizer, pair=False) - self.count_tokens(self._passage)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` alone, those beyond the limit included."""
        return sum(map(len, _pieces(self._model.model.tokenizer, text)))

    def embed_query(self, text: str) -> Vector:
        return _unit(next(iter(self._model.query_embed([self._query + text]))))

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        prompted = [self._passage + text for text in texts]
        return np.stack([_unit(row) for row in self._model.passage_embed(prompted, batch_size=1)])

    def count_unknown(self, text: str) -> tuple[int, int]:
        """(unknown, all) tokens of `text`, special tokens left out."""
        tokenizer = self._model.model.tokenizer
        unknown = {tokenizer.token_to_id(token) for token in ("[UNK]", "<unk>")} - {None}
        ids = [token for piece in _pieces(tokenizer, text) for token in piece]
        return sum(token in unknown for token in ids), len(ids)


class FastembedReranker:
    """A `Reranker`: a cross-encoder reads question and text together. One text at a time, for the same reason.

    Scores are probabilities: the sigmoid is taken here, once, unless the model's own graph ends in one.
    """

    def __init__(self, model: Any, name: str, logits: bool = True) -> None:
        self._model = model
        self._name = name
        self._logits = logits

    @property
    def name(self) -> str:
        return self._name

    @property
    def token_limit(self) -> int:
        """Tokens of question and text together, special tokens already taken off: read from the tokenizer."""
        return _limit(self._model.model.tokenizer, pair=True)

    def count_truncated(self, query: str, texts: Sequence[str]) -> int:
        """How many of these texts lose tokens beside this question."""
        return sum(bool(self._model.model.tokenizer.encode(query, text).overflowing) for text in texts)

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        scores = [float(score) for score in self._model.rerank(query, list(texts), batch_size=1)]
        return [sigmoid(score) for score in scores] if self._logits else scores


def embedder_entries() -> dict[str, CatalogEntry]:
    """fastembed's own list of text embedders, by name; folders opened in this process are no part of it."""
    from fastembed import TextEmbedding

    return _entries("embedder", TextEmbedding)


def reranker_entries() -> dict[str, CatalogEntry]:
    """fastembed's own list of cross-encoders, by name."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return _entries("reranker", TextCrossEncoder)


def open_embedder(entry: CatalogEntry, cache: Path, threads: int, folder: Path | None) -> FastembedEmbedder:
    """A listed model from a folder, or from fastembed's own `cache`. ModelError if it is not there or does not load."""
    from fastembed import TextEmbedding

    model = _open(TextEmbedding, entry.name, entry.files[0], cache, threads, folder)
    name = entry.name if folder is None else f"{entry.name}@{_mark(folder, entry.files[0])}"
    embedder = FastembedEmbedder(model, name, entry.dimension, PROMPTS.get(entry.name, ("", "")))
    return _checked(embedder, (folder or cache) / entry.files[0])


def open_reranker(entry: CatalogEntry, cache: Path, threads: int, folder: Path | None) -> FastembedReranker:
    """As `open_embedder`, for a cross-encoder. fastembed lists only models that give logits."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    model = _open(TextCrossEncoder, entry.name, entry.files[0], cache, threads, folder)
    _one_score(model, entry.name)
    return FastembedReranker(model, entry.name if folder is None else f"{entry.name}@{_mark(folder, entry.files[0])}")


def open_folder_embedder(folder: Path, cache: Path, threads: int) -> FastembedEmbedder:
    """A folder with an ONNX embedder that fastembed does not list, in the layout of sentence-transformers.

    Pooling is read from 1_Pooling/config.json, what to write before a query and a passage from
    config_sentence_transformers.json, if that is there.
    """
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    model_file = _model_file(folder)
    pooling_file = folder / "1_Pooling" / "config.json"
    try:
        pooling = json.loads(pooling_file.read_text("utf-8"))
        dimension = int(pooling["word_embedding_dimension"])
        kind = PoolingType.CLS if pooling.get("pooling_mode_cls_token") else PoolingType.MEAN
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ModelError(
            f"{folder} is no model that fastembed lists, and {pooling_file} does not say how to pool its tokens"
        ) from None
    prompts = _folder_prompts(folder / "config_sentence_transformers.json")
    name = f"{folder.name}@{_mark(folder, model_file, pooling_file.read_text('utf-8'), *prompts)}"
    if all(name != row["model"] for row in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=kind,
            normalization=True,
            sources=ModelSource(url="local"),
            dim=dimension,
            model_file=model_file,
        )
    embedder = FastembedEmbedder(
        _open(TextEmbedding, name, model_file, cache, threads, folder), name, dimension, prompts
    )
    return _checked(embedder, folder / model_file)


def open_folder_reranker(folder: Path, cache: Path, threads: int) -> FastembedReranker:
    """A folder with an ONNX cross-encoder that fastembed does not list: one score a pair, a logit or a probability."""
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    model_file = _model_file(folder)
    name = f"{folder.name}@{_mark(folder, model_file)}"
    if all(name != row["model"] for row in TextCrossEncoder.list_supported_models()):
        TextCrossEncoder.add_custom_model(model=name, sources=ModelSource(url="local"), model_file=model_file)
    model = _open(TextCrossEncoder, name, model_file, cache, threads, folder)
    _one_score(model, str(folder / model_file))
    return FastembedReranker(model, name, logits=not _ends_in_sigmoid(folder / model_file))


def local_token_limit(folder: Path) -> int:
    """The limit, special tokens included, of a model in `folder`, without loading its weights; 0 if it says none."""
    from fastembed.common.preprocessor_utils import load_tokenizer

    try:
        tokenizer, _ = load_tokenizer(folder)
        return int(tokenizer.truncation["max_length"])
    except Exception:  # fastembed and tokenizers raise what they like; a load says what is wrong
        return 0


def _entries(kind: str, registry: Any) -> dict[str, CatalogEntry]:
    return {
        str(row["model"]): from_fastembed(kind, row) for row in registry.list_supported_models() if row["sources"]["hf"]
    }


def _open(kind: Any, name: str, model_file: str, cache: Path, threads: int, folder: Path | None) -> Any:
    from loguru import logger

    logger.disable("fastembed")  # it writes to stderr, over the screen; what matters comes as an exception
    path = None if folder is None else str(folder)
    try:
        model = kind(name, cache_dir=str(cache), threads=threads, local_files_only=True, specific_model_path=path)
    except Exception as error:  # fastembed, its hub client and onnxruntime raise what they like
        reason = _first_line(error)
        if folder is not None:
            raise ModelError(f"the model in {folder} does not load: {_culprit(folder, model_file)}: {reason}") from None
        raise ModelError(
            f"{name} is not on this machine, or does not load (looked in {cache}): "
            f"`glassbox-tui models pull {name}` fetches it, or name a local folder instead [{reason}]"
        ) from None
    model.model.tokenizer.encode_special_tokens = True  # a note that spells [SEP] has brackets and letters, no token
    return model


def _culprit(folder: Path, model_file: str) -> Path:
    """The file that keeps a folder from loading: the first that is missing or unreadable, else the weights."""
    from tokenizers import Tokenizer

    if not (folder / model_file).is_file():
        return folder / model_file
    for name in ("config.json", "tokenizer_config.json", "special_tokens_map.json"):
        path = folder / name
        try:
            if path.exists() or name == "tokenizer_config.json":
                json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            return path
    try:
        Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception:  # tokenizers raises bare Exceptions
        return folder / "tokenizer.json"
    return folder / model_file


def _checked(embedder: FastembedEmbedder, model_file: Path) -> FastembedEmbedder:
    """The embedder, once it has run and given vectors of its dimension."""
    try:
        found = embedder.embed_query("a").shape
    except Exception as error:  # onnxruntime raises Exceptions of its own
        raise ModelError(f"{model_file} does not run: {_first_line(error)}") from None
    if found != (embedder.dimension,):
        raise ModelError(f"{model_file} gives vectors of {found[-1]} numbers where {embedder.dimension} were announced")
    return embedder


def _one_score(model: Any, where: str) -> None:
    shape = model.model.model.get_outputs()[0].shape
    if len(shape) != 2 or (shape[1] not in (1, None) and not isinstance(shape[1], str)):
        raise ModelError(f"{where} is no reranker: it gives {shape} where one score a pair is needed")


def _ends_in_sigmoid(path: Path) -> bool:
    """Whether the graph's first output is a sigmoid's, but for changes of shape and type."""
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    maker = {output: node for node in graph.node for output in node.output}
    node = maker.get(graph.output[0].name)
    while node is not None and node.op_type in _PASSES_THROUGH:
        node = maker.get(node.input[0])
    return node is not None and node.op_type == "Sigmoid"


def _folder_prompts(path: Path) -> tuple[str, str]:
    """What sentence-transformers writes before a query and a passage; nothing if the file is not there."""
    try:
        prompts = json.loads(path.read_text("utf-8")).get("prompts") or {}
        return str(prompts.get("query") or ""), str(prompts.get("document") or prompts.get("passage") or "")
    except FileNotFoundError:
        return "", ""
    except (OSError, ValueError, AttributeError):
        raise ModelError(f"{path} cannot be read: mend it or take it away") from None


def _model_file(folder: Path) -> str:
    for name in _MODEL_FILES:
        if (folder / name).is_file():
            return name
    raise ModelError(f"{folder} holds no model.onnx")


def _mark(folder: Path, model_file: str, *more: str) -> str:
    """Tells one folder's weights from another's without reading all of them: size, first and last MiB."""
    path = folder / model_file
    digest = hashlib.blake2b("\0".join(more).encode(), digest_size=4)
    # Weights of more than 2 GB lie beside the graph.
    for part in (path, path.with_name(f"{path.name}_data"), path.with_name(f"{path.name}.data")):
        if not part.is_file():
            continue
        size = part.stat().st_size
        digest.update(str(size).encode())
        with part.open("rb") as stream:
            digest.update(stream.read(_SAMPLE_BYTES))
            stream.seek(max(0, size - _SAMPLE_BYTES))
            digest.update(stream.read())
    return digest.hexdigest()


def _limit(tokenizer: Any, pair: bool) -> int:
    truncation = tokenizer.truncation or {}
    return max(0, int(truncation.get("max_length", 0)) - int(tokenizer.num_special_tokens_to_add(pair)))


def _pieces(tokenizer: Any, text: str) -> list[list[int]]:
    """Token ids of `text`, padding and special tokens left out, in pieces of the limit's length."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return [
        [token for token, real in zip(piece.ids, piece.attention_mask, strict=True) if real]
        for piece in (encoding, *encoding.overflowing)
    ]


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _unit(vector: Any) -> Vector:
    values = np.asarray(vector, dtype=np.float64)
    out: Vector = (values / max(float(np.sqrt(values @ values)), 1e-12)).astype(np.float32)
    return out
