"""Small real models, made here with onnx and tokenizers: fastembed loads them as it loads any other.

What they compute is simple enough to be computed again by hand; see each builder.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = ("the", "ferry", "leaves", "at", "noon", "harbour", "storm", "bread", "轮", "渡", "中", "午")
LIMIT = 16


def token_id(word: str) -> int:
    return (*SPECIAL, *WORDS).index(word)


def table(dimension: int) -> NDArray[np.float32]:
    """(tokens, dimension): the embedder's weights."""
    return np.random.default_rng(7).normal(size=(len(SPECIAL) + len(WORDS), dimension)).astype(np.float32)


def write_embedder(folder: Path, dimension: int, model_file: str = "model.onnx", limit: int = LIMIT) -> Path:
    """States = each token's row of `table` plus the mean row of all tokens, [CLS] and [SEP] included."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("ReduceMean", ["rows", "axis"], ["mean"], keepdims=1),
        helper.make_node("Add", ["rows", "mean"], ["last_hidden_state"]),
    ]
    _write_graph(
        folder / model_file,
        nodes,
        ["input_ids", "attention_mask"],
        ("last_hidden_state", ["batch", "tokens", dimension]),
        {"table": table(dimension), "axis": np.array([1], np.int64)},
    )
    write_tokenizer(folder, limit)
    return folder


def write_reranker(
    folder: Path, model_file: str = "model.onnx", limit: int = LIMIT, sigmoid: bool = False, scores: int = 1
) -> Path:
    """Logit = 2 x (pairs of equal words, one of the question and one of the text) - 3; [CLS] and [SEP] do not count."""
    size = len(SPECIAL) + len(WORDS)
    one_hot = np.eye(size, dtype=np.float32)
    one_hot[: len(SPECIAL)] = 0.0
    nodes = [
        helper.make_node("Gather", ["one_hot", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["second", "last"], ["in_text"]),
        helper.make_node("Sub", ["one", "in_text"], ["in_question"]),
        helper.make_node("Mul", ["rows", "in_text"], ["text_rows"]),
        helper.make_node("Mul", ["rows", "in_question"], ["question_rows"]),
        helper.make_node("ReduceSum", ["text_rows", "middle"], ["text"], keepdims=0),
        helper.make_node("ReduceSum", ["question_rows", "middle"], ["question"], keepdims=0),
        helper.make_node("Mul", ["text", "question"], ["both"]),
        helper.make_node("ReduceSum", ["both", "middle"], ["pairs"], keepdims=1),
        helper.make_node("Mul", ["pairs", "two"], ["doubled"]),
        helper.make_node("Sub", ["doubled", "three"], ["raw"]),
        helper.make_node("Sigmoid" if sigmoid else "Identity", ["raw"], ["score"]),
        helper.make_node("Concat", ["score"] * scores, ["logits"], axis=1),
    ]
    if scores == 1:
        nodes[-1] = helper.make_node("Identity", ["score"], ["logits"])
    constants = {
        "one_hot": one_hot,
        "one": np.float32(1.0),
        "two": np.float32(2.0),
        "three": np.float32(3.0),
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
    }
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    _write_graph(folder / model_file, nodes, inputs, ("logits", ["batch", scores]), constants)
    write_tokenizer(folder, limit)
    return folder


def write_pooling(folder: Path, dimension: int, cls: bool = False) -> None:
    """What sentence-transformers says of a folder that fastembed does not list."""
    (folder / "1_Pooling").mkdir()
    pooling = {
        "word_embedding_dimension": dimension,
        "pooling_mode_cls_token": cls,
        "pooling_mode_mean_tokens": not cls,
    }
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))


def write_tokenizer(folder: Path, limit: int) -> None:
    """One token a word, [CLS] and [SEP] around texts as BERT has them, cut at `limit`."""
    vocabulary = {word: i for i, word in enumerate((*SPECIAL, *WORDS))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": limit, **named}))
    (folder / "special_tokens_map.json").write_text(json.dumps(named))


def _write_graph(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[str],
    output: tuple[str, list[str | int]],
    constants: dict[str, NDArray[np.generic] | np.generic],
) -> None:
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
