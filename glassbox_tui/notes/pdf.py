"""PDF text through pypdf, in a child process with limits: a malformed PDF may hang or eat all memory.

This file is both sides. The parent calls `extract`; the child is this very file run as a script, so that it imports
nothing but pypdf, and with `-P`, so that no file beside it or in the current folder can stand in for a library.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

# Presentation forms of Latin ligatures, and Kangxi radicals, which Chinese PDFs use in place of the characters.
_FOLDED = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_RADICALS = re.compile("[\u2f00-\u2fd5]")
# Only between two lower-case pieces of two letters or more; "follow-\nup" is joined too: a word cut by the typesetter
# is by far the more frequent.
_HYPHENATED = re.compile(r"(?<=[a-zà-ÿ]{2})[-\u2010\u00ad]\n(?=[a-zà-ÿ]{2})")

_START_UP = 10.0  # seconds a child may take before its first page
_MIN_COLUMN_ROWS = 4


@dataclass(frozen=True, slots=True)
class PdfText:
    """Each page's text as pypdf gave it, or the status that says why there is none."""

    pages: tuple[str, ...]
    title: str
    status: str
    reason: str
    warnings: tuple[str, ...]


def extract(path: Path, *, seconds: float, memory: int, chars: int) -> PdfText:
    """Read a PDF in a child process that may take `seconds`, `memory` bytes, and give `chars` characters.

    A PDF that runs out of time between two pages yields the pages before, with a warning. Status: 'ok', 'no-text',
    'encrypted', 'damaged', 'too-slow', 'too-large'.
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
    page = re.sub(r"[ \t]+\n", "\n", page)
    return _HYPHENATED.sub("", page).strip("\n ")


def _failed(status: str, reason: str) -> PdfText:
    return PdfText((), "", status, reason, ())


def _died(code: int, seconds: float, memory: int) -> PdfText:
    """The child ended without an answer: killed by its CPU limit, by the kernel for memory, or by a crash."""
    import signal

    if code == -getattr(signal, "SIGXCPU", 0):
        return _failed("too-slow", f"reading it took longer than {seconds:g} seconds")
    if code in (-9, -6):
        return _failed("too-large", f"reading it needed more than {memory // 1_000_000} MB of memory")
    return _failed("damaged", f"the PDF reader stopped on it (exit code {code})")


# ------------------------------------------------------------------------------------------------- the child


def main(arguments: list[str]) -> None:
    """Read the PDF and write one JSON object to the standard output; pypdf's own words go nowhere."""
    path, seconds, memory, chars = arguments[0], float(arguments[1]), int(arguments[2]), int(arguments[3])
    answer_to = os.dup(1)
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    _limit(seconds, memory)
    deadline = time.monotonic() + seconds
    try:
        answer = _read(path, deadline, seconds, chars)
    except MemoryError:
        answer = _answer("too-large", f"reading it needs more than {memory // 1_000_000} MB of memory")
    except RecursionError:
        answer = _answer("damaged", "its structure refers to itself")
    except Exception as error:
        answer = _answer("damaged", f"not a PDF that can be read ({_short(error)})")
    with os.fdopen(answer_to, "w", encoding="ascii") as out:
        json.dump(answer, out)


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


def _read(path: str, deadline: float, seconds: float, chars: int) -> dict[str, Any]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    reader = PdfReader(path, strict=False)
    if reader.is_encrypted:
        try:
            if not reader.decrypt(""):
                return _answer("encrypted", "needs a password; the empty one was tried")
        except (DependencyError, NotImplementedError) as error:
            return _answer("encrypted", f"its kind of encryption cannot be read here ({_short(error)})")
    total = len(reader.pages)
    pages: list[str] = []
    failed: list[int] = []
    mixed: list[int] = []
    warnings: list[str] = []
    size = 0
    for number in range(1, total + 1):
        if time.monotonic() > deadline:
            warnings.append(f"only pages 1 to {number - 1} of {total} were read: {seconds:g} seconds were up")
            break
        try:
            text, interleaved = _page_text(reader.pages[number - 1])
        except (MemoryError, RecursionError):
            raise
        except Exception:
            text, interleaved = "", False
            failed.append(number)
        size += len(text)
        if size > chars:
            return _answer("too-large", f"holds more than {chars} characters of text")
        pages.append(text)
        if interleaved:
            mixed.append(number)
    blank = [n for n, text in enumerate(pages, 1) if not text.strip() and n not in failed]
    if not any(text.strip() for text in pages):
        if not pages and total:
            return _answer("too-slow", f"reading it took longer than {seconds:g} seconds")
        if failed:
            return _answer("damaged", f"none of its {total} pages can be read")
        return _answer("no-text", "has no text layer (a scan?)" if total else "has no pages")
    if failed:
        warnings.append(f"cannot be read: {_list_pages(failed)}")
    if blank:
        warnings.append(f"no text layer: {_list_pages(blank)}")
    if mixed:
        warnings.append(f"columns may be mixed line by line: {_list_pages(mixed)}")
    return _answer("ok", "", pages, _title(reader), warnings)


def _page_text(page: PageObject) -> tuple[str, bool]:
    """A page's text in the order it was written in, and whether two columns look interleaved in it.

    Interleaved: rows (same baseline) that hold a piece on the left and a piece on the right of one gutter, written
    left, right, left, right down the page. A PDF that writes column after column never does so.
    """
    runs: list[tuple[float, float]] = []

    def visit(text: str, cm: Any, tm: Any, font: Any, size: Any) -> None:
        if len(text.strip()) > 10:  # cells of a table are shorter than lines of a column
            runs.append((tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]))

    text = page.extract_text(visitor_text=visit)
    pairs = [
        (left[0], right[0])
        for left, right in pairwise(runs)
        if abs(left[1] - right[1]) < 2 and right[0] - left[0] > 100
    ]
    # One gutter: all right-hand pieces start at the same place.
    starts = [round(right / 10) for _, right in pairs]
    return text, max((starts.count(start) for start in set(starts)), default=0) >= _MIN_COLUMN_ROWS


def _title(reader: PdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except Exception:
        return ""
    return title if isinstance(title, str) else ""


def _list_pages(numbers: list[int]) -> str:
    """ "page 3", "pages 1, 4 and 9", "12 pages, the first is 4"."""
    if len(numbers) == 1:
        return f"page {numbers[0]}"
    if len(numbers) <= 6:
        return f"pages {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    return f"{len(numbers)} pages, the first is {numbers[0]}"


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


if __name__ == "__main__":
    main(sys.argv[1:])
