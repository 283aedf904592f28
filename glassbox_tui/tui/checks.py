"""The selftest as the app shows it: what is known of the checks so far, and the lines that say it. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from rich.text import Text

from glassbox_tui.tui.cells import BAD, DIM, GOOD, HEAD, WARN, cut, ends, wrap
from glassbox_tui.tui.messages import Checked, SelftestDone
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import line as plain

NOT_RUN = "not run: "  # as `selftest.check` begins the detail of a check on a part that is not there
_DETAIL = 4  # lines kept for what the selected check compared


@dataclass(frozen=True, slots=True)
class Selftest:
    """A run of the invariants: `total` of them, those done so far; `at` is the selected one, None: the newest."""

    run: int = 0
    running: bool = False
    checks: tuple[Checked, ...] = ()
    failure: str = ""
    at: int | None = None

    @property
    def fallen(self) -> int:
        return sum(not check.ok for check in self.checks)


NEVER_RUN = Selftest()


def begun(before: Selftest) -> Selftest:
    """A new run; what the one before found is gone."""
    return Selftest(run=before.run + 1, running=True)


def heard(state: Selftest, event: Checked | SelftestDone) -> Selftest:
    """The state after a check, or after the last. What an earlier run still says is stale."""
    if event.run != state.run:
        return state
    if isinstance(event, Checked):
        return replace(state, checks=(*state.checks, event))
    return replace(state, running=False, failure=event.failure)


def moved(state: Selftest, by: int) -> Selftest:
    if not state.checks:
        return state
    last = len(state.checks) - 1
    return replace(state, at=max(0, min((last if state.at is None else state.at) + by, last)))


def lines(state: Selftest, width: int, height: int, *, ascii: bool) -> list[Text]:
    """The summary, the checks by group around the selected one, and what that one compared."""
    if not state.run:
        return [Text(say("the selftest has not run yet"), DIM)]
    room = max(1, height - 2 - _DETAIL)
    at = len(state.checks) - 1 if state.at is None else state.at
    rows, selected = _rows(state, at, width)
    top = max(0, min(selected - room // 2, len(rows) - room))
    shown = rows[top : top + room]
    shown += [Text()] * (room - len(shown))
    detail = wrap(_detail(state, at), width)[:_DETAIL]
    return [_summary(state, width), *shown, Text(("-" if ascii else "─") * width, DIM), *detail]


def summary(state: Selftest) -> str:
    """ "88 hold, 1 fell, 1 not run" of what is done so far."""
    absent = sum(c.ok and c.detail.startswith(NOT_RUN) for c in state.checks)
    parts = [say("{} hold", len(state.checks) - state.fallen - absent)]
    parts += [say("{} fell", state.fallen)] if state.fallen else []
    parts += [say("{} not run", absent)] if absent else []
    return ", ".join(parts)


def _summary(state: Selftest, width: int) -> Text:
    right = Text(summary(state), BAD if state.fallen else GOOD if not state.running else "")
    if state.failure:
        return ends(Text(say("it stopped: {}", plain(state.failure)), BAD), right, width)
    if not state.running:
        return ends(Text(say("every check was made"), HEAD), right, width)
    if not state.checks:
        return cut(Text(say("indexing the bundled notes in a folder of their own ..."), WARN), width)
    last = state.checks[-1]
    left = Text(say("checking {}/{}", last.done, last.total), WARN).append(f"  {say('you may leave, it goes on')}", DIM)
    return ends(left, right, width)


def _rows(state: Selftest, at: int, width: int) -> tuple[list[Text], int]:
    """One row per group and per check, and the number of the selected check's row."""
    rows, selected = list[Text](), 0
    numbered = list(enumerate(state.checks))
    for group, members in groupby(numbered, key=lambda pair: pair[1].group):
        checks = list(members)
        held = sum(check.ok for _, check in checks)
        rows.append(ends(Text(plain(group), HEAD), Text(f"{held}/{len(checks)} ", DIM), width))
        for number, check in checks:
            mark, style = _mark(check)
            row = cut(Text(f"  {mark:<4} ", style).append(plain(check.name), "" if check.ok else BAD), width)
            if number == at:
                selected = len(rows)
                row.append(" " * max(0, width - row.cell_len))
                row.stylize("reverse")
            rows.append(row)
    return rows, selected


def _mark(check: Checked) -> tuple[str, str]:
    if not check.ok:
        return "FAIL", BAD
    if check.detail.startswith(NOT_RUN):
        return "-", WARN
    return "ok", GOOD


def _detail(state: Selftest, at: int) -> Text:
    if not 0 <= at < len(state.checks):
        return Text()
    check = state.checks[at]
    return Text(plain(check.detail), "" if check.ok else BAD)
