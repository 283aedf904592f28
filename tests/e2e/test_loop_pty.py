"""The loop by hand in a real terminal: step, edit a rewrite, run it, and see what it changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_app_pty import ENTER, ESCAPE, Open, corpus, open_app

__all__ = ["corpus", "open_app"]  # the fixtures

# No note answers it. Its spelling is mended in round 1, and feedback adds words in round 2.
TYPED, MENDED = "lamport clock vektor", "lamport clock vector"


@pytest.mark.parametrize(("size", "term"), [((120, 40), "xterm-256color"), ((80, 24), "xterm")])
def test_step_through_the_rounds_edit_a_rewrite_and_run_it(
    open_app: Open, corpus: Path, size: tuple[int, int], term: str
) -> None:
    app = open_app(corpus, size=size, term=term)
    app.type(TYPED)
    app.until(r"round 0/0 .*(related|nothing) \d+%$")
    app.type(ESCAPE)
    app.until_quiet(0.3)  # esc and a letter in one packet would be another key
    app.type("s")
    app.until("step mode: enter runs round 0 and pauses after each round")
    app.type(ENTER)
    app.until(r"paused before round 1:")
    app.until(r"it would change: ", "what it would change")
    app.until(r"^ enter run +e edit +w own +x another +S stop", "the keys, first in the hints")
    app.type(ENTER)
    app.until(r"round 1/1 .*(related|nothing) \d+%$", "round 1")
    app.until(r"paused before round 2:")
    app.type("e")
    app.until(r"edit the proposed query, then run it as round 2")
    app.until(rf"{MENDED} \+ \S+ \S+", "the proposal with its words")
    app.type("\x15")  # ctrl+u: all of it goes
    app.until(lambda: not app.shows(rf"{MENDED} \+"), "an empty line")  # keys in one packet overtake ctrl+u
    app.type(f"{MENDED} + leader election" + ENTER)
    app.until(r"round 2/2 .*(related|nothing) \d+%$", "round 2")
    app.until(r"2 manual +lamport", "its origin")
    app.until(r"leader\(1\.00\) election\(1\.00\)", "the words that were added")
    app.type("[")
    app.until(r"round 1/2 ")
    app.type("]")
    app.until(r"round 2/2 ")
    app.until("ended: no more rewrites are allowed")


def test_a_finished_run_is_edited_into_a_branch_and_compared(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus)
    app.type(TYPED)
    app.until(r"round 0/0 .*(related|nothing) \d+%$")
    app.type(ENTER)
    app.until(r"round 2/2 .*(related|nothing) \d+%$")
    app.until("The evidence was graded insufficient", "the answer")
    app.type("e")
    app.until("edit the query of round 2, then run it as round 2 of a new branch")
    app.type(" 租约" + ENTER)
    app.until(r"> b +\\2 +only this round was asked for", "the branch in the tree")
    app.until(r"a +0-1-2 +no more rewrites are allowed")
    app.type("c")
    app.until("round 2 of branch b against round 1 of branch a")
    app.type("c")
    app.until("round 2 of branch b against round 2 of branch a")
    app.type("c\t")
    app.until(r"> a +0-1-2", "the first branch again")
