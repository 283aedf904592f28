"""Bytes to text, with the encoding decided explicitly: the locale never has a say.

In this order: a byte order mark; strict UTF-8; else the likeliest reading among UTF-8 with errors, UTF-16 without a
mark and the legacy encodings of `charsets`; else what charset-normalizer makes of it. Text or binary: by content.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from glassbox_tui.notes.charsets import CANDIDATES, Candidate, likelihood

SAMPLE = 32_768
"""Bytes, from the first that is not plain ASCII, on which the encoding is decided."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with UTF-16's mark: tried first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "a PDF document; name it .pdf to have it read"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
    (b"\x1f\x8b\x08", "gzip-compressed data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\x00", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"BZh", "bzip2-compressed data"),
    (b"RIFF", "a sound, film or WebP picture"),
    (b"OggS", "a sound or film"),
    (b"ID3", "a sound"),
    (b"\x00\x00\x00\x01Bud1", "a folder's settings of macOS"),
    (b"bplist00", "a binary property list"),
    (b"\x00asm", "a WebAssembly program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"wOF", "a font"),
)
_NOT_ASCII = re.compile(rb"[\x80-\xff\x00]")
_NULS_IN_ASCII = re.compile(rb"[\x00\b-\r\x1b -~]*")
_CONTROLS = re.compile(r"[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f]")
# Of all characters, those that no text holds. Bytes that are UTF-8 by accident are rare, those that are cp1252 are not.
_MOST_CONTROLS = 0.03  # in a text of a hundred characters or more
_MOST_ODD_IN_UTF_8, _MOST_ODD = 1 / 4, 1 / 12
_UNPAIRED = re.compile(r"[\ud800-\udfff]")
_NEIGHBOURS = re.compile(r"(?<=[^\x00-\x7f])[^\x00-\x7f]")
_ISO_2022_JP = re.compile(rb"\x1b\$[@B][\x21-\x7e\s]+?\x1b\([BJ]")

