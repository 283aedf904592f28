"""The time that is left is said when the pace is known, and is right for a steady pace."""

from __future__ import annotations

import pytest

from glassbox_tui.progress import Progress
from glassbox_tui.tui.estimate import duration, estimating


def run(steps: list[tuple[float, Progress]]) -> list[float | None]:
    """What is said to be left at each (clock, progress)."""
    said: list[float | None] = []
    at = iter([clock for clock, _ in steps])
    tell = estimating(lambda progress: said.append(progress.left), clock=lambda: next(at))
    for _, progress in steps:
        tell(progress)
    return said


def test_a_steady_pace_gives_the_time_that_it_will_take() -> None:
    steps = [(float(done), Progress("embed", done, 100)) for done in range(0, 101, 10)]
    assert run(steps) == [None, 90, 80, 70, 60, 50, 40, 30, 20, 10, None]


def test_nothing_is_said_before_the_pace_is_known() -> None:
    assert run([(0.0, Progress("embed", 0, 100)), (60.0, Progress("embed", 4, 100))]) == [None, None]
    assert run([(0.0, Progress("embed", 0, 100)), (0.5, Progress("embed", 50, 100))]) == [None, None]
    assert run([(0.0, Progress("text", 0, 0)), (60.0, Progress("text", 40, 0))]) == [None, None]


def test_what_was_done_before_this_start_does_not_count_as_pace() -> None:
    assert run([(0.0, Progress("embed", 900, 1000)), (10.0, Progress("embed", 910, 1000))])[1] == 90


def test_another_phase_or_a_grown_total_begins_anew() -> None:
    steps = [(0.0, Progress("text", 0, 100)), (10.0, Progress("text", 50, 100)), (11.0, Progress("embed", 10, 100))]
    assert run(steps) == [None, 10, None]
    steps = [(0.0, Progress("embed", 0, 100)), (10.0, Progress("embed", 50, 100)), (11.0, Progress("embed", 51, 400))]
    assert run(steps) == [None, 10, None]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3, "under 10 s"), (42, "about 40 s"), (114, "about 110 s"), (200, "about 3 min"), (9000, "about 2 h")],
)
def test_durations_are_no_more_exact_than_they_are_known(seconds: float, said: str) -> None:
    assert duration(seconds) == said
