"""One file to one note: bytes, text, title, and an honest status. Never raises for what a file contains."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from glassbox_tui.notes.decode import decode
from glassbox_tui.notes.frontmatter import front_matter
from glassbox_tui.notes.scan import kind_of

MEGABYTE = 1_000_000


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
            most = limits.pdf_bytes if kind == "pdf" else limits.text_bytes
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        return _without_text(kind, stem, "unreadable", f"cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(data) > most:
        return _without_text(kind, stem, "too-large", f"larger than {most / MEGABYTE:g} MB")
    return _load_text(data, kind, stem)


def _load_text(data: bytes, kind: str, stem: str) -> LoadedNote:
    digest = hashlib.sha256(data).hexdigest()
    decoded = decode(data)
    if decoded.binary is not None:
        return _without_text(kind, stem, "binary", decoded.binary, digest)
    text, warnings = decoded.text, list(decoded.warnings)
    title, body_start = None, 0
    if kind == "md":
        head = front_matter(text)
        title, body_start = head.title, head.body_start
        warnings += [head.warning] if head.warning else []
        title = title or first_heading(text, body_start)
    empty = not text[body_start:].strip()
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


def _open_regular(path: Path) -> BinaryIO:
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


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}#[ \t]+(.+)")


def first_heading(text: str, start: int = 0) -> str | None:
    """The first level-1 heading of a markdown body, outside code fences, as plain words."""
    fence = ""
    previous = ""
    for line in text[start:].split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := _ATX.match(line):
            if title := _plain(re.sub(r"[ \t]+#+[ \t]*$", "", heading[1])):
                return title
        elif previous and re.fullmatch(r" {0,3}=+[ \t]*", line):
            return _plain(previous)
        previous = "" if mark or fence else line.strip()
    return None


def _plain(heading: str) -> str:
    """A heading without its inline markup: links become their words, emphasis and code marks go."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    words = re.sub(r"(\*\*|__|`+|~~)(?=\S)(.+?)(?<=\S)\1", r"\2", words)
    return " ".join(words.split())[:300]
