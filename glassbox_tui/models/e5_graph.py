"""The network of multilingual-e5-small as an ONNX graph: input_ids (1, n) -> last_hidden_state (1, n, hidden).

BERT, post-layer-norm, erf GELU, absolute positions from 0, token type 0, no mask: one text at a time. Operators are the
fused ones of onnxruntime's com.microsoft domain. How numbers are stored is decided here and named by QUANTISATION:

- the embedding table keeps its 4-bit blocks (GatherBlockQuantized);
- matrices become int8, one scale for each output, in the range -63 .. 63 (DynamicQuantizeMatMul). With 7 bits the sum
  of two products of an unsigned and a signed byte fits 16 bits, so CPUs without VNNI (AVX2, AVX-512F) do not saturate;
- the second matrix of each feed-forward part keeps its 4-bit blocks (MatMulNBits): what comes out of GELU has outliers,
  which cost one scale for the whole text most of its precision, and one scale for each 32 values nothing;
- before the int8 matrices that read a layer norm, columns with large inputs hand some of their size to the weights
  (SmoothQuant, Xiao et al. 2023, strength 0.8); the norm's own parameters say which, so no data is needed;
- the text's own numbers are quantised as they come: which is why a text never shares a batch.

Measured on 2 AVX2 hyper-threads without VNNI: best of 14 for a passage of 360 tokens and a query of 12; cosine to
float32 over 296 passages; questions out of 150 (CMRC trial, 256 passages) whose passage came first, by vector and by
late interaction over the first 30:

                      passage   query    cosine mean, least   vector   late interaction   file
    float32 matrices  121 ms    7.7 ms   1                    141      146                about 140 MB
    4-bit             142 ms    6.6 ms   .99996   .9999       142      146                 74 MB
    int8               85 ms    5.5 ms   .9972    .9934       143      145                 82 MB
    int8 and 4-bit    102 ms    6.1 ms   .9993    .9989       142      146                 80 MB

Smoothing came after these; it adds about 2 ms and brings the last line to .9994 (least .9992) over 34 passages. Against
the wheel's own engine: .9993 (least .9989), where float32 has .9999.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.models.e5_file import BLOCK, E5File

QUANTISATION = "q8q4s"  # part of the embedder's name: vectors of two quantisations never mix

_INT8_MAX = 63
_SMOOTHING = 0.8
_MICROSOFT = "com.microsoft"
# Rows of the embedding table repacked at a time.
_TABLE_ROWS = 16384


def build(file: E5File, layer_done: Callable[[int], None]) -> Any:
    """The onnx.ModelProto. Memory: the graph's 80 MB and one matrix at a time. `layer_done` hears of each layer."""
    from onnx import TensorProto, helper

    shape = file.shape
    graph = _Graph(file)
    hidden = _embeddings(graph)
    for layer in range(shape.layers):
        hidden = _layer(
            graph, hidden, f"l{layer - 1}.oln" if layer else "emb.ln", f"l{layer}.", last=layer == shape.layers - 1
        )
        layer_done(layer + 1)
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])]
    outputs = [helper.make_tensor_value_info(hidden, TensorProto.FLOAT, [1, "tokens", shape.hidden])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "multilingual-e5-small", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)],
        producer_name="glassbox-tui",
    )
    model.ir_version = 9
    return model


