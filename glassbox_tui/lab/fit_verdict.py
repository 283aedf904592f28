"""Fits the weights of the verdict: labelled questions with the right note in the index, and with it taken out.

    python -m glassbox_tui.lab.fit_verdict [--each N] [--kin NAME,... ...] [--save FILE | --load FILE]
                                           [--write] [NOTES QUERIES ...]

Each question is asked as it is and, unless it says itself whether it is `answerable`, once more with its notes taken
out; some questions of all other collections are asked of each, which knows nothing of their subject (`--kin` names
those that may know of each other's). What a search with the right note in it does not find among the first hits is left
out: it says nothing about the verdict.

A ridge regression of the log-odds by Newton's method (logistic regression with an L2 penalty), every collection with
the same say. The report reads each half of the questions with weights fitted on the other; what is written is fitted on
both. `--write` puts the weights into `models/fitted.py`; `--save` keeps the signals' values, `--load` fits them again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.dense import splice_dense
from glassbox_tui.index.rows import Forward
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Passages, splice_sparse
from glassbox_tui.lab.calibration import auroc, calibration_error
from glassbox_tui.lab.queries import LabelledQuery, read_queries
from glassbox_tui.models.verdict_weights import Fitted, VerdictWeights
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.loop import ask_first
from glassbox_tui.retrieval.rounds import Pipeline, run_round
from glassbox_tui.settings import load_settings

# Which signals each set of weights knows: few, and only those that help on both halves.
SIGNALS: Mapping[str, tuple[str, ...]] = {
    "LATE": (
        "words",
        "words across",
        "rare",
        "literals",
        "named",
        "names",
        "meaning",
        "words margin",
        "dense",
        "dense margin",
        "rerank margin",
        "agreement",
        "other language",
        "chinese",
    ),
    "DENSE": (
        "words",
        "words across",
        "rare",
        "literals",
        "named",
        "names",
        "words margin",
        "dense",
        "dense margin",
        "agreement",
        "other language",
        "chinese",
    ),
    "WORDS": ("words", "rare", "literals", "named", "names", "words margin", "chinese"),
}
ALL = tuple(dict.fromkeys(name for names in SIGNALS.values() for name in names))
FOUND = 3  # first hits among which the right note must be: those whose words count
STRANGERS = 120  # questions of other collections that each is asked
BLOCK = 20  # questions in a row that fall into one half: neighbours are often about one note
PENALTY = 1.0
SAY = 300.0  # what all questions of a collection weigh together
TOLD = 8
PRIOR = 0.6  # how many questions are taken to have an answer: people ask their notes for what they put there
STRANGE = 0.2  # how many more are about something else altogether
EITHER_WAY = ("other language", "chinese")  # which have no side; all other signals speak for an answer
SILENT = (*EITHER_WAY, "literals", "named", "names")  # at 0: a share is said where there is something to say
# The least weight of a version, date, id or amount that is missing. Hardly any such search has an answer; left to
# itself the fit explains that by words and rare words, and release 3.3.3 passes for 3.3.4.
LITERALS = 6.0
# The most weight of a rare thing that is held. The labels know no question that names an id which is there and asks for
# what is not said of it ("who was born on 3 February"); left to itself the fit calls each of them answered.
NAMED = 3.5
# Above the first nearly nine in ten of the questions with labels and an answer are, and one in ten of those without.
# Below the second six in ten of the questions about something else altogether are, and one in thirty with an answer:
# "nothing" is the harder word to take back.
ANSWERED, RELATED = 0.63, 0.12

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One search: its signals, whether the answer was in the index, its collection and half (0, 1), its weights.

    `stranger`: a question of another collection. `told`: the labels say whether it is answerable.
    """

    values: Mapping[str, float]
    answerable: bool
    collection: str
    half: int
    weights: str
    stranger: bool = False
    told: bool = False


# -- collecting ------------------------------------------------------------------------------------------------------


