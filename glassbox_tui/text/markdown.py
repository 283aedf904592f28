"""The block structure of a note: where its headings, sentences, table rows and code lines are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from glassbox_tui.text.sentences import sentences

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


# A longer "heading" is text: a log above a line of dashes (to CommonMark a heading of thousands of lines), a page
# without line breaks behind a #. It names nothing, and would stand in every chunk below it.
LONGEST_HEADING = 1_000  # characters
LONGEST_TITLE = 300  # characters of a heading that are kept with its chunks; context lines are shorter still


class Kind(Enum):
    """What a unit is made of; only sentences are repeated as overlap, only tables carry a header."""

    HEADING = auto()
    SENTENCE = auto()
    TABLE = auto()
    CODE = auto()


class Unit(NamedTuple):
    """A piece that is not cut unless it must be. `header` is the span of the table's header and delimiter rows."""

    start: int
    end: int
    kind: Kind
    header: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading. `path` is the heading path; `starts[i]` is where heading path[i] stands."""

    path: tuple[str, ...]
    starts: tuple[int, ...]
    units: tuple[Unit, ...]


class _Block(NamedTuple):
    start: int
    end: int
    name: str  # markdown-it's token type without "_open"; "text" between blocks
    level: int = 0  # of a heading of the note itself: 1 to 6
    title: str = ""


def plain_section(text: str, start: int) -> Section:
    """text[start:] as paragraphs and sentences, without markdown."""
    return Section((), (), tuple(_sentence_units(text, start, len(text))))


def sections(text: str, start: int) -> list[Section]:
    """The sections of the markdown text[start:], in order; their units hold every character that is not white space.

    Headings without a body stand at the start of the section that follows them.
    """
    found: list[Section] = []
    path: list[tuple[int, str, int]] = []  # level, title, start
    units: list[Unit] = []

    def close() -> None:
        found.append(Section(tuple(p[1] for p in path), tuple(p[2] for p in path), tuple(units)))
        units.clear()

    for block in _blocks(text, start):
        if not block.level:
            units.extend(_units(text, block))
            continue
        if units and units[-1].kind is not Kind.HEADING:
            close()
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, block.title, block.start))
        units.append(Unit(block.start, _stripped_end(text, block), Kind.HEADING))
    if units and found and all(unit.kind is Kind.HEADING for unit in units):
        last = found.pop()  # a heading with nothing under it is no chunk of its own
        found.append(Section(last.path, last.starts, last.units + tuple(units)))
    elif units:
        close()
    return found


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Blocks only: inline markup is text here. A link reference definition is a paragraph like others: nothing is lost.
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(text: str, start: int) -> Iterator[_Block]:
    """Leaf blocks of text[start:], in order and disjoint, with the text between them: a partition of its lines."""
    body = text[start:]
    lines = [start]  # lines[i] is where line i begins
    at = start
    for line in body.split("\n"):
        at += len(line) + 1
        lines.append(at)
    lines[-1] = len(text)
    done = 0  # line
    # The parser would begin a line at a lone carriage return as well: text that is handed in may hold some.
    tokens = _parser().parse(body.replace("\r", " "))
    for index, token in enumerate(tokens):
        if token.map is None or token.type not in _LEAVES:
            continue
        first, last = max(token.map[0], done), token.map[1]
        if last <= first:
            continue
        if first > done:
            yield _Block(lines[done], lines[first], "text")
        done = last
        name = token.type.removesuffix("_open")
        if name == "heading" and token.level == 0 and lines[last] - lines[first] <= LONGEST_HEADING:
            yield _Block(lines[first], lines[last], name, int(token.tag[1:]), _title(tokens[index + 1].content))
        else:
            yield _Block(lines[first], lines[last], name)
    if done < len(lines) - 1:
        yield _Block(lines[done], len(text), "text")


_LEAVES = frozenset({"paragraph_open", "heading_open", "table_open", "fence", "code_block", "html_block", "hr"})
_link = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,400}\)")
_mark = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")


def _title(inline: str) -> str:
    """A heading as plain words: links by their text, without emphasis marks; one line, cut if it is very long."""
    plain = " ".join(_mark.sub("", _link.sub(r"\1", inline)).split())
    return plain if len(plain) <= LONGEST_TITLE else plain[: LONGEST_TITLE - 1].rstrip() + "…"


def _units(text: str, block: _Block) -> Iterator[Unit]:
    end = _stripped_end(text, block)
    if end == block.start:
        return
    if block.name == "table":
        header_end = text.find("\n", text.find("\n", block.start) + 1)
        yield Unit(block.start, end, Kind.TABLE, (block.start, end if header_end < 0 else min(header_end, end)))
    elif block.name in ("fence", "code_block"):
        yield Unit(block.start, end, Kind.CODE)
    else:
        yield from _sentence_units(text, block.start, end)


def _stripped_end(text: str, block: _Block) -> int:
    return block.start + len(text[block.start : block.end].rstrip())


def _sentence_units(text: str, start: int, end: int) -> Iterator[Unit]:
    for a, b in sentences(text[start:end]):
        sentence = text[start + a : start + b]
        kept = sentence.strip()
        if kept:
            begin = start + a + len(sentence) - len(sentence.lstrip())
            yield Unit(begin, begin + len(kept), Kind.SENTENCE)
