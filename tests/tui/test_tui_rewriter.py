"""The rewriter is chosen by a key, goes along with each search, and what the model was asked is there to be read."""

from __future__ import annotations

from dataclasses import replace

from samples import sample_trace_hostile, sample_trace_two_rounds
from scripted import ScriptedBackend, running

from glassbox_tui.retrieval.trace import USED, Attempt
from glassbox_tui.tui.rounds import loop
from glassbox_tui.tui.state import View
from glassbox_tui.views.report import report
from glassbox_tui.views.xray import xray

PROMPT = (("system", "You help.\nReply briefly."), ("user", "Write one better query."))
ASKED = Attempt(1, "rewrite", "scripted", PROMPT, "Sure!\n\x1b[31mredlock lease", USED, 812.4)
REFUSED = replace(ASKED, round=2, outcome="rejected: it drops 'redlock'")
TRACE = replace(sample_trace_two_rounds(), attempts=(ASKED, REFUSED))


def drawn(width: int = 100) -> str:
    return "\n".join(line.plain for line in loop(View(trace=TRACE, rounds=True), width, 60))


def test_the_loop_panel_shows_prompt_reply_and_outcome_of_the_shown_round() -> None:
    text = drawn()
    assert "rewrite by scripted, 812 ms: used" in text
    assert "rejected: it drops 'redlock'" in text  # after the last round, with it
    assert "Write one better query." in text and "redlock lease" in text


def test_a_hostile_reply_cannot_draw_on_the_screen() -> None:
    assert all("\x1b" not in text for text in (drawn(), xray(TRACE), report(TRACE)))


def test_x_ray_and_report_hold_prompt_and_reply_whole() -> None:
    for text in (xray(TRACE), report(TRACE)):
        assert all(told in text for _, prompt in PROMPT for told in prompt.splitlines())
        assert text.count("Sure!") == 2 and "rejected: it drops 'redlock'" in text


def test_without_attempts_nothing_is_said_of_a_model() -> None:
    for trace in (sample_trace_two_rounds(), sample_trace_hostile()):
        assert "asked a model" not in report(trace)


async def test_the_key_chooses_the_rewriter_and_the_next_search_carries_it() -> None:
    backend = ScriptedBackend()
    async with running(backend) as stage:
        await stage.ask("rrf")
        assert set(backend.rewriters) == {""}  # as the settings say
        await stage.press("escape", "W", "h", "y", "d", "enter")
        assert stage.view.rewriter == "hyde" and "hyde" in stage.screen()
        await stage.press("enter")
        await stage.seen.until(lambda: stage.view.reply is not None)
        assert backend.rewriters[-1] == "hyde"


async def test_leaving_the_choice_changes_nothing() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.press("escape", "W", "escape")
        assert stage.view.rewriter == ""
