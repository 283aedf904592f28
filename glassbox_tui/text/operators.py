"""What a typed query asks beyond its words: "this phrase" must stand in a chunk, -word and -"phrase" keep chunks out.

The rule, in one line each:

- A phrase in quotation marks counts where it stands by itself, with white space, the query's end or closing punctuation
  around it. Marks inside running text (“复利”的约定合法吗) only set a word off, as people write, and stay text.
- A dash excludes where it begins a word (white space or nothing before it, a letter or a quotation mark behind it) and
  something positive is left to search for. `a - b`, `-5`, `--verbose` and `state-of-the-art` exclude nothing.

What the index knows decides the rest (`retrieval.filters`): a dash that the notes themselves write, as in `tar -xzf`,
is part of the word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["phrase", "exclude"]

LONGEST_PHRASE = 200  # characters; longer ones are pasted text
_CLOSED_BY = {'"': '"', "＂": "＂", "“": "”", "„": "“”", "「": "」", "『": "』", "«": "»"}
_DASHES = "-－"
_CLOSING = ".,;:!?)]}…。，、；：！？）】》"  # what may follow a phrase or a word without belonging to it


@dataclass(frozen=True, slots=True)
class Condition:
    """What a chunk must hold ("phrase") or must not ("exclude"). `quoted`: as a phrase, not as a word."""

    kind: Kind
    text: str
    quoted: bool = True

    @property
    def typed(self) -> str:
        """As a person types it: "open source", -car, -"sports car"."""
        words = f'"{self.text}"' if self.quoted else self.text
        return words if self.kind == "phrase" else f"-{words}"


@dataclass(frozen=True, slots=True)
class Typed:
    """A query taken apart. `plain` is what is left as a question: phrases without their marks, exclusions gone.

    Without conditions it is the query as typed, to the character.
    """

    plain: str
    conditions: tuple[Condition, ...] = ()


def parse(query: str, literal: Callable[[str], bool] = lambda word: False) -> Typed:
    """Take `query` apart. `literal` says of a word behind a dash that dash and word are to be searched for as they are.

    Linear in the length of the query.
    """
    pieces: list[str] = []
    found: list[Condition] = []
    at = done = 0
    while at < len(query):
        if at and not query[at - 1].isspace():
            at += 1
            continue
        ended = _condition(query, at, literal)
        if ended is None:
            at += 1
            continue
        condition, after = ended
        pieces += [query[done:at], condition.text if condition.kind == "phrase" else ""]
        found.append(condition)
        at = done = after
    plain = " ".join("".join([*pieces, query[done:]]).split())
    if not found or not any(char.isalnum() for char in plain):
        return Typed(query)
    return Typed(plain, tuple(dict.fromkeys(found)))


def _condition(query: str, at: int, literal: Callable[[str], bool]) -> tuple[Condition, int] | None:
    """The condition that begins at `at`, and where it ends."""
    if query[at] not in _DASHES:
        quoted = _quoted(query, at)
        return None if quoted is None else (Condition("phrase", quoted[0]), quoted[1])
    if quoted := _quoted(query, at + 1):
        return Condition("exclude", quoted[0]), _word_end(query, quoted[1])
    if not query[at + 1 : at + 2].isalpha():
        return None
    end = _word_end(query, at + 1)
    word = query[at + 1 : end].rstrip(_CLOSING)
    return None if literal(word) else (Condition("exclude", word, quoted=False), end)


def _word_end(query: str, at: int) -> int:
    while at < len(query) and not query[at].isspace():
        at += 1
    return at


def _quoted(query: str, at: int) -> tuple[str, int] | None:
    """(the phrase in the marks that open at `at`, where they are closed); None: nothing stands there by itself."""
    closers = _CLOSED_BY.get(query[at : at + 1])
    if closers is None:
        return None
    within = query[at + 1 : at + 2 + LONGEST_PHRASE]
    close = min((i for mark in closers if (i := within.find(mark)) >= 0), default=-1)
    phrase = within[: max(0, close)].strip()
    end = at + close + 2
    if not phrase or not _stands_alone(query, end):
        return None
    return phrase, end


def _stands_alone(query: str, end: int) -> bool:
    rest = query[end : end + 8].lstrip(_CLOSING)
    return not rest or rest[0].isspace()
