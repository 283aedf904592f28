"""CC-CEDICT's lines as a table of translations, both ways. Pure functions; `models.lexicon` keeps the table on disk.

A line is `TRADITIONAL SIMPLIFIED [pinyin] /gloss/gloss/`. A gloss is written for readers: what is not the meaning
(counters, variants, remarks in parentheses, "sb", "sth") is cleaned away, and what is left is compared by index terms.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from glassbox_tui.text.tokens import terms

LONGEST_GLOSS = 4  # terms; a longer gloss explains and does not translate
LONGEST_KEY = 3  # English words that are looked up together
LEAST_SHARE = 0.3  # of a gloss's terms that a key must be
MOST_WORDS = 40  # Chinese words kept for a key, the most exact first
LATER_SENSE = 0.1  # the n-th gloss of a word weighs 1 / (1 + LATER_SENSE n)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: the word in simplified characters, its glosses in order, and the words it refers to instead."""

    word: str
    glosses: tuple[str, ...]
    referred: tuple[str, ...]


_line = re.compile(r"(\S+) (\S+) \[([^\]]*)\] /(.*)/")
_target = re.compile(r"(?:[^\s|\[\],]+\|)?([^\s|\[\],]+)\[")
_refers = re.compile(
    r"(?:(?:\(?[a-zA-Z]+\)? ){0,3}(?:variant|form) of|abbr\. (?:for|to)|short for|same as|equivalent to|see(?: also)?"
    r"|also written) "
)
_no_meaning = re.compile(
    r"CL:|surname |also pr\.|\(?Tw\)|Taiwan pr\.|(?:\([^()]*\) )?(?:classifier|suffix|prefix|particle)\b|"
    r"used (?:in|for) |(?:Kangxi )?radical "
)
# Most lines are words and nothing else. They are told apart by two quick looks, and spared the cleaning.
_words_alone = re.compile(r"[a-z/;' -]+")
_remark = re.compile(r"\([^()]*\)")
_foreign = re.compile(r"\S*\[[^\[\]]*\]|[\u2e80-\U0003ffff]+")
_filler = re.compile(r"\b(?:sb|sth|smb|smth|etc|one's|oneself|someone|something|fig|lit|idiom|e\.g|i\.e|esp)\b\.?")
_needs_cleaning = re.compile(
    "variant of|form of|short for|same as|equivalent to|see |written|surname|classifier|suffix|"
    f"prefix|particle|used |radical |{_filler.pattern}"
)
# Shenzhen subprovincial city in Guangdong: of a proper name's gloss, the name
_name = re.compile(r"(?:the )?([A-Z][\w'’.-]*(?: (?:of |the |and |de |von |van )*[A-Z][\w'’.-]*)*)")


def read_line(line: str) -> Entry | None:
    """The entry on a line of CC-CEDICT; None for a comment and for what is no entry."""
    found = None if line.startswith("#") else _line.match(line)
    if found is None:
        return None
    _, word, pinyin, rest = found.groups()
    proper = pinyin[:1].isupper()
    if not proper and _words_alone.fullmatch(rest) and not _needs_cleaning.search(rest):
        senses = [sense.strip().removeprefix("to ") for sense in rest.replace(";", "/").split("/")]
        return Entry(word, tuple(dict.fromkeys(sense for sense in senses if sense)), ())
    glosses: dict[str, None] = {}
    referred: dict[str, None] = {}
    for sense in rest.split("/"):
        if refers := _refers.match(sense):
            target = _target.match(sense, refers.end())
            if target and target[1] != word:
                referred[target[1]] = None
            # abbr. for 北京大學|北京大学[...], Peking University
            sense = sense[target.end() :].partition("]")[2].lstrip(" ,") if target else sense[refers.end() :]
        for gloss in sense.split(";"):
            if cleaned := _cleaned(gloss.strip(), proper):
                glosses[cleaned] = None
    return Entry(word, tuple(glosses), tuple(referred))


def _cleaned(gloss: str, proper: bool) -> str:
    if _no_meaning.match(gloss):
        return ""
    for _ in range(2):  # remarks within remarks
        gloss = _remark.sub(" ", gloss)
    gloss = _foreign.sub(" ", gloss)
    gloss = _filler.sub(" ", gloss)
    if proper or len(gloss) > 40:  # Berlin, capital of Germany
        gloss = gloss.partition(",")[0]
    gloss = " ".join(gloss.split()).strip(" .,:!?").removeprefix("to ")
    name = _name.match(gloss) if proper else None
    return name[1] if name else gloss


def read_glosses(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Word -> its glosses, those of all entries that are spelled so; a word that only refers has the other word's."""
    glosses: defaultdict[str, dict[str, None]] = defaultdict(dict)
    referred: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for line in lines:
        if entry := read_line(line):
            glosses[entry.word].update(dict.fromkeys(entry.glosses))
            referred[entry.word].update(dict.fromkeys(entry.referred))
    found: dict[str, tuple[str, ...]] = {}
    for word, own in glosses.items():
        meant = own or dict.fromkeys(g for other in referred[word] for g in glosses.get(other, ()))
        if meant:
            found[word] = tuple(meant)
    return found


def reversed_glosses(glosses: Mapping[str, Sequence[str]]) -> dict[str, list[tuple[str, float]]]:
    """English key -> the Chinese words that it may stand for, each with a weight in (0, 1], the most exact first.

    A key is one to LONGEST_KEY neighbouring terms of a gloss, with blanks between. The weight is the share of the
    gloss that the key is: "defense" is all of 防御's "defense" and half of 防线's "defense line".
    """
    best: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for word, meanings in glosses.items():
        if not _chinese.fullmatch(word):
            continue
        for place, gloss in enumerate(meanings):
            own = _terms(gloss)
            size = len(own)
            if size > LONGEST_GLOSS:
                continue
            for length in range(1, min(size, LONGEST_KEY) + 1):
                if length < LEAST_SHARE * size:
                    continue
                weight = length / size / (1.0 + LATER_SENSE * place)
                for at in range(size - length + 1):
                    words = best[" ".join(own[at : at + length])]
                    if weight > words.get(word, 0.0):
                        words[word] = weight
    return {
        key: sorted(((word, round(w, 3)) for word, w in words.items()), key=_most_exact_first)[:MOST_WORDS]
        for key, words in best.items()
    }


def _terms(gloss: str) -> list[str]:
    """`terms(gloss)`, in a third of the time where the gloss is words and blanks."""
    if gloss.isascii() and gloss.replace(" ", "").isalpha():
        return [term for word in gloss.split(" ") for term in _word_terms(word)]
    return terms(gloss)


@lru_cache(maxsize=65536)
def _word_terms(word: str) -> tuple[str, ...]:
    return tuple(terms(word))


def _most_exact_first(pair: tuple[str, float]) -> tuple[float, int, str]:
    word, weight = pair
    return -weight, len(word), word


_chinese = re.compile(r"[\u3007\u3400-\u4dbf\u4e00-\u9fff]+")
