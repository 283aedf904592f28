"""The block structure of a note: where its headings, sentences, table rows and code lines are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from glassbox_tui.text.raw_html import raw_until
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
    """What stands under one heading. `path` is the heading path; `starts[i]` is where heading path[i] stands.

    `bare`: of headings with nothing under them, in order, where each stands and the path down to it. They come before
    what stands under the last of them, `text`, or behind it at the end of the note.
    """

    path: tuple[str, ...]
    starts: tuple[int, ...]
    units: tuple[Unit, ...]
    bare: tuple[tuple[int, tuple[str, ...]], ...] = ()
    text: tuple[int, int] = (0, 0)

    def path_of(self, start: int, end: int) -> tuple[str, ...]:
        """The heading path of [start, end) within it: of headings alone, the path down to the first of them."""
        if not self.bare or (start < self.text[1] and self.text[0] < end):
            return self.path
        return self.bare[max(0, bisect_right(self.bare, start, key=lambda heading: heading[0]) - 1)][1]


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
    bare: list[tuple[int, tuple[str, ...]]] = []

    def names() -> tuple[str, ...]:
        return tuple(p[1] for p in path)

    def close() -> None:
        under = [unit for unit in units if unit.kind is not Kind.HEADING]
        span = (under[0].start, under[-1].end) if under else (0, 0)
        found.append(Section(names(), tuple(p[2] for p in path), tuple(units), tuple(bare), span))
        units.clear()
        bare.clear()

    for block in _blocks(text, start, len(text)):
        if not block.level:
            units.extend(_units(text, block))
            continue
        if units and units[-1].kind is not Kind.HEADING:
            close()
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, block.title, block.start))
        units.append(Unit(block.start, _stripped_end(text, block), Kind.HEADING))
        bare.append((block.start, names()))
    if units and found and all(unit.kind is Kind.HEADING for unit in units):
        last = found.pop()  # a heading with nothing under it is no chunk of its own
        found.append(replace(last, units=last.units + tuple(units), bare=last.bare + tuple(bare)))
    elif units:
        close()
    return found


def first_heading(text: str, start: int = 0) -> str:
    """The first heading of level 1 in text[start:] that says something, as `sections` names it; "" if there is none.

    Most notes begin with it, so ever longer beginnings are read: where a line stands depends on those before it only.
    """
    end, read = start, _FIRST_LOOK
    while end < len(text):
        end = text.find("\n", start + read) + 1 or len(text)
        if title := next((block.title for block in _blocks(text, start, end) if block.level == 1 and block.title), ""):
            return title
        read *= 4
    return ""


_FIRST_LOOK = 2_000  # characters


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Blocks only: inline markup is text here. A link reference definition is a paragraph like others: nothing is lost.
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(text: str, start: int, end: int) -> Iterator[_Block]:
    """Leaf blocks of text[start:end], in order and disjoint, with the text between them: a partition of its lines."""
    body = text[start:end]
    lines = [start]  # lines[i] is where line i begins
    at = start
    for line in body.split("\n"):
        at += len(line) + 1
        lines.append(at)
    lines[-1] = end
    done = 0  # line
    raw_end, raw = start, raw_until(text)
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
        if name == "html_block" and lines[first] >= raw_end:
            raw_end = raw(lines[first], lines[last])
        own = token.level == 0 and lines[first] >= raw_end
        if name == "heading" and own and lines[last] - lines[first] <= LONGEST_HEADING:
            yield _Block(lines[first], lines[last], name, int(token.tag[1:]), _title(tokens[index + 1].content))
        else:
            yield _Block(lines[first], lines[last], name)
    if done < len(lines) - 1:
        yield _Block(lines[done], end, "text")


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