# What charset-normalizer may choose among: alphabets that no candidate of ours covers.
_OTHERS = ("cp1251", "koi8_r", "cp866", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp874", "cp1258")

# Bytes that charset-normalizer gets to see; it is slow on what is no text.
_DETECT = 8_192
# Bytes outside ASCII without which charset-normalizer would guess at random.
_ENOUGH = 24
# Nats between the best two readings below which the note is marked as a guess.
_SURE = 2.0


@dataclass(frozen=True, slots=True)
class Decoded:
    """`encoding` is the codec's name; `binary` says what the bytes are when they are no text (then `text` is empty)."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()
    binary: str = ""


def decode(data: bytes) -> Decoded:
    """Read a text file's bytes. Bytes or characters that cannot be kept become U+FFFD, with a warning."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _finish(data[len(mark) :], name)
    if b"\x00" not in data:
        if _ISO_2022_JP.search(data) and (text := _strict(data, "iso2022_jp")) is not None:
            return Decoded(newlines(text), "iso2022_jp")
        if _strict(data, "utf-8") is not None:
            return _finish(data, "utf-8")
        if (text := _strict(data, "utf-8", "surrogatepass")) is not None:
            return _repaired(newlines(text), "utf-8")
    if magic := next((what for start, what in _MAGIC if data.startswith(start)), ""):
        return Decoded("", "", binary=f"not text but {magic}")
    if data[4:8] == b"ftyp":
        return Decoded("", "", binary="not text but a film, a sound or a HEIC picture")
    return _guess(data)


def _guess(data: bytes) -> Decoded:
    """The likeliest reading; where none is plausible, charset-normalizer's, and then no text at all."""
    scores = sorted((_score(data, candidate) for candidate in CANDIDATES), key=lambda score: -score[0])
    # Any even number of bytes is UTF-16 of some kind: it must look like a language, and one stray NUL must not turn
    # pairs of ASCII letters into Chinese.
    stray = _NULS_IN_ASCII.fullmatch(data) is not None and data.count(0) < len(data) / 5
    scores = [s for s in scores if not s[2].codecs[0].startswith("utf-16") or (s[1] >= s[2].plausible and not stray)]
    (best, average, chosen), (second, _, other) = scores[0], scores[1]
    codec = _codec(data, chosen)
    odd = average < chosen.plausible or (chosen.accents and _strict(data, codec) is None)
    if odd and len(_NOT_ASCII.findall(_sample(data, ""))) >= _ENOUGH:
        if (named := _charset_normalizer(data)) is not None:
            return _finish(data, named, f"encoding is a guess: {named}")
        if average < chosen.plausible:
            return Decoded("", "", binary="not text in any encoding known here")
    doubtful = best - second < _SURE and data.decode(codec, "replace") != data.decode(other.codecs[-1], "replace")
    return _finish(data, codec, f"encoding is a guess: {codec}, or {other.codecs[0]}" if doubtful else "")


def _score(data: bytes, candidate: Candidate) -> tuple[float, float, Candidate]:
    """Log-likelihood of the sample, and its average over the characters outside ASCII."""
    codec = candidate.codecs[-1]
    text = _sample(data, codec).decode(codec, "replace")
    neighbours = len(_NEIGHBOURS.findall(text)) if candidate.accents else 0
    return *likelihood(Counter(text), neighbours, candidate), candidate


def _sample(data: bytes, codec: str) -> bytes:
    """From the line that holds the first byte outside ASCII: a multi-byte reading must begin on a character."""
    first = _NOT_ASCII.search(data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    if codec.startswith("utf-16"):
        start -= start % 2
    return data[start : start + SAMPLE]


def _codec(data: bytes, candidate: Candidate) -> str:
    """The strictest of the candidate's codecs that reads all of it, else the widest."""
    return next((codec for codec in candidate.codecs if _strict(data, codec) is not None), candidate.codecs[-1])


def _charset_normalizer(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(_sample(data, "")[:_DETECT], cp_isolation=list(_OTHERS)).best()
    return best.encoding if best is not None and _strict(data, best.encoding) is not None else None


def _strict(data: bytes, codec: str, errors: str = "strict") -> str | None:
    try:
        return data.decode(codec, errors)
    except UnicodeDecodeError:
        return None


def _finish(body: bytes, codec: str, doubt: str = "") -> Decoded:
    """Decode, then decide by what came out whether it is text at all."""
    text = body.decode(codec, "replace")
    controls = len(_CONTROLS.findall(text))
    if controls > max(3, _MOST_CONTROLS * len(text)) or _odd(text, body, codec):
        return Decoded("", "", binary="not text: it is full of control bytes or codes that stand for nothing")
    broken = text.count("\ufffd") if _strict(body, codec) is None else 0
    warnings = [doubt] if doubt else []
    if broken:
        warnings.append(f"{_count(broken, 'byte sequence')} not valid {codec} and replaced")
    return _repaired(newlines(text.removeprefix("\ufeff")), codec, *warnings)


def _odd(text: str, body: bytes, codec: str) -> bool:
    """Whether too much of a reading is no text: `00 01 ff fe` is four characters of cp1252, and two are none."""
    sample = text[:SAMPLE]
    if codec == "utf-8" and _strict(body, codec) is not None:
        return bool(sample) and len(_CONTROLS.findall(sample)) >= _MOST_ODD_IN_UTF_8 * len(sample)
    odd = sum(count for char, count in Counter(sample).items() if char == "\ufffd" or _stands_for_nothing(char))
    return odd > _MOST_ODD * len(sample)


def _stands_for_nothing(char: str) -> bool:
    """A control character, half a pair, a private or an unassigned code."""
    return _CONTROLS.match(char) is not None or unicodedata.category(char) in {"Cn", "Co", "Cs"}


def _repaired(text: str, codec: str, *warnings: str) -> Decoded:
    text, repairs = repair(text)
    return Decoded(text, codec, (*warnings, *repairs))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


def newlines(text: str) -> str:
    """CRLF and CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def repair(text: str) -> tuple[str, tuple[str, ...]]:
    """Text that UTF-8, SQLite and JSON can hold: NULs and unpaired surrogates become U+FFFD, each with a warning."""
    warnings: list[str] = []
    if _UNPAIRED.search(text):
        # Two halves of a pair are one character; what is left over stands alone.
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        lone = joined.count("\ufffd") - text.count("\ufffd")
        warnings += [f"{_count(lone, 'unpaired surrogate')} replaced"] if lone else []
        text = joined
    if nuls := text.count("\x00"):
        text = text.replace("\x00", "\ufffd")
        warnings.append(f"{_count(nuls, 'NUL character')} replaced")
    return text, tuple(warnings)
