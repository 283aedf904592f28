"""What the header of a GGUF file says, and whether the file is whole: one that ends before its last tensor was cut.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from glassbox_tui.models.errors import ModelError

# (values, bytes) of a block, by ggml's type number; a type that is not here counts as empty, which accepts the file.
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
# struct's letter for a metadata value, by type number; 8 is a string, 9 an array.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_ALIGNMENT = "general.alignment"
_LONGEST = 1 << 24  # of a string or an array: more than any real header has, and read in no time


Value = int | float | str


@dataclass(frozen=True, slots=True)
class Header:
    """`values`: metadata by key, numbers and strings only. `needed`: the least size in bytes of a whole file."""

    values: Mapping[str, Value]
    needed: int


def check(path: Path) -> None:
    """Raise ModelError, naming the file and what is wrong, unless it is a GGUF file that holds all its tensors."""
    needed, size = header(path).needed, path.stat().st_size
    if size < needed:
        raise ModelError(f"{path} is cut short: {size:,} bytes where its header needs {needed:,}; fetch it again")


def header(path: Path) -> Header:
    """The header of the file as it is now. Raises ModelError, naming the file and what is wrong."""
    try:
        found = path.stat()
        return _header_of(path, found.st_size, found.st_mtime_ns)
    except FileNotFoundError:
        raise ModelError(f"there is no model file {path}") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from None
    except (struct.error, EOFError):
        raise ModelError(f"{path} is cut short: its header ends in the middle; fetch it again") from None
    except ValueError as error:
        raise ModelError(f"{path} is no usable GGUF file: {error}") from None


@lru_cache(maxsize=8)
def _header_of(path: Path, size: int, mtime_ns: int) -> Header:
    """Reading past a vocabulary takes a tenth of a second: kept as long as the file is the same."""
    with path.open("rb") as stream:
        return _header(stream)


def _header(stream: BinaryIO) -> Header:
    if (magic := stream.read(4)) != b"GGUF":
        raise ValueError(f"it begins with {magic!r} and not with GGUF")
    version, tensors, count = _unpack(stream, "IQQ")
    if version not in (2, 3):
        raise ValueError(f"its version is {version}, known are 2 and 3")
    values: dict[str, Value] = {}
    for _ in range(count):
        key = _string(stream).decode("utf-8", "replace")
        (kind,) = _unpack(stream, "I")
        if (value := _value(stream, kind)) is not None:
            values[key] = value
    alignment = values.get(_ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0:
        alignment = 32
    last = 0
    for _ in range(tensors):
        _string(stream)
        (dimensions,) = _unpack(stream, "I")
        if dimensions > 8:
            raise ValueError(f"a tensor has {dimensions} dimensions")
        shape = _unpack(stream, "Q" * dimensions)
        kind, offset = _unpack(stream, "IQ")
        block, block_bytes = _BLOCKS.get(kind, (1, 0))
        last = max(last, offset + math.prod(shape) // block * block_bytes)
    begin = -(-stream.tell() // alignment) * alignment
    return Header(values, begin + last if tensors else stream.tell())


def _value(stream: BinaryIO, kind: int) -> Value | None:
    """Read one metadata value; None for an array, which is passed over."""
    if kind == _STRING:
        return _string(stream).decode("utf-8", "replace")
    if kind == _ARRAY:
        inner, count = _unpack(stream, "IQ")
        if count > _LONGEST:
            raise ValueError(f"an array has {count:,} members")
        if inner == _ARRAY:
            raise ValueError("an array holds arrays")
        if inner in _SCALARS:
            stream.seek(count * struct.calcsize("<" + _SCALARS[inner]), 1)
        else:
            for _ in range(count):
                _value(stream, inner)
    elif kind in _SCALARS:
        return _unpack(stream, _SCALARS[kind])[0]
    else:
        raise ValueError(f"a metadata value has the unknown type {kind}")
    return None


def _string(stream: BinaryIO) -> bytes:
    (length,) = _unpack(stream, "Q")
    if length > _LONGEST:
        raise ValueError(f"a string has {length:,} bytes")
    text = stream.read(length)
    if len(text) < length:
        raise EOFError
    return text


def _unpack(stream: BinaryIO, layout: str) -> tuple[int, ...]:
    layout = "<" + layout
    values: tuple[int, ...] = struct.unpack(layout, stream.read(struct.calcsize(layout)))
    return values