@dataclass(slots=True)
class _Graph:
    file: E5File
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, op: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(op, inputs, [output], domain=domain, **attributes))
        return output

    def floats(self, name: str) -> str:
        return self.constant(name, self.file.floats(name))

    def linear4(self, source: str, name: str, rows: int, columns: int, output: str) -> str:
        """As `linear8`, with the file's own 4-bit blocks."""
        nibbles, scales = self.file.blocks(f"{name}.w")
        inputs = [
            source,
            self.constant(f"{name}.w", _pairs(nibbles).reshape(rows, columns // BLOCK, BLOCK // 2)),
            self.constant(f"{name}.scale", scales),
            "",  # zero points: 8, the default
            "",
            self.floats(f"{name}.b"),
        ]
        attributes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
        return self.node("MatMulNBits", inputs, output, _MICROSOFT, **attributes)

    def linear8(
        self, source: str, name: str, rows: int, columns: int, output: str, gain: NDArray[np.float32] | None = None
    ) -> str:
        """output = source @ W.T + b for the tensors {name}.w (rows, columns) and {name}.b (rows,).

        `gain` (columns,): what `source` was divided by, made good in the weights.
        """
        weights = self.file.matrix(f"{name}.w", rows, columns)
        if gain is not None:
            weights = weights * gain
        scales = np.maximum(np.abs(weights).max(axis=1), np.finfo(np.float32).tiny) / _INT8_MAX
        whole = np.rint(weights / scales[:, None]).astype(np.int8)
        inputs = [
            source,
            self.constant(f"{name}.w", whole.T),
            self.constant(f"{name}.scale", scales.astype(np.float32)),
            self.constant(f"{name}.zero", np.zeros(rows, np.int8)),
            self.floats(f"{name}.b"),
        ]
        return self.node("DynamicQuantizeMatMul", inputs, output, _MICROSOFT)

    def smooth(self, source: str, norm: str, names: Sequence[str], rows: int, output: str) -> NDArray[np.float32]:
        """output = source / gain, for the matrices `names` that read what the norm gave. Returns the gain (hidden,)."""
        inputs = np.abs(self.file.floats(f"{norm}.b")) + np.abs(self.file.floats(f"{norm}.w"))
        sizes = [np.abs(self.file.matrix(f"{name}.w", rows, len(inputs))).max(axis=0) for name in names]
        log_gain = _SMOOTHING * np.log(inputs) - (1 - _SMOOTHING) * np.log(np.max(sizes, axis=0))
        gain: NDArray[np.float32] = np.exp(log_gain - log_gain.mean()).astype(np.float32)
        self.node("Mul", [source, self.constant(f"{output}.inverse", 1 / gain)], output)
        return gain

    def add_and_norm(self, source: str, residual: str, name: str, output: str) -> str:
        inputs = [source, residual, self.floats(f"{name}.w"), self.floats(f"{name}.b")]
        return self.node("SkipLayerNormalization", inputs, output, _MICROSOFT, epsilon=self.file.shape.epsilon)


def _embeddings(graph: _Graph) -> str:
    """Word + position + type 0, then layer norm."""
    file, shape = graph.file, graph.file.shape
    per_row = shape.hidden // BLOCK
    packed = np.empty((shape.vocabulary, shape.hidden // 2), np.uint8)
    scales = np.empty((shape.vocabulary, per_row), np.float32)
    for start in range(0, shape.vocabulary, _TABLE_ROWS):
        rows = min(_TABLE_ROWS, shape.vocabulary - start)
        nibbles, scale = file.blocks("emb.word", start * per_row, rows * per_row)
        packed[start : start + rows] = _pairs(nibbles).reshape(rows, shape.hidden // 2)
        scales[start : start + rows] = scale.reshape(rows, per_row)
    words = graph.node(
        "GatherBlockQuantized",
        [graph.constant("emb.word", packed), "input_ids", graph.constant("emb.word.scale", scales)],
        "words",
        _MICROSOFT,
        bits=4,
        block_size=BLOCK,
        gather_axis=0,
        quantize_axis=1,
    )
    del packed, scales
    # Token type 0 everywhere: its row is added to every position once and for all.
    places = file.floats("emb.pos").reshape(shape.positions, shape.hidden)
    places = places + file.floats("emb.type").reshape(shape.types, shape.hidden)[0]
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    zero = graph.constant("zero", np.zeros(1, np.int64))
    place = graph.node("Slice", [graph.constant("emb.pos", places), zero, "length", zero], "places")
    total = graph.node("Add", [words, place], "summed")
    norm = [total, graph.floats("emb.ln.w"), graph.floats("emb.ln.b")]
    return graph.node("LayerNormalization", norm, "embedded", axis=-1, epsilon=shape.epsilon)


def _layer(graph: _Graph, source: str, norm: str, prefix: str, last: bool) -> str:
    """`norm`: the layer norm that `source` comes from."""
    shape = graph.file.shape
    hidden, ffn = shape.hidden, shape.ffn
    even = f"{prefix}even"
    gain = graph.smooth(source, norm, [f"{prefix}{part}" for part in "qkv"], hidden, even)
    qkv = [graph.linear8(even, f"{prefix}{part}", hidden, hidden, f"{prefix}{part}", gain) for part in "qkv"]
    context = graph.node("MultiHeadAttention", qkv, f"{prefix}context", _MICROSOFT, num_heads=shape.heads)
    attended = graph.linear8(context, f"{prefix}ao", hidden, hidden, f"{prefix}attended")
    middle = graph.add_and_norm(attended, source, f"{prefix}aln", f"{prefix}middle")
    even = f"{prefix}even2"
    gain = graph.smooth(middle, f"{prefix}aln", [f"{prefix}fi"], ffn, even)
    inner = graph.linear8(even, f"{prefix}fi", ffn, hidden, f"{prefix}inner", gain)
    active = graph.node("Gelu", [inner], f"{prefix}active", _MICROSOFT)
    outer = graph.linear4(active, f"{prefix}fo", hidden, ffn, f"{prefix}outer")
    return graph.add_and_norm(outer, middle, f"{prefix}oln", "last_hidden_state" if last else f"{prefix}out")


def _pairs(nibbles: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(n, 32) -> (n, 16): two neighbours to a byte, the first in the low half, as onnxruntime wants them."""
    pairs: NDArray[np.uint8] = nibbles[:, 0::2] + 16 * nibbles[:, 1::2]
    return pairs
