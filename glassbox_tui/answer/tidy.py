"""A model's text as it is shown: without what it wraps around its answer, its citations checked, no sentence twice.

`tidy` is a pure function of all that was written so far, so it does not matter how a stream is cut. Of a text that may
go on it holds back the end where that may still turn out to be something else: what was shown stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from glassbox_tui.answer.citations import checked, citations_in
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.sentences import sentences
from glassbox_tui.text.turns import own_turn

# What polite models begin with.
_wrapper = re.compile(
    r"""(?:
        (?:sure|certainly|of\ course|okay|ok|absolutely|好的|当然可以|当然|没问题)[!,.！，。:：]\s*
      | here(?:['’]s|\ is|\ are)\ [^\n:.?!]{0,60}:\s*
      | (?:以下是|下面是|这是)[^\n：:。]{0,30}[：:]\s*
      | \**(?:final\ |short\ )?answer\**[ \t]*:\**\s*
      | \**(?:回答|答案|答)\**[ \t]*[：:]\**\s*
      | \**(?:question|问题)\**[ \t]*[：:][^\n]{0,300}\n\s*
      | ```[\w+-]*[ \t]*\n\s*
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_STARTS = (
    *("sure", "certainly", "of course", "okay", "ok", "absolutely", "here", "final", "short", "answer", "question"),
    *("好的", "当然", "没问题", "以下是", "下面是", "这是", "回答", "答", "问题", "`", "*"),
)
_LONGEST_WRAPPER = 320
_fence_end = re.compile(r"\n```[ \t]*(?=\n|\Z)")
# A line as our own prompt has them: the model goes on to a question of its own.
_echo = re.compile(r"\n[ \t]*\**(?:question|问题)\**[ \t]*[:：]", re.IGNORECASE)
# A line is looked at once it has begun for good: a quote mark copied from the prompt, the end of a fence, an echo.
_undecided = re.compile(r"\n[ \t>`*]*[^\n]{0,11}\Z")
_quote_mark = re.compile(r"(?m)^[ \t]*(?:>[ \t]?)+")
# A passage's number as our prompt has it, on a line of its own above the quotation; and in front of where it stands.
_number_line = re.compile(r"[ \t>*]*\[\d{1,3}\][ \t:*]*")
_number = re.compile(
    r"[ \t>*_#-]*(?:(?:passage|段落)[ \t]*)?[\[［【(]?\d{1,3}[\]］】).:：]*[ \t:：*_-]*", re.IGNORECASE
)
_open, _closed = "[［【", "]］】"
_LONGEST_CITATION = 60
_cut_citation = re.compile(r"\s*[\[［【]\^?[\d\s,，、;；–-]*\Z")
# A sentence of fewer letters may well be said twice; an ideograph counts as two.
_SAYS_SOMETHING = 12
# A stretch that comes five times, one right after the other, and fills this much.
_loop = re.compile(r"(.{1,60}?)\1{4,}\Z", re.DOTALL)
_LOOP_CHARS, _LOOKED_AT = 60, 400
# Lines of numbers alone at the end, which may be the beginning of a count: 1, 2, 3 and no end.
_numbers = re.compile(r"(?:\A|\n)(?:[ \t]*\d{1,4}[.)]?[ \t]*(?:\n\s*|\Z))+\Z")
_COUNTS = 5


@dataclass(frozen=True, slots=True)
class Tidy:
    """`text` to show; `removed`: numbers it cited that stand for no passage. `over`: nothing more is wanted of it.

    `repeats`: it began to say what it had said before. `copied`: lines of our prompt were left out.
    """

    text: str
    removed: tuple[int, ...] = ()
    repeats: bool = False
    over: bool = False
    copied: bool = False


def tidy(written: str, sources: int, *, places: Sequence[str] = (), done: bool = True) -> Tidy:
    """What to show of `written`, an answer from passages 1 to `sources`. Not `done`: more may come.

    `places`: the lines of the prompt that say where its passages stand; a copy of one is no answer.
    """
    turn, ended = own_turn(written, done)
    done = done or ended
    body = _unwrapped(turn, done)
    echo = _echo.search(body)
    if echo is not None:
        body, done = body[: echo.start()], True
    if done:
        body = _cut_citation.sub("", body)
    else:
        undecided = _undecided.search(body)
        body = body[: undecided.start() if undecided else len(body)]
    own = _own_lines(body, places, done)
    copied = own != body
    body = own.lstrip() if copied else body
    if not done:
        body = body[: _open_bracket(body)]
    found = checked(_quote_mark.sub("", body).lstrip(), sources)
    text, repeats = _once(found.text, done)
    text, counts = _without_count(text, done)
    repeats = repeats or counts
    return Tidy(text.rstrip(), found.removed, repeats, repeats or ended or echo is not None, copied)


def _own_lines(body: str, places: Sequence[str], done: bool) -> str:
    """Without lines copied from the prompt: where a passage stands, and its number above a quotation.

    A path without headings is no copy: it may be what was asked for. Not `done`: without a last line that may become
    a copy.
    """
    known = {_letters(place) for place in places if " > " in place}
    lines, kept = body.split("\n"), list[str]()
    for at, line in enumerate(lines):
        begun = at == len(lines) - 1 and not done
        said = {_letters(line), _letters(_number.sub("", line, count=1))}
        below = "" if at == len(lines) - 1 else lines[at + 1].lstrip()
        number_alone = _number_line.fullmatch(line) is not None
        if begun and (number_alone or any(place.startswith(words) for place in known for words in said)):
            break
        if said & known or (number_alone and below.startswith(">")):
            continue
        kept.append(line)
    return "\n".join(kept)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))


