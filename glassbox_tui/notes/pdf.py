"""PDF text through pypdf, in a child process with limits: a malformed PDF may hang or eat all memory.

This file is both sides. The parent calls `extract`; the child is this very file run as a script, so that it imports
nothing but pypdf, and with `-P`, so that no file beside it or in the current folder can stand in for a library.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

# Presentation forms of Latin ligatures, and Kangxi radicals, which Chinese PDFs use in place of the characters.
_FOLDED = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_RADICALS = re.compile("[\u2f00-\u2fd5]")
# A word cut at a line's end, between two lower-case pieces of two letters or more.
_CUT = re.compile(r"(?<=[a-zà-ÿ]{2})[-\u2010\u00ad]\n(?=[a-zà-ÿ]{2})")

_START_UP = 5.0  # seconds a child may take before its first page
_MIN_COLUMN_ROWS = 4
_ADVANCE = 6.0  # points a byte of text is taken to fill; wide enough not to see gutters between words
_GUTTER = 12.0  # points


@dataclass(frozen=True, slots=True)
class PdfText:
    """Each page's text as pypdf gave it, or the status that says why there is none."""

    pages: tuple[str, ...]
    title: str
    status: str
    reason: str
    warnings: tuple[str, ...]


class _Segment(NamedTuple):
    """A piece of one line as a page shows it, in points: where it starts, its bytes, where it about ends."""

    x: float
    y: float
    length: int
    end: float


def extract(path: Path, *, seconds: float, memory: int, chars: int) -> PdfText:
    """Read a PDF in a child process that may take `seconds`, `memory` bytes, and give `chars` characters.

    A PDF that runs out of time yields the pages that were ready, with a warning. macOS has no memory limit to set.
    Status: 'ok', 'no-text', 'encrypted', 'damaged', 'too-slow', 'too-large', 'unreadable'.
    """
    command = [sys.executable, "-P", "-X", "utf8", __file__, os.fspath(path), str(seconds), str(memory), str(chars)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds + _START_UP)
    except subprocess.TimeoutExpired:
        return _failed("too-slow", f"reading it took longer than {seconds:g} seconds")
    except OSError as error:
        return _failed("unreadable", f"the PDF reader could not be started: {error.strerror or error}")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return _died(done.returncode, seconds, memory)
    return PdfText(
        pages=tuple(answer["pages"]),
        title=answer["title"],
        status=answer["status"],
        reason=answer["reason"],
        warnings=tuple(answer["warnings"]),
    )


def tidy(page: str) -> str:
    """Ligatures folded, Kangxi radicals made characters, words cut at a line's end joined, no trailing blanks."""
    page = page.translate(_FOLDED)
    if _RADICALS.search(page):
        import unicodedata

        page = _RADICALS.sub(lambda radical: unicodedata.normalize("NFKC", radical[0]), page)
    page = "\n".join(line.rstrip(" \t") for line in page.split("\n"))
    return _CUT.sub(_rejoin, page).strip("\n ")


def _rejoin(cut: re.Match[str]) -> str:
    """Nothing; but within a compound (state-of-, the-art) the hyphen stays and only the break goes."""
    before = re.search(r"[\w-]*\Z", cut.string[max(0, cut.start() - 40) : cut.start()])
    after = re.match(r"[\w-]*", cut.string[cut.end() : cut.end() + 40])
    return "-" if "-" in f"{before and before[0]}{after and after[0]}" else ""


def _failed(status: str, reason: str) -> PdfText:
    return PdfText((), "", status, reason, ())


def _died(code: int, seconds: float, memory: int) -> PdfText:
    """The child ended without an answer: killed by its CPU limit, by the kernel for memory, or by a crash."""
    if code == -getattr(signal, "SIGXCPU", 0):
        return _failed("too-slow", f"reading it took longer than {seconds:g} seconds")
    if code in (-9, -6):
        return _failed("too-large", f"reading it needed more than {memory // 1_000_000} MB of memory")
    return _failed("damaged", f"the PDF reader stopped on it (exit code {code})")


# ------------------------------------------------------------------------------------------------- the child


class _OutOfTime(BaseException):
    """Not an Exception: pypdf, which catches those, must not swallow it."""


def main(arguments: list[str]) -> None:
    """Read the PDF and write one JSON object to the standard output; pypdf's own words go nowhere."""
    path, seconds, memory, chars = arguments[0], float(arguments[1]), int(arguments[2]), int(arguments[3])
    answer_to = os.dup(1)
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    _limit(seconds, memory)
    try:
        answer = _read(path, seconds, chars)
    except _OutOfTime:
        answer = _answer("too-slow", f"reading it took longer than {seconds:g} seconds")
    except MemoryError:
        answer = _answer("too-large", f"reading it needs more than {memory // 1_000_000} MB of memory")
    except RecursionError:
        answer = _answer("damaged", "its structure refers to itself")
    except Exception as error:
        answer = _answer("damaged", f"not a PDF that can be read ({_short(error)})")
    with os.fdopen(answer_to, "w", encoding="ascii") as out:
        json.dump(answer, out)


def _out_of_time(*_: object) -> None:
    raise _OutOfTime


