"""One file to one note: bytes, text, title, and an honest status. Never raises for what a file contains."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath

from glassbox_tui.notes import pdf
from glassbox_tui.notes.decode import decode, newlines, repair
from glassbox_tui.notes.frontmatter import front_matter
from glassbox_tui.notes.scan import kind_of
from glassbox_tui.text.markdown import first_heading
from glassbox_tui.text.visible import has_visible

MEGABYTE = 1_000_000
PAGE_BREAK = "\n\n"
UNREADABLE = "unreadable"  # the one status that says nothing of what the file holds


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost: bytes on disk, and for a PDF's child process seconds, bytes of memory, characters."""

    text_bytes: int = 20 * MEGABYTE
    pdf_bytes: int = 200 * MEGABYTE
    pdf_seconds: float = 60.0
    pdf_memory: int = 1_500 * MEGABYTE
    pdf_chars: int = 20 * MEGABYTE


@dataclass(frozen=True, slots=True)
class LoadedNote:
    """A note as read. Offsets refer to `text`, whose newlines are all "\\n" and which is always valid Unicode.

    status: 'ok', or why there is nothing to search: 'empty', 'no-text', 'encrypted', 'damaged', 'too-large',
    'too-slow', 'binary', 'unreadable'; `reason` says it in a sentence. `digest` is the sha256 of the file's bytes, in
    hex; empty when they were not read. `pages` holds each page's start offset (PDF only).
    """

    text: str
    title: str
    kind: str
    encoding: str
    status: str
    reason: str
    warnings: tuple[str, ...]
    pages: tuple[int, ...]
    body_start: int
    digest: str


def load(absolute: Path, relative: str, limits: Limits = Limits()) -> LoadedNote:
    """Read the note at `absolute`; `relative` gives its kind and the title of last resort."""
    kind = kind_of(relative) or "txt"
    stem = readable_stem(relative)
    try:
        with _open_regular(absolute) as file:
            if kind == "pdf":
                return _load_pdf(absolute, file, stem, limits)
            data = file.read(limits.text_bytes + 1)
    except (OSError, ValueError) as error:
        return _without_text(kind, stem, UNREADABLE, _unread(error))
    if len(data) > limits.text_bytes:
        return _too_large(kind, stem, limits.text_bytes)
    return _load_text(data, kind, stem)


def _unread(error: OSError | ValueError) -> str:
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def unread_reason(path: Path) -> str:
    """Why the file's first byte cannot be had, as `load` says it; "" if it can."""
    try:
        with _open_regular(path) as file:
            file.read(1)
    except (OSError, ValueError) as error:
        return _unread(error)
    return ""


def digest_of(path: Path) -> str | None:
    """sha256 of a file's bytes in hex, as `load` gives it; None if it cannot be read."""
    try:
        with _open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


def _load_pdf(absolute: Path, file: BufferedReader, stem: str, limits: Limits) -> LoadedNote:
    """The child opens the file itself; here it is only measured and hashed, piece by piece."""
    if os.fstat(file.fileno()).st_size > limits.pdf_bytes:
        return _too_large("pdf", stem, limits.pdf_bytes)
    head = file.read(1024)
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    if not head:
        return _without_text("pdf", stem, "empty", "has no bytes", digest)
    if b"%PDF-" not in head:
        return _without_text("pdf", stem, "damaged", "not a PDF: it does not begin with %PDF-", digest)
    read = pdf.extract(absolute, seconds=limits.pdf_seconds, memory=limits.pdf_memory, chars=limits.pdf_chars)
    if read.status != "ok":
        return _without_text("pdf", stem, read.status, read.reason, digest, read.warnings)
    # Repaired as a whole, so that a note gets one warning of a kind and not one a page.
    joined, repairs = repair("\f".join(newlines(page).replace("\f", "\n") for page in read.pages))
    pages = [pdf.tidy(page) for page in joined.split("\f")]
    starts, offset = [], 0
    for page in pages:
        starts.append(offset)
        offset += len(page) + len(PAGE_BREAK)
    return LoadedNote(
        text=PAGE_BREAK.join(pages),
        title=_document_title(read.title) or stem,
        kind="pdf",
        encoding="pdf",
        status="ok",
        reason="",
        warnings=(*read.warnings, *repairs),
        pages=tuple(starts),
        body_start=0,
        digest=digest,
    )


def _load_text(data: bytes, kind: str, stem: str) -> LoadedNote:
    digest = hashlib.sha256(data).hexdigest()
    decoded = decode(data)
    if decoded.binary:
        return _without_text(kind, stem, "binary", decoded.binary, digest)
    text, warnings = decoded.text, list(decoded.warnings)
    title, body_start = None, 0
    if kind == "md":
        head = front_matter(text)
        title, body_start = head.title, head.body_start
        warnings += [head.warning] if head.warning else []
        title = one_line(title or "") or one_line(first_heading(text, body_start))
    empty = not has_visible(text[body_start:])
    return LoadedNote(
        text=text,
        title=title or stem,
        kind=kind,
        encoding=decoded.encoding,
        status="empty" if empty else "ok",
        reason="has no text" if empty else "",
        warnings=tuple(warnings),
        pages=(),
        body_start=body_start,
        digest=digest,
    )


def _without_text(
    kind: str, title: str, status: str, reason: str, digest: str = "", warnings: Sequence[str] = ()
) -> LoadedNote:
    return LoadedNote("", title, kind, "", status, reason, tuple(warnings), (), 0, digest)


def _too_large(kind: str, title: str, limit: int) -> LoadedNote:
    return _without_text(kind, title, "too-large", f"larger than {limit / MEGABYTE:g} MB")


def _open_regular(path: Path) -> BufferedReader:
    """Open a regular file; a pipe or a device would block or never end."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    file = os.fdopen(handle, "rb")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise ValueError("not a regular file")
    return file


def readable_stem(relative: str) -> str:
    """The file's name as a title: no suffix, underscores and hyphens between letters as spaces (DEC-0054 stays)."""
    stem = PurePosixPath(relative).stem
    spaced = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", " ", stem.replace("_", " "))
    return " ".join(spaced.split()) or stem


_PROGRAM_TITLE = re.compile(
    r"microsoft \w+ - |untitled|无标题|(?:document|presentation|slide|文档)\s*\d*$"
    r"|.*\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|html?|pdf|qxd|ps)$",
    re.IGNORECASE,
)


def _document_title(title: str) -> str:
    """A PDF's own title, unless a program filled it in."""
    title = one_line(title)
    return title if len(title) > 1 and title.isprintable() and not _PROGRAM_TITLE.match(title) else ""


def one_line(title: str) -> str:
    """A title that any store holds, on one line, of at most 300 characters."""
    return repair(" ".join(title[:1200].split())[:300])[0]