def _unwrapped(written: str, done: bool) -> str:
    """Without what comes before the answer, and without the fence around it; "" while that cannot be told."""
    body = written.lstrip()
    fenced = False
    while wrapper := _wrapper.match(body):
        fenced = fenced or body.startswith("```")
        body = body[wrapper.end() :]
    if not done and "\n" not in body and len(body) < _LONGEST_WRAPPER:
        begun = body.lower()
        if any(begun.startswith(start) or start.startswith(begun) for start in _STARTS):
            return ""
    return _fence_end.sub("", body, count=1) if fenced else body


def _open_bracket(text: str) -> int:
    """Where a citation begins that is not closed yet; the length of the text if there is none."""
    at, depth = len(text), 0
    for place in range(len(text) - 1, max(-1, len(text) - _LONGEST_CITATION), -1):
        if text[place] in _closed:
            depth += 1
        elif text[place] in _open:
            if depth:
                depth -= 1
            else:
                at = place
    return at


def _once(text: str, done: bool) -> tuple[str, bool]:
    """(the text up to where it says a sentence again, whether it does)."""
    seen: set[str] = set()
    spans = sentences(text)
    for start, end in spans:
        words = _words(text[start:end])
        if end == len(text) and not done and any(known.startswith(words) for known in seen):
            return text[:start], False  # so far it is an earlier one
        if words in seen and len(words) + sum(not char.isascii() for char in words) >= _SAYS_SOMETHING:
            return text[:start], True
        seen.add(words)
    loop = _loop.search(text[-_LOOKED_AT:])
    return text, loop is not None and len(loop[0]) >= _LOOP_CHARS and any(map(str.isalnum, loop[1]))


def _without_count(text: str, done: bool) -> tuple[str, bool]:
    """(the text up to where it only counts, whether it does). Of numbers at the end that may become a count nothing is
    shown yet."""
    found = _numbers.search(text)
    if found is None:
        return text, False
    numbers = [int(number) for number in re.findall(r"\d+", found[0])]
    counts = len(numbers) >= _COUNTS and all(b == a + 1 for a, b in pairwise(numbers))
    return (text[: found.start()], counts) if counts or not done else (text, False)


def _words(sentence: str) -> str:
    """Its letters and digits alone, without citations and the number in front of a list's item."""
    for start, end, _ in reversed(citations_in(sentence)):
        sentence = sentence[:start] + sentence[end:]
    return _letters(sentence).lstrip("0123456789")