def _start_clock(seconds: float) -> None:
    """From now on, `_OutOfTime` is raised after `seconds`. Windows has no such clock: there the parent ends it all."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _out_of_time)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _stop_clock() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit(seconds: float, memory: int) -> None:
    """The kernel's limits, where there are such: they hold even when the parent is gone."""
    try:
        import resource
    except ImportError:  # Windows
        return
    cpu = int(seconds) + int(_START_UP)
    for what, amount in ((resource.RLIMIT_CPU, cpu), (resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        try:
            hard = resource.getrlimit(what)[1]
            resource.setrlimit(what, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))
        except (OSError, ValueError):  # macOS refuses RLIMIT_AS
            continue


def _answer(status: str, reason: str, pages: Any = (), title: str = "", warnings: Any = ()) -> dict[str, Any]:
    return {"status": status, "reason": reason, "pages": list(pages), "title": title, "warnings": list(warnings)}


def _read(path: str, seconds: float, chars: int) -> dict[str, Any]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    _start_clock(seconds)
    reader = PdfReader(path, strict=False)
    if reader.is_encrypted:
        try:
            if not reader.decrypt(""):
                return _answer("encrypted", "needs a password; the empty one was tried")
        except (DependencyError, NotImplementedError) as error:
            return _answer("encrypted", f"its kind of encryption cannot be read here ({_short(error)})")
    total = len(reader.pages)
    title = _title(reader)
    pages: list[str] = []
    mixed: list[int] = []
    failed: dict[int, str] = {}
    try:
        for number in range(1, total + 1):
            text, interleaved = "", False
            try:
                text, interleaved = _page_text(reader.pages[number - 1])
            except (MemoryError, RecursionError):
                raise
            except Exception as error:
                failed[number] = _short(error)
            pages.append(text)
            mixed += [number] if interleaved else []
            chars -= len(text)
            if chars < 0:
                return _answer("too-large", "holds more text than is taken from one file")
        _stop_clock()
    except _OutOfTime:
        if not any(text.strip() for text in pages):
            raise
    return _judge(pages, total, title, failed, mixed, seconds)


def _judge(
    pages: list[str], total: int, title: str, failed: dict[int, str], mixed: list[int], seconds: float
) -> dict[str, Any]:
    """What the pages read so far make of the file. `failed` and `mixed` hold page numbers, from 1."""
    blank = [number for number, text in enumerate(pages, 1) if not text.strip() and number not in failed]
    if len(blank) + len(failed) == len(pages):
        if failed:
            return _answer("damaged", f"no page can be read ({next(iter(failed.values()))})")
        return _answer("no-text", "has no text layer (a scan?)" if total else "has no pages")
    warnings = []
    if len(pages) < total:
        warnings.append(f"only pages 1 to {len(pages)} of {total} were read: {seconds:g} seconds were up")
    for numbers, what in (
        (list(failed), "cannot be read"),
        (blank, "no text layer"),
        (mixed, "columns may be mixed line by line"),
    ):
        if numbers:
            warnings.append(f"{what}: {_list_pages(numbers)}")
    return _answer("ok", "", pages, title, warnings)


def _page_text(page: PageObject) -> tuple[str, bool]:
    """A page's text in the order it was written in, and whether two columns look interleaved in it.

    Interleaved: rows (same baseline) that hold a piece on the left and a piece on the right of one gutter, written
    left, right, left, right down the page. A PDF that writes column after column never does so.
    """
    segments: list[_Segment] = []

    def visit(operator: bytes, operands: Any, cm: Any, tm: Any) -> None:
        if operator not in (b"Tj", b"TJ", b"'", b'"'):
            return
        x, y = tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        shown = operands[-1] if operands else ()
        parts = shown if operator == b"TJ" else [shown]
        length = sum(len(part) for part in parts if isinstance(part, str | bytes))
        last = segments[-1] if segments else None
        if last is not None and abs(y - last.y) < 2 and last.x <= x < last.end + _GUTTER:
            segments[-1] = last._replace(length=last.length + length, end=x + length * _ADVANCE)
        else:
            segments.append(_Segment(x, y, length, x + length * _ADVANCE))

    text = page.extract_text(visitor_operand_before=visit)
    # Pieces shorter than a column's line are a table's cells. One gutter: all right-hand pieces start at one place.
    gutters = Counter(
        round(right.x / 10)
        for left, right in pairwise(segments)
        if abs(left.y - right.y) < 2 and right.x >= left.end + _GUTTER and min(left.length, right.length) > 10
    )
    return text, max(gutters.values(), default=0) >= _MIN_COLUMN_ROWS


def _title(reader: PdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except Exception:
        return ""
    return title if isinstance(title, str) else ""


def _list_pages(numbers: list[int]) -> str:
    """In words: `page 3`, `pages 1, 4 and 9`, `12 pages, the first is 4`."""
    if len(numbers) == 1:
        return f"page {numbers[0]}"
    if len(numbers) <= 6:
        return f"pages {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    return f"{len(numbers)} pages, the first is {numbers[0]}"


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


if __name__ == "__main__":
    main(sys.argv[1:])
