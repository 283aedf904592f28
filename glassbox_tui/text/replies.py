"""What a language model meant to say: its reply without thinking, politeness and wrapping. Pure functions on strings.

A small model seldom keeps to the form it was asked for. Each reader takes what it can use from any reply and says None
or nothing where there is nothing; no reader raises, whatever the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from glassbox_tui.text.normalize import fold
from glassbox_tui.text.turns import own_turn, without_tokens

QUERY_CHARS = 300  # a query that is longer is no query
PASSAGE_CHARS = 1_200
WORD_CHARS = 40

_thinking = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_thought = re.compile(r".*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_fence = re.compile(r"^\s*(?:```|~~~)[\w+-]*\s*$", re.MULTILINE)
_control = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+"
)
# "1.", "2)", "(3)", "第一，", "-", "*", "Q1:", "#": what stands before an item of a list
_bullet = re.compile(
    r"^\s*(?:(?:[-*•·>#]+(?=\s)|[•·>](?=\S)|\(?\d{1,2}[.)）、:：](?!\d)|[（(]\d{1,2}[)）]|Q\d{0,2}[.:：]|第[一二三四五六]，?)\s*)+",
    re.IGNORECASE,
)
_ADJECTIVES = r"(?:re-?written|rewrite of the|improved|better|revised|new|final|alternative|possible|search|sub)"
_LABEL = (
    rf"(?:the\s+|my\s+|your\s+)?(?:{_ADJECTIVES}[\s-]*)*(?:sub-?quer(?:y|ies)|quer(?:y|ies)|(?:sub-?)?questions?"
    r"|rewrite|answer|output|result|passage|keywords?|terms?|words?|synonyms?)"
)
_ZH_LABEL = (
    r"(?:改写|重写|新的?|更好的|检索|搜索|子|优化后?的?|改写后的?)*(?:查询|问题|检索词|关键词|答案|段落|搜索词|改写)"
)
_label = re.compile(
    rf"^\s*(?:\*\*|__)?\s*(?:{_LABEL}|{_ZH_LABEL})(?:\s*\d{{1,2}})?\s*(?:\*\*|__)?\s*(?:[:：]|\bis\b:?|是[:：])\s*(?:\*\*|__)?\s*",
    re.IGNORECASE,
)
_POLITE = (
    r"sure|certainly|of course|okay|ok|absolutely|here(?:'s| is| are|’s)"
    r"|i(?:'d| would|’d)? (?:suggest|can|will|would|am|'m)|to (?:answer|rewrite)"
    r"|let me|as an ai|based on|i'm sorry|i hope|hope this|this (?:query|rewrite|question)"
    r"|the (?:rewritten|following|above)|note(?: that)?[:,]|explanation"
    r"|好的|当然|没问题|以下|这是|这里是|根据|抱歉|希望|注意|说明|我来|我会|可以"
)
_polite = re.compile(rf"^\s*(?:{_POLITE})\b|^\s*(?:好的|当然|以下|这是|这里是|没问题|抱歉)", re.IGNORECASE)
# "Sure, here is the rewritten query: what is X": the politeness up to the colon goes, the rest is kept.
_lead_in = re.compile(rf"^\s*(?:{_POLITE})[^:：\n]{{0,100}}[:：]\s*", re.IGNORECASE)
_QUOTES = "\"'`“”‘’「」『』《》*_ \t"
_number = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")
_bracketed = re.compile(r"[\[【(（]\s*(\d{1,3})\s*[\]】)）]")
_named = re.compile(r"(?:passage|document|doc|段落|文档|片段|第)\s*#?\s*(\d{1,3})", re.IGNORECASE)
_yes = re.compile(
    r"\b(?:yes|yeah|yep|true|sufficient|enough)\b|^\s*(?:是|对|能|可以|足够|够)|(?<!不)(?<!否)足够", re.IGNORECASE
)
_no = re.compile(r"\b(?:no|nope|not|false|insufficient|cannot|can't|doesn't|don't)\b|不|否|没有|无法|未", re.IGNORECASE)


def said(reply: str) -> str:
    """The reply without thinking, code fences, control characters and remnants of a chat template."""
    text = _thinking.sub(" ", reply)
    text = _thought.sub(" ", text)  # a reply that begins in the middle of the thinking
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    text = without_tokens(own_turn(text)[0], "\n")
    text = _control.sub("", text)
    return _fence.sub("", text).strip()


def queries(reply: str, most: int = 1, echo: str = "") -> tuple[str, ...]:
    """The search queries (or questions) of a reply, at most `most`, each one line, no two alike.

    Read from JSON where there is some, else from the lines. A line of `echo`, the prompt, is nothing the model said.
    """
    told = {_bare(line) for line in echo.splitlines()} - {""}
    found: dict[str, str] = {}
    for line in _items(said(reply)):
        query = _tidy(line)
        key = _bare(query)
        if key and key not in told and _bare(line) not in told and len(query) <= QUERY_CHARS and not _is_polite(query):
            found.setdefault(key, query)
    return tuple(found.values())[:most]


def passage(reply: str) -> str:
    """The prose of a reply on one line, at most PASSAGE_CHARS, cut between words; "" for none."""
    text = said(reply)
    values = [v for v in _json_texts(text) if len(v) > 20]
    lines = [" ".join(values)] if values else text.splitlines()
    kept = [_strip(_label.sub("", _lead_in.sub("", line))) for line in lines]
    kept = [line for line in kept if line]
    if len(kept) > 1 and _is_polite(kept[0]):
        kept = kept[1:]
    whole = " ".join(" ".join(kept).split())
    if len(whole) <= PASSAGE_CHARS:
        return whole
    cut = whole[:PASSAGE_CHARS]
    return cut[: cut.rindex(" ")] if " " in cut[PASSAGE_CHARS // 2 :] else cut


def words(reply: str, most: int) -> tuple[str, ...]:
    """The words and short phrases of a reply, at most `most`, no two alike, in its order."""
    text = said(reply)
    texts = _json_texts(text) or [line for line in text.splitlines() if not _is_polite(line) or _lead_in.match(line)]
    found: dict[str, str] = {}
    for piece in texts:
        listed = _label.sub("", _lead_in.sub("", _bullet.sub("", piece)))
        for part in re.split(r"[,，、;；|\n]|\s->\s|\s[-–—]\s", listed):
            word = _strip(re.sub(r"[:：=]\s*[\d.]+\s*$|\s*\([\d.]+\)\s*$", "", _bullet.sub("", part)))
            word = word.rstrip(".。!！?？:：").strip()
            if word and len(word) <= WORD_CHARS and len(word.split()) <= 4 and fold(word).strip():
                found.setdefault(fold(word), word)
    return tuple(found.values())[:most]


def score(reply: str, low: float = 0.0, high: float = 10.0) -> float | None:
    """The mark of a reply: its first number that lies in the range ("7/10", "Score: 8.5"); None: there is none."""
    values = (float(n) for n in _number.findall(_half_width(said(reply))))
    return next((value for value in values if low <= value <= high), None)


def order(reply: str, count: int) -> tuple[int, ...]:
    """The numbers 1 to `count` in the reply's order, each once, counted from 0: "[2] > [3] > [1]" is (1, 2, 0).

    What it leaves out is left out. Numbers in brackets are meant before numbers with a noun, and those before bare
    ones, which may only count the lines.
    """
    text = _half_width(said(reply))
    for pattern in (_bracketed, _named, _number):
        numbers = (int(float(n)) - 1 for n in pattern.findall(text))
        found = tuple(dict.fromkeys(n for n in numbers if 0 <= n < count))
        if found:
            return found
    return ()


def choice(reply: str, letters: str = "AB") -> str | None:
    """The one letter of `letters` that a reply names, capital and by itself; None: none, or more than one."""
    text = _half_width(said(reply))
    found = set(re.findall(rf"(?<![A-Za-z])[{letters}](?![A-Za-z'’])", text))
    if len(found) == 1:
        return str(found.pop())
    if found:
        return None
    first = re.match(rf"\W*(?:passage|answer|段落)?\W*([{letters}])(?![A-Za-z'’])", text, re.IGNORECASE)
    return first[1].upper() if first else None


def yes_or_no(reply: str) -> bool | None:
    """What a reply says to a question of yes or no, by its first line; None: it says neither, or both."""
    text = said(reply).lstrip(_QUOTES + ".:：,，-")
    first = re.match(r"(yes|no|true|false)\b", text, re.IGNORECASE)
    if first:
        return first[1].lower() in ("yes", "true")
    line = text.partition("\n")[0]
    yes, no = bool(_yes.search(line)), bool(_no.search(line))
    return yes if yes != no else None


def _items(text: str) -> Iterator[str]:
    """The separate things said: the texts of a JSON value, else the lines that are more than a lead-in."""
    values = _json_texts(text)
    yield from values or text.splitlines()


def _json_texts(text: str) -> list[str]:
    """The texts in the first JSON list, object or string of the reply; none if there is no such thing."""
    for start in (m.start() for m in re.finditer(r'[\[{"]', text[:400])):
        try:
            value, _ = json.JSONDecoder().raw_decode(text[start:])
        except (ValueError, RecursionError):
            continue
        found = list(_texts_of(value))
        if isinstance(value, str):  # a quoted word in a sentence is no JSON reply
            found = found if text[:start].strip() == "" else []
        if found:
            return found
    return []


def _texts_of(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield _control.sub("", value.replace("\n", " "))
    elif isinstance(value, list | dict) and depth < 4:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts_of(inner, depth + 1)


def _tidy(line: str) -> str:
    """One line without its bullet, lead-in, label and quotes."""
    before = None
    while before != line:
        before = line
        line = _strip(_label.sub("", _lead_in.sub("", _bullet.sub("", line))))
    return " ".join(line.split())


def _strip(text: str) -> str:
    """Without the quotes and the emphasis around it; a quotation inside it keeps both its marks."""
    text = text.strip()
    for left, right in ('""', "''", "``", "“”", "‘’", "「」", "『』", "《》", ("**", "**"), ("__", "__"), "**", "__"):
        if text.startswith(left) and text.endswith(right) and len(text) >= len(left) + len(right):
            inner = text[len(left) : len(text) - len(right)]
            if left not in inner and right not in inner:
                return inner.strip()
    opened = text.lstrip(_QUOTES) if sum(map(text.count, '"“”')) % 2 else text
    return opened.rstrip('"“” ') if opened is not text else text


def _is_polite(line: str) -> bool:
    return bool(_polite.match(line)) and not line.rstrip().endswith(("?", "？"))


def _bare(text: str) -> str:
    """What two lines that say the same have in common."""
    return " ".join(re.findall(r"\w+", fold(text)))


def _half_width(text: str) -> str:
    return text.translate({0xFF10 + i: str(i) for i in range(10)} | {0xFF21 + i: chr(65 + i) for i in range(26)})


def same(one: str, other: str, among: Collection[str] = ()) -> bool:
    """Whether two queries ask the same but for case, punctuation and white space (or one of `among` does)."""
    key = _bare(one)
    return key == _bare(other) or any(key == _bare(text) for text in among)
