"""Claims whose truth is known, made from any collection: statements of the notes in another shape, and false twins.

A true claim is a sentence of a note with an inner clause left out, or with its clauses in another order, so that it is
not simply the text of its source. Its false twins have one number, or one name, exchanged for another of the
collection. Claims that a person wrote (`read_claims`) say the same in other words, in both languages.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassbox_tui.lab.jsonl import json_lines, text_of
from glassbox_tui.text.sentences import sentences
from glassbox_tui.text.tokens import content_runs

_clause = re.compile(r"[^，,；;]+[，,；;]?\s*")
_edges = " ，,；;：:。.!?！？\n"
_mark = re.compile(r"[`*_|#>]|^\s*(?:[-+]|\d{1,3}[.)、])\s+", re.M)
_number = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w.]*\d)")
_latin = re.compile(r"(?<![\w-])[A-Z][A-Za-z]{2,}(?![\w-])")
_han = re.compile("[\u4e00-\u9fff]+")
# A sentence shorter or longer than this makes no good claim; what is left after a cut must say something.
_SHORT, _LONG, _LEAST = 20, 160, 14


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A true `text`, the `note` it is from, and false twins by what was exchanged ("number", "name", "word").

    `kind` groups claims in a report: "made", or what a person wrote there.
    """

    text: str
    note: str
    kind: str
    false: Mapping[str, str]


def read_claims(path: Path) -> list[LabelledClaim]:
    """Lines of {"claim", "swapped", "changed", "source", "kind"}; without "changed" the twin counts as "by hand".

    Raises LabError with the line that cannot be used.
    """
    return [
        LabelledClaim(
            text_of(row, "claim", where),
            text_of(row, "source", where),
            text_of(row, "kind", where),
            {text_of(row, "changed", where, "by hand"): text_of(row, "swapped", where)},
        )
        for where, row in json_lines(path)
    ]


def made_claims(notes: Mapping[str, str], count: int, rareness: Callable[[str], float]) -> list[LabelledClaim]:
    """At most `count` claims from the notes {path: text}, the same ones each time.

    `rareness`: the idf of a Chinese word; the rarest word of a claim without Latin names is what "name" exchanges.
    """
    chance = random.Random(0)
    stated = [(path, sentence) for path, text in sorted(notes.items()) for sentence in _sentences(text)]
    chance.shuffle(stated)
    numbers = sorted({n for _, sentence in stated for n in _number.findall(sentence)})
    latin = sorted({n for _, sentence in stated for n in _latin.findall(sentence)})
    words = sorted({w for _, sentence in stated for w in _words(sentence)})
    found: list[LabelledClaim] = []
    for path, sentence in stated:
        claim = reshaped(sentence, chance)
        if len(found) < count and claim is not None:
            twins = {
                "number": _exchanged(claim, _number.findall(claim), numbers, chance),
                "name": _exchanged(claim, _latin.findall(claim), latin, chance)
                or _exchanged(claim, sorted(sorted(_words(claim)), key=rareness)[-1:], words, chance),
            }
            found.append(LabelledClaim(claim, path, "made", {k: twin for k, twin in twins.items() if twin}))
    return found


def reshaped(sentence: str, chance: random.Random) -> str | None:
    """The sentence less an inner clause, or with its two clauses the other way round; None if it has but one."""
    clauses = [clause.strip(_edges) for clause in _clause.findall(sentence)]
    clauses = [clause for clause in clauses if clause]
    if len(clauses) < 2:
        return None
    if len(clauses) == 2:
        clauses.reverse()
    else:
        del clauses[chance.randrange(1, len(clauses) - 1)]  # less its end, it would still stand in the note
    claim = ("，" if _han.search(sentence) else ", ").join(clauses)
    return claim if len(claim) >= _LEAST else None


def _sentences(text: str) -> list[str]:
    plain = _mark.sub("", text)
    found = (" ".join(plain[start:end].split()) for start, end in sentences(plain))
    return [sentence for sentence in found if _SHORT <= len(sentence) <= _LONG]


def _words(text: str) -> set[str]:
    """Chinese words of two to four characters, as far as function words tell them apart."""
    return {run for han in _han.findall(text) for run in content_runs(han) if 2 <= len(run) <= 4}


def _exchanged(claim: str, mine: Sequence[str], all_: Sequence[str], chance: random.Random) -> str | None:
    """The claim with one of `mine` replaced by another of about the same length."""
    if not mine:
        return None
    old = chance.choice(list(mine))
    others = [new for new in all_ if new not in claim and abs(len(new) - len(old)) <= (0 if _han.match(old) else 2)]
    return claim.replace(old, chance.choice(others), 1) if others else None