def collect(sources: Sequence[tuple[Path, Path]], each: int, kin: Sequence[Collection[str]] = ()) -> Iterator[Example]:
    """The examples of all collections, `each` questions of one at most; those that stand together in
    `kin` may hold answers to each other's questions. Raises what an engine raises, and LabError.
    """
    asked = {name_of(notes): _spread(read_queries(queries), each) for notes, queries in sources}
    for notes, _ in sources:
        name = name_of(notes)
        print(f"{name} ...", file=sys.stderr)
        strange = [other for other in asked if other != name and not any(name in k and other in k for k in kin)]
        strangers = [query for other in strange for query in _spread(asked[other], STRANGERS // len(strange))]
        with Engine.open(notes, load_settings()) as engine:
            engine.update()
            yield from _of_collection(engine, name, asked[name], strangers)


def name_of(notes: Path) -> str:
    return notes.parent.name if notes.name == "notes" else notes.name


def _spread(queries: Sequence[LabelledQuery], most: int) -> list[LabelledQuery]:
    """At most `most` of the questions, as evenly as can be, in blocks that stay together."""
    queries = [query for query in queries if query.query.strip()]
    return list(queries[:: -(-len(queries) // most)])


def _of_collection(
    engine: Engine, name: str, asked: Sequence[LabelledQuery], strangers: Sequence[LabelledQuery]
) -> Iterator[Example]:
    probe = VerdictWeights(0.0, dict.fromkeys(ALL, (1.0, 0.0)), 0.5, 0.5, "")
    usual = replace(engine.pipeline(explain=False), fitted=Fitted(probe, probe, probe))
    pipes = {"LATE": usual, "DENSE": replace(usual, reranker=None), "WORDS": replace(usual, mode="bm25")}
    paths = {note.path for note in engine.snapshot.notes}
    for number, query in enumerate(asked):
        half = number // BLOCK % 2
        if query.answerable is not None:
            yield from _examples(pipes, query, query.answerable, name, half)
            continue
        yield from _examples(pipes, query, True, name, half)
        gone = {uid if uid in paths else uid.rpartition("#")[0] for uid, grade in query.relevant.items() if grade > 0}
        emptied = without(engine.snapshot, gone)
        lacking = {weights: replace(pipe, snapshot=emptied) for weights, pipe in pipes.items()}
        yield from _examples(lacking, query, False, name, half)
    for number, query in enumerate(strangers):
        yield from (replace(e, stranger=True, told=False) for e in _examples(pipes, query, False, name, number % 2))


def _examples(
    pipes: Mapping[str, Pipeline], query: LabelledQuery, answerable: bool, name: str, half: int
) -> Iterator[Example]:
    for weights, pipe in pipes.items():
        round_ = run_round(ask_first(query.query, pipe), pipe).round
        final = round_.stage("final")
        first = [c.uid for c in final.candidates[:FOUND]] if final is not None else []
        right = [uid for uid in first if query.relevant.get(uid, query.relevant.get(uid.rpartition("#")[0], 0.0)) > 0]
        if not first or (answerable and query.relevant and not right):
            continue
        values = {signal.name: signal.value for signal in round_.grade.signals if signal.value is not None}
        yield Example(values, answerable, name, half, weights, told=query.answerable is not None)


def without(snapshot: Snapshot, paths: set[str]) -> Snapshot:
    """The index as it would be without these notes: no frequency and no length remembers them."""
    kept = np.array([chunk.path not in paths for chunk in snapshot.chunks], dtype=bool)
    names = list(dict.fromkeys(chunk.path for chunk in snapshot.chunks))
    kept_notes = np.array([name not in paths for name in names], dtype=bool)
    place, note_place = _places(kept), _places(kept_notes)
    chunks = tuple(chunk for chunk, keep in zip(snapshot.chunks, kept, strict=True) if keep)
    none, nothing = (
        np.zeros(0, np.int32),
        Forward({}, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)),
    )
    return Snapshot(
        notes=tuple(note for note in snapshot.notes if note.path not in paths),
        chunks=chunks,
        row_of={chunk.uid: i for i, chunk in enumerate(chunks)},
        passages=Passages(
            splice_sparse(snapshot.passages.chunks, place, none, nothing),
            splice_sparse(snapshot.passages.notes, note_place, none, nothing),
            note_place[snapshot.passages.note_of[kept]],
        ),
        dense=splice_dense(snapshot.dense, place, {}),
    )


def _places(kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The new numbers of what is kept, -1 for what is not."""
    return np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)


# -- fitting ---------------------------------------------------------------------------------------------------------


def newton(x: Matrix, y: Matrix, says: Matrix, penalty: float = PENALTY) -> Matrix:
    """(1 + signals,) the intercept and weights of the least log loss plus penalty / 2 times their squares."""
    x = np.column_stack([np.ones(len(x)), x])
    ridge = np.full(x.shape[1], penalty)
    ridge[0] = 1e-6
    beta = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30.0, 30.0)))
        gradient = x.T @ (says * (y - p)) - ridge * beta
        hessian = (x * (says * p * (1.0 - p))[:, None]).T @ x + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        beta += step
        if float(np.abs(step).max()) < 1e-9:
            break
    return beta


def fit(examples: Sequence[Example], names: Sequence[str], about: str = "") -> VerdictWeights:
    """Weights for these signals: those that would speak against their own name are left out, one after another.

    Every collection has the same say, those that say what is answerable TOLD times it. Within one PRIOR belongs to the
    answers, the rest to their absence.
    """
    x, y = _arrays(examples, names)
    spread = np.maximum(x.std(axis=0), 1e-6)
    beta = newton(x / spread, y, _says(examples))
    weights = beta[1:] / spread
    wrong = [(float(w * s), n) for w, s, n in zip(weights, spread, names, strict=True) if w < 0 and n not in EITHER_WAY]
    if wrong:
        return fit(examples, [name for name in names if name != min(wrong)[1]], about)
    # A share is what speaks for an answer, or against it, beside the usual.
    silent = [name in SILENT for name in names]
    usual = np.where(silent, 0.0, (x[y == 1].mean(axis=0) + x[y == 0].mean(axis=0)) / 2)
    start = float(beta[0] + weights @ usual)
    signals = {n: (round(float(w), 3), round(float(u), 3)) for n, w, u in zip(names, weights, usual, strict=True)}
    if "literals" in signals:
        signals["literals"] = (max(LITERALS, signals["literals"][0]), 0.0)
    if "named" in signals:
        signals["named"] = (min(NAMED, signals["named"][0]), 0.0)
    return VerdictWeights(round(start, 3), signals, ANSWERED, RELATED, about)


def _says(examples: Sequence[Example]) -> Matrix:
    """What each example weighs."""
    groups = [(e.collection, e.answerable, e.stranger) for e in examples]
    sizes = Counter(groups)
    told = {e.collection for e in examples if e.told}
    says = []
    for collection, answerable, stranger in groups:
        share = STRANGE if stranger else PRIOR if answerable else 1 - PRIOR
        says.append(SAY * share * (TOLD if collection in told else 1.0) / sizes[collection, answerable, stranger])
    return np.array(says, dtype=np.float64)


def probabilities(examples: Sequence[Example], weights: VerdictWeights) -> Matrix:
    x, _ = _arrays(examples, list(weights.signals))
    by = np.array([w for w, _ in weights.signals.values()])
    usual = np.array([u for _, u in weights.signals.values()])
    # A signal that a search did not have has no share.
    has = np.array([[name in e.values for name in weights.signals] for e in examples])
    logits = weights.start + (np.where(has, x - usual, 0.0) * by).sum(axis=1)
    p: Matrix = 1.0 / (1.0 + np.exp(-logits))
    return p


def _arrays(examples: Sequence[Example], names: Sequence[str]) -> tuple[Matrix, Matrix]:
    x = np.array([[e.values.get(name, 0.0) for name in names] for e in examples], dtype=np.float64)
    return x, np.array([float(e.answerable) for e in examples])


# -- telling ---------------------------------------------------------------------------------------------------------


def read_across(examples: Sequence[Example], names: Sequence[str]) -> Matrix:
    """The probability of each example, with weights fitted on the other half."""
    p = np.zeros(len(examples))
    half = np.array([e.half for e in examples])
    for side in (0, 1):
        mine, others = ([e for e in examples if (e.half == side) is same] for same in (True, False))
        if mine and others:
            p[half == side] = probabilities(mine, fit(others, names))
    return p


def report(examples: Sequence[Example], p: Matrix) -> Iterator[str]:
    """How each half does with the weights of the other, by collection."""
    yield f"{'':16} questions   AUROC   ECE  answered, of the answerable / of the others"
    for name in (*dict.fromkeys(e.collection for e in examples), ""):
        chosen = [i for i, e in enumerate(examples) if e.collection == name or not name]
        yield _line(name or "all", [examples[i] for i in chosen], p[chosen])


def _line(name: str, examples: Sequence[Example], p: Matrix) -> str:
    y = np.array([e.answerable for e in examples])
    cuts = "  ".join(
        f"{cut}: {np.mean(p[y] >= cut):.2f} / {np.mean(p[~y] >= cut):.2f}" for cut in (RELATED, 0.5, ANSWERED)
    )
    area, error = auroc(p[y].tolist(), p[~y].tolist()), calibration_error(p.tolist(), y.tolist())
    return f"{name:16} {len(y):9} {area:7.3f} {error:5.3f}  {cuts}"


def snippet(sets: Mapping[str, VerdictWeights]) -> str:
    """The text of `models/fitted.py`."""
    lines = [
        '"""The weights of the verdict, written by `python -m glassbox_tui.lab.fit_verdict --write`, not by hand."""',
        "",
        "from __future__ import annotations",
        "",
        "from glassbox_tui.models.verdict_weights import VerdictWeights",
    ]
    for name, weights in sets.items():
        lines += ["", f"{name} = VerdictWeights("]
        lines += [f"    start={weights.start},", "    signals={"]
        lines += [f'        "{signal}": {values},' for signal, values in weights.signals.items()]
        lines += ["    },", f"    answered={weights.answered},", f"    related={weights.related},"]
        told = wrap(weights.fitted, 100, drop_whitespace=False) or [""]
        lines += ["    fitted=(", *(f"        {json.dumps(part, ensure_ascii=False)}" for part in told), "    ),", ")"]
    return "\n".join(lines) + "\n"


def about(examples: Sequence[Example], p: Matrix) -> str:
    """How the weights were found, and what they are worth, for the catalog."""
    y = np.array([e.answerable for e in examples])
    names = ", ".join(dict.fromkeys(e.collection for e in examples))
    area, error = auroc(p[y].tolist(), p[~y].tolist()), calibration_error(p.tolist(), y.tolist())
    return (
        f"{len(examples)} searches on {names}, the right note there or taken out, each half read with the weights"
        f" of the other: AUROC {area:.3f}, calibration error {error:.3f}; {np.mean(p[y] >= ANSWERED):.2f} of the"
        f" answerable and {np.mean(p[~y] >= ANSWERED):.2f} of the others are called answered"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m glassbox_tui.lab.fit_verdict")
    parser.add_argument("--each", type=int, default=300, help="questions of a collection, at most")
    parser.add_argument(
        "--kin", action="append", default=[], help="collections that may answer each other's questions: names"
    )
    parser.add_argument("--save", type=Path, help="keep the signals' values in this file")
    parser.add_argument("--load", type=Path, help="fit the values of this file; nothing is searched")
    parser.add_argument("--write", action="store_true", help="put the weights into models/fitted.py")
    parser.add_argument("sources", nargs="*", type=Path, metavar="NOTES QUERIES")
    given = parser.parse_args(arguments)
    if given.load:
        examples = [Example(**json.loads(line)) for line in given.load.read_text("utf-8").splitlines()]
    else:
        examples = []
        with given.save.open("w", encoding="utf-8") if given.save else nullcontext(StringIO()) as file:
            sources = [(a, b) for a, b in list(pairwise(given.sources))[::2]]
            for example in collect(sources, given.each, [names.split(",") for names in given.kin]):
                examples.append(example)
                file.write(json.dumps(asdict(example)) + "\n")
    sets = {}
    for name, signals in SIGNALS.items():
        mine = [e for e in examples if e.weights == name]
        p = read_across(mine, signals)
        print(f"\n{name}: {', '.join(signals)}", *report(mine, p), sep="\n")
        sets[name] = fit(mine, signals, about(mine, p))
    text = snippet(sets)
    print("", text, sep="\n")
    if given.write:
        from glassbox_tui.models import verdict_weights

        Path(verdict_weights.__file__).with_name("fitted.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except GlassboxError as error:
        sys.exit(str(error))
