"""What an invariant is, and how it is run.

An invariant is a function from a Bench to the sentence that says what was compared. It falls by raising:

    chunking = Group("chunking")

    @chunking.holds("offsets are exact")
    def _(bench: Bench) -> str:
        wrong = [...]
        need(not wrong, f"{wrong[0]} is not what its offsets say")
        return f"{n} chunks are exactly what their offsets cut out of the file"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from glassbox_tui.selftest.bench import Bench

NOT_RUN = "not run: "


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant's outcome. `detail` says in words and numbers what was compared, or why it fell."""

    group: str
    name: str
    ok: bool
    detail: str


class Fallen(Exception):
    """The invariant does not hold; the message says what was found and what should have been."""


class NotRun(Exception):
    """The invariant speaks of a part that is not there and does not have to be; the message says which."""


@dataclass(frozen=True, slots=True)
class Invariant:
    group: str
    name: str
    run: Callable[[Bench], str]

    def check(self, bench: Bench) -> Check:
        """Run it. Whatever it raises is a fall with its reason, never a crash."""
        try:
            return Check(self.group, self.name, True, self.run(bench))
        except Fallen as fallen:
            return Check(self.group, self.name, False, str(fallen))
        except NotRun as absent:
            return Check(self.group, self.name, True, f"{NOT_RUN}{absent}")
        except Exception as error:
            return Check(self.group, self.name, False, f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class Group:
    """The invariants of one room, in the order of its file."""

    name: str
    invariants: list[Invariant] = field(default_factory=list)

    def holds(self, name: str) -> Callable[[Callable[[Bench], str]], Callable[[Bench], str]]:
        """Registers the decorated function as the invariant `name`."""

        def register(run: Callable[[Bench], str]) -> Callable[[Bench], str]:
            self.invariants.append(Invariant(self.name, name, run))
            return run

        return register


def need(condition: object, otherwise: str) -> None:
    """Fall with `otherwise` unless `condition`."""
    if not condition:
        raise Fallen(otherwise)


def need_close(found: float, expected: float, within: float, what: str) -> None:
    """Fall unless the two numbers are `within` of each other (nan is not)."""
    need(abs(found - expected) <= within, f"{what} is {found:.12g} and should be {expected:.12g}, within {within:g}")


def need_all(pairs: Iterable[tuple[bool, str]]) -> int:
    """Fall at the first pair that is false, with its sentence; also if there is no pair. Returns how many held."""
    count = 0
    for holds, otherwise in pairs:
        need(holds, otherwise)
        count += 1
    need(count, "there was nothing to check")
    return count
