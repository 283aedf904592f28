"""A mark that is typed around a question moves nothing in any stage, with the model that would read it."""

from __future__ import annotations

import pytest

from glassbox_tui import Engine
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings

NOTES = {
    "lease.md": "# Leases\n\nA lease ends by the clock unless it is renewed. 租约靠时钟到期。",
    "slash.md": "# Paths\n\nA slash / parts a path: /etc/hosts, /usr/bin. What is a / for? ##",
    "marks.md": "# Marks\n\nThe * and the > and the ? are marks; so are ... and ' and \".",
    "issue.md": "# Issues\n\n#103 is about renewing leases; 103 notes speak of it.",
    "tea.md": "# 茶\n\n绿茶用八十度的水。 How to brew tea?",
}


@pytest.fixture(scope="module")
def engine(e5: E5Embedder) -> Engine:
    return Engine(e5, settings=Settings(max_rewrites=0)).build(NOTES)


def lists(trace: Trace) -> list[tuple[str, tuple[object, ...]]]:
    return [(stage.name, stage.candidates) for stage in trace.rounds[0].stages]


@pytest.mark.parametrize("question", ["how is a lease renewed", "租约如何续期", "who speaks of #103", "C++ leases"])
@pytest.mark.parametrize(
    "typed", ["/{}", "> {}", "* {}", "# {}", "- {}", '"{}', "  {}\n", "{}?", "{}？", "{}...", "/{} /"]
)
def test_marks_around_a_question_change_no_rank_and_no_score(engine: Engine, question: str, typed: str) -> None:
    query = typed.format(question)
    trace = engine.search(query)
    assert lists(trace) == lists(engine.search(question))
    assert trace.query == trace.rounds[0].query == query


def test_a_literal_is_still_another_query_than_its_word(engine: Engine) -> None:
    for literal, word in (("#103", "103"), ("/etc/hosts", "etc hosts"), ("--renew", "renew")):
        assert lists(engine.search(literal)) != lists(engine.search(word))
