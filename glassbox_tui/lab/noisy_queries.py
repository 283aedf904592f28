"""Labelled questions with one word of each spoiled: `eval --rounds 3` on them measures what the loop mends.

    python -m glassbox_tui.lab.noisy_queries NOTES QUERIES [--synonyms FILE] [--seed N] > noisy.jsonl

Kinds: `insert`, `delete`, `replace`, `swap` (one letter of a word in letters, never the first), `split` and `joined`
(a blank too many or too few), and with a file of synonyms `synonym` (a word that the notes lack in place of one that
they hold). A spoiled word stands nowhere in the notes; a question gets one word spoiled for each kind that it allows.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.wordlist import words_of
from glassbox_tui.lab.queries import LabelledQuery, read_queries
from glassbox_tui.notes.synonyms import read_synonyms
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import load_settings
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.spelling import WordList, Written, written
from glassbox_tui.text.synonyms import NONE, Synonyms, spoken_of
from glassbox_tui.text.tokens import terms

LEAST = 5  # letters of a word that is spoiled
LETTERS = "abcdefghijklmnopqrstuvwxyz"
EDITS = ("insert", "delete", "replace", "swap")


def noisy_queries(
    queries: Sequence[LabelledQuery], words: WordList, synonyms: Synonyms = NONE, seed: int = 1
) -> Iterator[LabelledQuery]:
    """The spoiled questions, in the order of `queries`; `words` are those of the notes. One seed, one outcome."""
    chance = random.Random(seed)
    for labelled in queries:
        held = [w for w in written(labelled.query) if not w.code and len(w.text) >= LEAST and fold(w.text) in words]
        held = [w for w in held if terms(w.text)]
        for kind, change in _CHANGES.items():
            places = list(held)
            chance.shuffle(places)
            for word in places:
                spoilt = change(word.text, chance)
                if spoilt and not any(fold(part) in words for part in spoilt.split()):
                    yield _with(labelled, word, spoilt, kind)
                    break
        if joined := _joined(labelled.query, words, chance):
            yield LabelledQuery(joined, labelled.relevant, labelled.answers, "joined")
        for known in spoken_of(labelled.query, synonyms):
            lacking = [other for other in known.others if not any(fold(w.text) in words for w in written(other))]
            if lacking:
                text = labelled.query[: known.start] + chance.choice(lacking) + labelled.query[known.end :]
                yield LabelledQuery(text, labelled.relevant, labelled.answers, "synonym")
                break


def _with(labelled: LabelledQuery, word: Written, spoilt: str, kind: str) -> LabelledQuery:
    text = labelled.query[: word.start] + spoilt + labelled.query[word.end :]
    return LabelledQuery(text, labelled.relevant, labelled.answers, kind)


def _insert(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) + 1)
    return word[:at] + chance.choice(LETTERS) + word[at:]


def _delete(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _replace(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + chance.choice([c for c in LETTERS if c != word[at].lower()]) + word[at + 1 :]


def _swap(word: str, chance: random.Random) -> str:
    pairs = [at for at in range(1, len(word) - 1) if word[at] != word[at + 1]]
    if not pairs:
        return ""
    at = chance.choice(pairs)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _split(word: str, chance: random.Random) -> str:
    at = chance.randrange(2, len(word) - 1)
    return f"{word[:at]} {word[at:]}"


_CHANGES: dict[str, Callable[[str, random.Random], str]] = {
    "insert": _insert,
    "delete": _delete,
    "replace": _replace,
    "swap": _swap,
    "split": _split,
}


def _joined(question: str, words: WordList, chance: random.Random) -> str:
    """The question with the blank between two content words left out; "" if it has no such two."""
    found = written(question)
    pairs = [
        (a, b)
        for a, b in pairwise(found)
        if not (a.code or b.code) and question[a.end : b.start] == " " and terms(a.text) and terms(b.text)
    ]
    pairs = [(a, b) for a, b in pairs if fold(a.text) in words and fold(b.text) in words]
    pairs = [(a, b) for a, b in pairs if fold(a.text + b.text) not in words]
    if not pairs:
        return ""
    a, b = chance.choice(pairs)
    return question[: a.end] + question[b.start :]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m glassbox_tui.lab.noisy_queries", description=__doc__)
    parser.add_argument("notes", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--synonyms", default="", help="a file as `synonyms.txt` in the notes folder")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    try:
        with Engine.open(asked.notes, load_settings()) as engine:
            engine.update()
            synonyms, notices = read_synonyms(None, asked.synonyms)
            for notice in notices:
                print(notice, file=sys.stderr)
            for q in noisy_queries(read_queries(asked.queries), words_of(engine.snapshot), synonyms, asked.seed):
                row = {"query": q.query, "relevant": dict(q.relevant), "answers": q.answers, "kind": q.kind}
                print(json.dumps(row, ensure_ascii=False))
    except GlassboxError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
