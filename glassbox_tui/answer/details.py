"""What can be compared exactly between a claim and its source: numbers, Latin names and identifiers, quoted words.

Embeddings hardly tell 48 bytes from 96; here the two differ. Numbers are compared by value, so that 七十亿,
7,000,000,000 and seven billion are one, and ２０ is 20.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from glassbox_tui.text.language import language_of
from glassbox_tui.text.normalize import fold, fold_spans, source_span
from glassbox_tui.text.tokens import tokenize

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_SCALES = {"万": 10_000, "亿": 100_000_000}
_WORDS = {
    **{word: n for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"])},
    **{word: n for n, word in enumerate(["nine", "ten", "eleven", "twelve"], start=9)},
    **{f"{stem}teen": n for n, stem in enumerate(["thir", "four", "fif", "six", "seven", "eigh", "nine"], start=13)},
    **{f"{stem}ty": 10 * n for n, stem in enumerate(["twen", "thir", "for", "fif", "six", "seven", "eigh"], start=2)},
    "ninety": 90,
}
_BIG_WORDS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}

_CJK_NUMERAL = "".join([*_DIGITS, *_UNITS, *_SCALES])
_ENGLISH = "|".join(sorted([*_WORDS, *_BIG_WORDS], key=len, reverse=True))
# One numeral alone is a number only before what is counted: 三个, and not 三角.
_COUNTED = (
    "个种年月日成倍点次位人名块份条项步天周小时分秒元字比核层级段句篇张页行列轮件台座只头岁届世期度米克吨里公亩架艘辆"
)

_numbers = re.compile(
    rf"(?P<below>[{_CJK_NUMERAL}\d]+)分之(?P<above>[{_CJK_NUMERAL}\d]+)"
    r"|(?P<digits>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*)"
    r"(?P<scale>[万亿千]{1,2}| ?(?:thousand|million|billion)(?![a-z])|)"
    rf"|(?P<cjk>[{_CJK_NUMERAL}]+)"
    rf"|(?<![a-z])(?P<words>(?:{_ENGLISH})(?:[ -](?:and )?(?:{_ENGLISH}))*)(?![a-z])"
)
_latin = re.compile(r"(?:(?![\u2e80-\uffff])[^\W\d_])(?:(?![\u2e80-\uffff])[\w+#'’.-])*(?<![.'’-])")
_quoted = re.compile(r"《([^《》]{1,20})》|“([^“”]{1,20})”|「([^「」]{1,20})」")
# Before a word that has a capital for no other reason than its place; "Dr. Lee" is not one.
_sentence_start = re.compile(r"(?:^|\w{4}[.!?:]\s+|^[-*\d.\s]+)$")
_cjk = re.compile("[\u3400-\u9fff]")
_cjk_run = re.compile("[\u3400-\u9fff]+")


def missing(claim: str, source: str) -> tuple[str, ...]:
    """The numbers, names and quoted words of `claim`, as they stand there, that `source` does not hold; each once."""
    held = {value for value, _, _ in _values(fold(source))}
    lost: dict[str, None] = {}
    folded, offsets = fold_spans(claim)
    for value, start, end in _values(folded):
        if value not in held and _counts(folded, start, end):
            a, b = source_span(offsets, start, end)
            lost[claim[a:b]] = None
    lost.update(dict.fromkeys(_missing_names(claim, source)))
    squeezed = "".join(fold(source).split())
    if _cjk.search(source):
        for match in _quoted.finditer(claim):
            words = match[1] or match[2] or match[3]
            if "".join(fold(words).split()) not in squeezed:
                lost[words] = None
    return tuple(lost)


# A claim is close to its source's wording if this share of it stands there, in runs of at least _RUN characters.
_CLOSE, _RUN = 0.8, 3
_LONGEST_ODD = 8


def odd_words(claim: str, source: str) -> tuple[str, ...]:
    """Chinese words that a claim adds to a source it otherwise follows word for word; none if it is worded freely.

    A name in ideographs looks like any other word, so this is how a wrong one shows; so does a harmless synonym.
    """
    said, held = "".join(fold(claim).split()), "".join(fold(source).split())
    covered = [False] * len(said)
    for at in range(len(said) - _RUN + 1):
        if said[at : at + _RUN] in held:
            covered[at : at + _RUN] = [True] * _RUN
    letters = [at for at, char in enumerate(said) if char.isalnum()]
    if not letters or sum(covered[at] for at in letters) < _CLOSE * len(letters):
        return ()
    left = "".join(" " if known else char for char, known in zip(said, covered, strict=True))
    runs = [run for run in _cjk_run.findall(left) if 2 <= len(run) <= _LONGEST_ODD]
    return tuple(run for run in runs if not any(run[at : at + 2] in held for at in range(len(run) - 1)))


def _missing_names(claim: str, source: str) -> Iterator[str]:
    chinese_claim, chinese_source = (language_of(text) == "cjk" for text in (claim, source))
    terms = {token.term for token in tokenize(source)}
    letters = re.sub(r"[\W_]", "", fold(source))
    for match in _latin.finditer(claim):
        name = match.group()
        plain = re.sub(r"[\W_]", "", fold(name))
        is_identifier = bool(re.search(r"\d|_|[a-z][A-Z]|^[A-Z][A-Z]", name)) and len(name) > 1
        is_name = name[0].isupper() and len(name) > 1 and not _sentence_start.search(claim[: match.start()])
        # A Latin name may be written in ideographs in a Chinese source, an identifier will not.
        if is_identifier or (chinese_claim and len(name) > 1) or (is_name and not chinese_source):
            known = plain in letters or any(token.term in terms for token in tokenize(name))
            if not known:
                yield name


def _counts(folded: str, start: int, end: int) -> bool:
    """Is this number of a claim one that its source has to hold? One and 一 hardly ever are numbers."""
    text = folded[start:end]
    if text in ("one", "a", "一"):
        return False
    return len(text) > 1 or text.isdecimal() or folded[end : end + 1] in _COUNTED or folded[end : end + 1] == "多"


def _values(folded: str) -> Iterator[tuple[str, int, int]]:
    """Each number of a folded text as its value in words that compare, with its span."""
    for match in _numbers.finditer(folded):
        if match["below"]:
            value = f"{_integer(match['above'])}/{_integer(match['below'])}"
        elif match["digits"]:
            value = _decimal(match["digits"], match["scale"].strip())
        elif match["cjk"]:
            value = str(_integer(match["cjk"]))
        else:
            value = str(_spelled(match["words"]))
        yield value, *match.span()


def _decimal(digits: str, scale: str) -> str:
    plain = digits.replace(",", "")
    if plain.count(".") > 1 or (plain.startswith("0") and plain.isdecimal()):  # a version, a mode, a code
        return plain
    value = Decimal(plain)
    for part in [scale] if scale in _BIG_WORDS else scale:
        value *= _BIG_WORDS.get(part) or _SCALES.get(part) or _UNITS[part]
    return f"{value:f}".rstrip("0").rstrip(".") if "." in f"{value:f}" else f"{value:f}"


def _integer(numeral: str) -> int:
    """A Chinese numeral (七十亿, 二〇〇九) or plain digits."""
    if numeral.isdecimal():
        return int(numeral)
    if not any(char in _UNITS or char in _SCALES for char in numeral):
        return int("".join(str(_DIGITS.get(char, char)) for char in numeral))
    total = section = digit = 0
    for char in numeral:
        if char in _SCALES:
            total = (total + section + digit or 1) * _SCALES[char]
            section = digit = 0
        elif char in _UNITS:
            section += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            digit = _DIGITS[char] if char in _DIGITS else int(char)
    return total + section + digit


def _spelled(words: str) -> int:
    """seven billion, twenty-one, three hundred and five."""
    total = section = 0
    for word in re.split(r"[ -](?:and )?", words):
        if word == "hundred":
            section = (section or 1) * 100
        elif word in _BIG_WORDS:
            total += (section or 1) * _BIG_WORDS[word]
            section = 0
        else:
            section += _WORDS[word]
    return total + section
