"""A cut or foreign GGUF file names itself. Whole files are written by the gguf package, llama.cpp's own writer."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest

from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.gguf import check


@pytest.fixture(params=[0, 32], ids=["", "moved by half an alignment"])
def whole(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Every kind of metadata, a plain tensor, and a quantised one at the end."""
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(64)
    writer.add_block_count(2)
    writer.add_name("small 模型" + "x" * request.param)
    writer.add_layer_norm_eps(1e-5)
    writer.add_bool("a.flag", True)
    writer.add_float64("a.double", 0.5)
    writer.add_token_list(["<s>", "</s>", "word"])
    writer.add_array("some.numbers", [1, 2, 3])
    writer.add_tensor("plain", np.ones((3, 5), np.float32))
    blocks = gguf.quants.quantize(
        np.linspace(-1, 1, 4 * 64, dtype=np.float32).reshape(4, 64), gguf.GGMLQuantizationType.Q4_0
    )
    writer.add_tensor("blocks", blocks, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_whole_file_passes(whole: Path) -> None:
    assert len(gguf.GGUFReader(whole).tensors) == 2
    check(whole)


def test_a_cut_file_names_itself_wherever_it_was_cut(whole: Path) -> None:
    body = whole.read_bytes()
    # The writer fills the last tensor up to the alignment: the file is whole without that filling.
    last = gguf.GGUFReader(whole).tensors[-1]
    end = int(last.data_offset) + int(last.n_bytes)
    for length in (*range(4, end, 7), end - 1):
        whole.write_bytes(body[:length])
        with pytest.raises(ModelError, match="cut short") as caught:
            check(whole)
        assert str(whole) in str(caught.value)
    whole.write_bytes(body[:end])
    check(whole)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "begins with b''"),
        (b"<html>404 not found</html>", "not with GGUF"),
        (b"GGUF\x01\0\0\0" + bytes(16), "version is 1"),
        (b"GGUF\0\0\0\x03" + bytes(16), "version is 50331648"),  # big-endian
        (b"GGUF\x03\0\0\0" + bytes(8) + b"\x01" + bytes(7) + b"\xff" * 8, "string has"),
        (b"GGUF\x03\0\0\0" + bytes(8) + b"\x01" + bytes(7) + bytes(8) + b"\x63\0\0\0", "unknown type 99"),
    ],
)
def test_what_is_no_gguf_file_says_so(tmp_path: Path, body: bytes, told: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(body)
    with pytest.raises(ModelError) as caught:
        check(path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no model file"):
        check(tmp_path / "x.gguf")
    with pytest.raises(ModelError, match="cannot be read"):
        check(tmp_path)
