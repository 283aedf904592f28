"""What can be compared exactly between a claim and its source: numbers, Latin names and identifiers, quoted words.

Embeddings hardly tell 48 bytes from 96; here the two differ. Numbers are compared by value (`numbers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from glassbox_tui.answer.numbers import counts, held, numbers
from glassbox_tui.text.language import language_of
from glassbox_tui.text.normalize import fold, fold_spans, source_span
from glassbox_tui.text.tokens import content_terms, tokenize

_latin = re.compile(r"(?:(?![\u2e80-\uffff])[^\W\d_])(?:(?![\u2e80-\uffff])[\w+#'’.-])*(?<![.'’-])")
_identifier = re.compile(r"\d|_|[a-z][A-Z]|^[A-Z][A-Z]|[a-z]{2}\.[a-z]{2}")
_quoted = re.compile(r"《([^《》]{1,20})》|“([^“”]{1,20})”|「([^「」]{1,20})」")
# Before a word that has a capital for no other reason than its place; "Dr. Lee" is not one.
_sentence_start = re.compile(r"(?:^|\w{4}[.!?:]\s+|^[-*\d.\s]+)$")
# A first word with such an end is hardly a name: Holding, Compared, Normalisation, Threads.
_no_name = re.compile(r"(?:ing|ed|ly|ion|ity|s)$")
_cjk = re.compile("[\u3400-\u9fff]")
_cjk_run = re.compile("[\u3400-\u9fff]+")


def missing(claim: str, source: str) -> tuple[str, ...]:
    """The numbers, names and quoted words of `claim`, as they stand there, that `source` does not hold; each once.

    A number is also missing if what it counts is counted in the source, and never by that number.
    """
    values, pairs = held(fold(source))
    units = {unit for _, unit in pairs}
    lost: dict[str, None] = {}
    folded, offsets = fold_spans(claim)
    for number in numbers(folded):
        known = [value for value in number.values if value in values]
        other = number.unit in units and not any((value, number.unit) in pairs for value in known)
        if (not known or other) and counts(folded, number):
            a, b = source_span(offsets, number.start, number.end)
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


def exchanged_names(claim: str, sentence: str, source: str) -> tuple[str, ...]:
    """Names of a claim that may stand for another: the `source` lacks them, and its `sentence` has one the claim lacks.

    For what `missing` cannot know: a name at the start of a sentence looks like any word there, and one in a Chinese
    source may be written in ideographs.
    """
    if language_of(claim) == "cjk":
        return ()
    said = _letters(claim)
    if all(_letters(name) in said for name in _names(sentence)):
        return ()
    return tuple(name for name in _candidates(claim) if not _knows(source, name))


def _candidates(claim: str) -> Iterator[str]:
    for match in _latin.finditer(claim):
        name = re.sub(r"['’]s$", "", match.group())
        starts = _sentence_start.search(claim[: match.start()]) is not None
        if name[0].isupper() and len(name) > 2 and content_terms(name) and not (starts and _no_name.search(name)):
            yield name


def _names(sentence: str) -> Iterator[str]:
    """What a source calls by name: in Chinese any Latin word, else words with a capital that no start gave them."""
    chinese = language_of(sentence) == "cjk"
    for match in _latin.finditer(sentence):
        name = re.sub(r"['’]s$", "", match.group())
        inside = bool(re.search(r"[\w,;:*`]\W{1,3}$", sentence[: match.start()]))
        if len(name) > 2 and content_terms(name) and (chinese or (name[0].isupper() and inside)):
            yield name


def _missing_names(claim: str, source: str) -> Iterator[str]:
    chinese_claim, chinese_source = (language_of(text) == "cjk" for text in (claim, source))
    for match in _latin.finditer(claim):
        name = match.group()
        is_identifier = bool(_identifier.search(name)) and len(name) > 1
        is_name = name[0].isupper() and len(name) > 1 and not _sentence_start.search(claim[: match.start()])
        # A Latin name may be written in ideographs in a Chinese source, an identifier will not.
        counts_here = is_identifier or (chinese_claim and len(name) > 1) or (is_name and not chinese_source)
        if counts_here and not _knows(source, name):
            yield name


def _knows(source: str, name: str) -> bool:
    """Is the name there, in one piece or another? Of err_code_17 or os.path each part has to be."""
    terms = {token.term for token in tokenize(source)}
    parts = [part for part in re.split(r"[._+]", name) if part]
    return _letters(name) in _letters(source) or all(
        any(token.term in terms for token in tokenize(part)) for part in parts
    )


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", fold(text))
