"""Bytes to text, with the encoding decided explicitly and never by the locale."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    encoding: str
    warnings: tuple[str, ...]
    binary: str | None = None


def decode(data: bytes) -> Decoded:
    for bom, name in _BOMS:
        if data.startswith(bom):
            return clean(data[len(bom) :].decode(name, "replace"), name)
    for name in ("utf-8", "gb18030", "cp1252"):
        try:
            return clean(data.decode(name), name)
        except UnicodeDecodeError:
            continue
    return clean(data.decode("utf-8", "replace"), "utf-8")


def clean(text: str, encoding: str) -> Decoded:
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), encoding, ())
