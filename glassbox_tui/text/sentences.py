"""Sentences of Chinese and English text, in one linear pass.

Every possible end (a terminator, a line break) is looked at with what stands just around it. Where it is not clear, the
text is left whole: two sentences taken for one cost less than one torn apart.
"""

from __future__ import annotations

import re


def _words(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


# Before a full stop these never end a sentence: a name or a number follows.
_TITLES = _words(
    """
    dr mr mrs ms mx prof rev gen col capt lt sgt sen rep gov hon pres st mt messrs fig figs eq eqs sec ch vol nos pp ed
    eds e.g i.e cf vs viz resp approx ca tab ref refs def thm prop
    """
)
# These may end one: only a word that likely begins the next one tells.
_MAY_END = _words(
    """
    etc al inc ltd co corp llc jr sr esq ph.d m.d b.a m.a m.sc b.sc d.phil a.m p.m a.d b.c dept univ est ave blvd rd
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
    """
)
_STARTERS = _words(
    """
    The This That These Those There Then It Its He She We They You I In On At As An A And But So Or If When While What
    Why How Where Who For From To By With After Before However Although Because Since Our My His Her Their Your
    Not No Yes One Two Some Most Many All Each Every Both
    """
)

_CLOSERS = "”’」』）)】》〉］\\]}*_`"
_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"

_candidate = re.compile(r"[。｡！？；…!?.．]+|\n\s*")
_closers = re.compile(f"[{_CLOSERS}\"']*")
_space = re.compile(r"\s*")
_cjk = re.compile(f"[{_CJK}]")
_wide = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff]")
_word_before = re.compile(r"[\w.]*\Z")
_word_after = re.compile(r"[A-Za-z]+")
_enumerator = re.compile(r"[ \t>]*(?:\d{1,4}|[A-Za-z])\Z")
# What begins a line that is something of its own: a list item, a heading, a quotation, a table row, a fence, a rule.
_own_line = re.compile(
    r"[-*+•·–—]\s|\d{1,4}[.)、]|[(（][\d一-十a-z]{1,3}[)）]|[一二三四五六七八九十]{1,3}、|[#>|]|```|~~~|---|==="
)

_WRAP_COLUMNS = 40  # a line shorter than this was ended on purpose, not wrapped


def sentences(text: str) -> list[tuple[int, int]]:
    """A partition of `text` into sentences: contiguous spans that cover all of it.

    White space belongs to the sentence before it.

    Ends: 。！？；… ! ? and full stops, with closing quotes and brackets kept; paragraph breaks, list items, lines
    that were not merely wrapped. No ends: within numbers and versions (v3.14), after abbreviations (Dr., e.g., U.S.),
    initials and list numbers (1.).
    """
    spans: list[tuple[int, int]] = []
    start = line = 0
    for match in _candidate.finditer(text):
        begin, end = match.span()
        if begin < start:  # already taken as white space after an end
            continue
        if text[begin] == "\n":
            done = end if _ends_line(text, line, begin, end) else 0
            line = end
        else:
            done = _after_terminator(text, start, line, begin, end)
            if done and (newline := text.rfind("\n", end, done)) >= 0:
                line = newline + 1
        if done:
            spans.append((start, done))
            start = done
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _after_terminator(text: str, start: int, line: int, begin: int, end: int) -> int:
    """Where the sentence that started at `start` ends if the terminator text[begin:end] ends it, else 0."""
    closed = _closers_end(text, start, end)
    after = _next_text(text, closed)
    spaced = after > closed or after == len(text)
    following = text[after : after + 1]
    if re.search("[。｡！？；]", text[begin:end]):
        return after
    if not spaced and not _cjk.match(following) and following not in "“‘「『（《【":
        return 0
    if "!" in text[begin:end] or "?" in text[begin:end]:
        return 0 if closed > end and following.islower() else after
    if text[begin] == "…" or end - begin > 1:  # an ellipsis, or the dots of a table of contents
        return 0 if following.islower() or following.isdigit() else after
    return after if _full_stop(text, line, begin, closed, after, spaced) else 0


def _full_stop(text: str, line: int, begin: int, closed: int, after: int, spaced: bool) -> bool:
    """Does the single full stop at `begin` end a sentence?"""
    if after == len(text):
        return True
    previous, following = text[begin - 1 : begin], text[after]
    if previous.isspace():  # " . " as old collections print it
        return spaced
    if _cjk.match(previous):
        return True
    if not spaced:  # 3.方法 and v2.版本 are no ends, but end.下一句 is
        return not previous.isdigit()
    near = max(line, begin - 40)
    word = _last_word(text, near, begin)
    low = word.lower()
    if near == line and _enumerator.match(text[line:begin]) and closed == begin + 1:
        return False
    if low in _TITLES or (low == "no" and following.isdigit()):
        return False
    if low in _MAY_END or re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word):
        starter = _word_after.match(text, after, after + 20)
        return (
            following == "\n" or "\n\n" in text[closed:after] or (starter is not None and starter.group() in _STARTERS)
        )
    if len(word) == 1 and word.isupper() and not (closed > begin + 1):
        return "\n\n" in text[closed:after]
    # Writers who never use capitals: a plain long word ends a sentence all the same.
    return not following.islower() or (len(word) > 4 and word.isalpha())


def _ends_line(text: str, line: int, begin: int, end: int) -> bool:
    """Does the line break text[begin:end] end the sentence, or was the line text[line:begin] only wrapped?"""
    if end == len(text) or text.count("\n", begin, end) > 1 or "\f" in text[begin:end]:
        return True
    if _own_line.match(text, end) or text[line : line + 1] in ("#", "|"):
        return True
    last = text[begin - 1 : begin]
    if last in ("，", "、", ","):
        return False
    if begin - line < _WRAP_COLUMNS and begin - line + len(_wide.findall(text, line, begin)) < _WRAP_COLUMNS:
        return not text[end].islower()
    return False


def _last_word(text: str, low: int, high: int) -> str:
    match = _word_before.search(text[low:high])
    return match.group() if match else ""


def _closers_end(text: str, start: int, end: int) -> int:
    """The end of the closing marks at `end`; a straight quote closes only what this sentence opened."""
    match = _closers.match(text, end)
    closed = match.end() if match else end
    if '"' in text[end:closed] and text.count('"', max(start, end - 2000), end) % 2 == 0:
        closed = text.index('"', end)
    return closed


def _next_text(text: str, at: int) -> int:
    match = _space.match(text, at)
    return match.end() if match else at
