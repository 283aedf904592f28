"""Every invariant of the selftest has been seen to fall when the code that it watches is broken."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mutate import MUTATIONS, Benches, MutationError, by_name, fallen, mutated, open_benches, untouched
from mutation import Mutation, broken

from glassbox_tui.index import sparse
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval import feedback
from glassbox_tui.selftest.check import NOT_RUN
from glassbox_tui.settings import load_settings


@pytest.fixture(scope="module")
def benches(e5: E5Embedder) -> Iterator[Benches]:
    with open_benches(load_settings()) as opened:
        yield opened


PARAMETERS = [pytest.param(m, id=m.name, marks=[pytest.mark.llm] if m.llm else []) for m in MUTATIONS]


@pytest.mark.parametrize("mutation", PARAMETERS)
def test_invariants_fall_when_their_code_is_broken(mutation: Mutation, benches: Benches) -> None:
    assert mutation.falls
    standing = {name: check.detail for name, check in fallen(mutation, benches).items() if check.ok}
    assert not standing


@pytest.mark.parametrize("llm", [False, pytest.param(True, marks=pytest.mark.llm)])
def test_the_same_invariants_hold_when_nothing_is_broken(llm: bool, benches: Benches) -> None:
    """Runs after the mutations: what they changed is whole again."""
    checks = untouched([m for m in MUTATIONS if m.llm == llm], benches)
    assert [(c.name, c.detail) for c in checks if not c.ok or c.detail.startswith(NOT_RUN)] == []


def test_there_is_a_mutation_for_every_invariant() -> None:
    assert by_name().keys() == {name for m in MUTATIONS for name in m.falls}


def test_a_mutation_reaches_every_module_and_is_undone() -> None:
    real = sparse.idf
    with mutated(broken("idf is 7", "index.sparse:idf", "n, df =", "return 7.0\n    n, df =")):
        assert feedback.idf is sparse.idf is not real
        assert sparse.idf(None, "x") == 7.0  # type: ignore[arg-type]
    assert feedback.idf is sparse.idf is real


def test_a_mutation_of_code_that_has_changed_says_so() -> None:
    for target, old in (("index.sparse:idf", "no such code"), ("index.sparse:gone", "x")):
        with pytest.raises(MutationError, match="of old code"), mutated(broken("of old code", target, old, "y")):
            pass
