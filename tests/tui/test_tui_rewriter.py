"""The rewriter is chosen by a key, goes along with each search, and what the model was asked is there to be read."""

from __future__ import annotations

from dataclasses import replace

from samples import sample_trace_hostile, sample_trace_two_rounds
from scripted import ScriptedBackend, running

from glassbox_tui.retrieval.trace import USED, Attempt
from glassbox_tui.tui.backend import Writer
from glassbox_tui.tui.rounds import loop
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import speak
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


async def test_without_a_model_the_choice_says_so_and_how_to_get_one_and_feedback_stays() -> None:
    backend = ScriptedBackend()
    backend.who = Writer("", True, "no language model is here: ./run.sh --with-llm brings a small one")
    async with running(backend) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "W", "down", "enter")
        assert "needs a language model" in stage.view.told and "./run.sh --with-llm" in stage.view.told
        assert "from now on" not in stage.view.told
        await stage.press("enter")
        await stage.seen.until(lambda: stage.view.reply is not None)
        assert backend.rewriters[-1] in ("", "feedback")


def test_the_loop_panel_says_why_a_round_was_run_in_both_languages() -> None:
    why = "'recipocal' stands nowhere in your notes; 'reciprocal' is near it (1 letter), in 12 chunks"
    trace = sample_trace_two_rounds()
    last = replace(trace.last, origin="spelling", why=why, judged_by="reciprocal rank", added_terms=())
    trace = replace(trace, rounds=(*trace.rounds[:-1], last))
    view = View(trace=trace, rounds=True)

    def text() -> str:
        return " ".join(" ".join(line.plain for line in loop(view, 120, 60)).split())

    assert why in text() and "its evidence is judged by: reciprocal rank" in text()
    try:
        speak("zh")
        assert "笔记里没有 'recipocal'；相近的有 'reciprocal'（差 1 个字母），见于 12 个片段" in text()
        assert "证据按此判断：reciprocal rank" in text()
    finally:
        speak("en")
