"""Breaks the program on purpose, one line at a time, and looks which invariants of the selftest fall.

    python tests/selftest/mutate.py             all mutations
    python tests/selftest/mutate.py floor       those with "floor" in their name

A mutation edits the source of one function: `old` must stand in it exactly once. In place of the function every module
then holds the broken one. An invariant that no mutation can bring down proves nothing, so there is one for each.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import pkgutil
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mutation import Mutation
from mutations_index import INDEX_MUTATIONS
from mutations_search import SEARCH_MUTATIONS

from glassbox_tui.notes.bundled import bundled_corpus
from glassbox_tui.selftest.bench import Bench
from glassbox_tui.selftest.check import NOT_RUN, Check, Invariant
from glassbox_tui.selftest.run import invariants
from glassbox_tui.settings import Settings, load_settings

MUTATIONS = (*INDEX_MUTATIONS, *SEARCH_MUTATIONS)

# Few notes, so that a broken index is built in a moment: the ones the questions are about, both languages, a PDF.
NOTES = ("01-*", "04-*", "10-*", "16-*", "18-*", "19-*", "25-*")


class MutationError(Exception):
    """The source is no longer what the mutation thinks it is: bring the mutation up to date."""


@dataclass(frozen=True)
class Benches:
    """A bench with the hashing embedder and one with the bundled model, both over NOTES, indexed once."""

    corpus: Path
    one_note: Path
    scratch: Path
    hashing: Bench
    model: Bench

    def for_mutation(self, mutation: Mutation) -> Bench:
        """A bench that remembers no search; with an index of its own if the mutation is about indexing."""
        bench = copy.copy(self.model if mutation.model else self.hashing)
        bench._traces = {}
        if mutation.fresh:
            folder = Path(tempfile.mkdtemp(dir=self.scratch))
            # The model is loaded already: its embedder is handed on. It takes its time, so one note has to do.
            corpus = self.one_note if mutation.model else self.corpus
            bench = Bench(bench.user, corpus, folder, embedder=bench.embedder)
        return bench


@contextmanager
def open_benches(settings: Settings) -> Iterator[Benches]:
    """`settings` say where the models are kept."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        corpus = scratch / "notes"
        corpus.mkdir()
        for pattern in NOTES:
            for file in bundled_corpus().glob(pattern):
                shutil.copy(file, corpus)
        for part in ("hashing", "model", "one"):
            (scratch / part).mkdir()
        shutil.copy(corpus / "16-sqlite-wal.md", scratch / "one")
        # A required reranker: where it is gone, the invariant that says so must fall.
        required = replace(settings, require_rerank=True)
        hashing = Bench(replace(settings, embed_model="hashing"), corpus, scratch / "hashing")
        model = Bench(required, corpus, scratch / "model")
        try:
            for bench in (hashing, model):  # indexed now, while nothing is broken
                assert bench.report.chunks == len(bench.chunks)
            yield Benches(corpus, scratch / "one", scratch, hashing, model)
        finally:
            hashing.close()
            model.close()


@contextmanager
def mutated(mutation: Mutation) -> Iterator[None]:
    """The program with this one line broken."""
    _import_everything()
    module_name, _, path = mutation.target.partition(":")
    module = importlib.import_module(f"glassbox_tui.{module_name}")
    *owners, name = path.split(".")
    owner: Any = module
    for part in owners:
        owner = getattr(owner, part)
    real = inspect.getattr_static(owner, name, None)
    if real is None:
        raise MutationError(f"{mutation.name}: there is no {mutation.target} any more")
    broken = _edited(real, module, mutation)
    with ExitStack() as undo:
        if owner is not module:
            setattr(owner, name, broken)
            undo.callback(setattr, owner, name, real)
        for holder in [m for key, m in sys.modules.items() if key.startswith("glassbox_tui.") and m is not None]:
            for key, value in list(vars(holder).items()):
                if value is real:
                    setattr(holder, key, broken)
                    undo.callback(setattr, holder, key, real)
        yield


def _import_everything() -> None:
    """A module that is imported while something is broken would keep the broken part."""
    import glassbox_tui

    for module in pkgutil.walk_packages(glassbox_tui.__path__, "glassbox_tui."):
        if not module.name.startswith(("glassbox_tui.tui", "glassbox_tui.__main__")):
            importlib.import_module(module.name)


def _edited(real: Any, module: Any, mutation: Mutation) -> Any:
    function = real.fget if isinstance(real, property) else inspect.unwrap(real)
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(mutation.old) != 1:
        times = source.count(mutation.old)
        raise MutationError(f"{mutation.name}: {mutation.old!r} stands in {mutation.target} {times} times, not once")
    # The code sees its module's names as they are, and the function ends up in a namespace of its own.
    space: dict[str, Any] = {}
    flags = __import__("__future__").annotations.compiler_flag
    code = compile(source.replace(mutation.old, mutation.new), f"<{mutation.name}>", "exec", flags=flags)
    exec(code, vars(module) | {"__name__": module.__name__}, space)
    made = space[function.__name__]
    if inspect.isfunction(made) and made.__closure__ is None:
        # Globals by reference, so that the broken function sees whatever else is replaced. (A decorated one has a
        # closure and keeps its copy.)
        made = type(made)(made.__code__, vars(module), made.__name__, made.__defaults__)
        made.__kwdefaults__ = space[function.__name__].__kwdefaults__
    return made


def by_name() -> dict[str, Invariant]:
    return {f"{i.group}: {i.name}": i for i in invariants()}


def fallen(mutation: Mutation, benches: Benches) -> dict[str, Check]:
    """The outcome of each invariant that the mutation should bring down."""
    known = by_name()
    with mutated(mutation):
        bench = benches.for_mutation(mutation)
        try:
            return {name: known[name].check(bench) for name in mutation.falls}
        finally:
            if mutation.fresh:
                bench.close()


def untouched(mutations: Sequence[Mutation], benches: Benches) -> list[Check]:
    """The same invariants on the same benches with nothing broken: every one has to hold and to run."""
    known, checks = by_name(), list[Check]()
    for bench, model in ((benches.hashing, False), (benches.model, True)):
        whole = copy.copy(bench)
        whole._traces = {}
        names = {name for m in mutations if m.model is model for name in m.falls}
        checks += [known[name].check(whole) for name in sorted(names)]
    return checks


def main(argv: list[str]) -> int:
    wanted = [m for m in MUTATIONS if not argv or any(word in m.name for word in argv)]
    survived = 0
    with open_benches(load_settings()) as benches:
        for check in untouched(wanted, benches):
            if not check.ok or check.detail.startswith(NOT_RUN):
                print(f"NOT WHOLE  {check.group}: {check.name}: {check.detail}")
                survived += 1
        for mutation in wanted:
            started = time.perf_counter()
            print(f"{mutation.name}\n    {mutation.target}: {json.dumps(mutation.old)} -> {json.dumps(mutation.new)}")
            try:
                outcome = fallen(mutation, benches)
            except MutationError as error:
                print(f"    OUT OF DATE {error}")
                survived += 1
                continue
            for name, check in outcome.items():
                print(f"    {'STANDS' if check.ok else 'falls '} {name}: {check.detail[:150]}")
                survived += check.ok
            print(f"    {time.perf_counter() - started:.2f} s")
    idle = by_name().keys() - {name for m in MUTATIONS for name in m.falls}
    for name in sorted(idle):
        print(f"NO MUTATION  {name}")
    print(f"{len(wanted)} mutations, {survived} invariants stand that should fall, {len(idle)} without a mutation")
    return 1 if survived or idle else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
