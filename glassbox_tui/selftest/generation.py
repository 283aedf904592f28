"""Answers: which generator serves is said and true, and without a model there is an extract, word for word."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path

from glassbox_tui.answer.active import active_generator
from glassbox_tui.answer.answers import answer
from glassbox_tui.answer.citations import checked
from glassbox_tui.answer.claims import check
from glassbox_tui.answer.record import Answer
from glassbox_tui.answer.statements import Statement
from glassbox_tui.models.runtime import allowed_cpus, auto_threads
from glassbox_tui.selftest.bench import EN, ZH, Bench
from glassbox_tui.selftest.check import Group, need, need_all
from glassbox_tui.settings import Settings

generation = Group("generation")


def _extract(bench: Bench, question: str, *, check_claims: bool = False) -> Answer:
    """Checking claims embeds each sentence: only where that is the point."""
    return answer(bench.trace(question), bench.engine, check_claims=check_claims)


@generation.holds("automatic threads lie within 1 to 4 and the allowed CPUs")
def _(bench: Bench) -> str:
    automatic = Settings(llm_threads=0)
    found = {n: auto_threads(automatic, n) for n in (1, 2, 3, 4, 5, 64)}
    need(found == {1: 1, 2: 2, 3: 3, 4: 4, 5: 4, 64: 4}, f"allowed CPUs -> threads: {found}")
    need(auto_threads(automatic, 0) == 1, "no known CPU must still give 1 thread")
    here = auto_threads(automatic, allowed_cpus())
    counted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    need(1 <= here <= min(4, counted), f"{here} threads on {counted} allowed CPUs")
    return f"{here} of {counted} allowed CPUs here; 1, 2, 3, 4, 5, 64 CPUs give 1, 2, 3, 4, 4, 4 threads"


@generation.holds("a thread count that is set is taken")
def _(bench: Bench) -> str:
    found = {n: auto_threads(Settings(llm_threads=n), 2) for n in (1, 3, 16)}
    need(all(n == got for n, got in found.items()), f"set -> threads: {found}")
    return "1, 3 and 16 are taken as they are"


@generation.holds("the active generator is reported and matches what is installed")
def _(bench: Bench) -> str:
    library = importlib.util.find_spec("llama_cpp") is not None
    file = bench.user.llm_path
    model = bool(file) and Path(file).expanduser().is_file()
    active = active_generator(bench.user)
    need(active.reason, "no reason is given")
    need(active.mode == "extract" or (library and model), f"{active.mode} is reported; library {library}, file {model}")
    nowhere = replace(bench.user, llm_path=str(bench.scratch / "no.gguf"))
    need(active_generator(nowhere).mode == "extract", "a model file that is not there is reported as a generator")
    given = _extract(bench, EN).mode
    need(given == active.mode, f"{active.mode} is reported, the answer is by {given}")
    return f"{active.mode}: {active.reason}"


@generation.holds("without a model an extract exists")
def _(bench: Bench) -> str:
    answers = [_extract(bench, question) for question in (EN, ZH)]
    count = need_all(
        (a.mode == "extract" and bool(a.text.strip()), f"the answer is {a.mode}: {a.notice}") for a in answers
    )
    return f"{count} questions, {count} extracts of {' and '.join(str(len(a.text)) for a in answers)} characters"


@generation.holds("an extract is quoted word for word from what it cites")
def _(bench: Bench) -> str:
    count = 0
    for question in (EN, ZH):
        given = _extract(bench, question)
        need(
            [c.number for c in given.citations] == list(range(1, len(given.citations) + 1)),
            "citations are not 1, 2, ...",
        )
        for citation in given.citations:
            lines = bench.notes[citation.path].text.split("\n")[citation.lines[0] - 1 : citation.lines[1]]
            cited = " ".join(" ".join(lines).split())
            for quote in citation.text.split(" … "):
                need(quote and quote in cited, f"{quote[:60]!r} is not in lines {citation.lines} of {citation.path}")
                need(f"{quote} [{citation.number}]" in given.text, f"[{citation.number}] does not follow its sentence")
                count += 1
    need(count, "nothing was quoted")
    return f"{count} sentences stand in the cited lines of their notes, each followed by its number"


@generation.holds("an empty index gives no answer and says so")
def _(bench: Bench) -> str:
    engine = bench.small([])
    given = answer(engine.search("anything", max_rewrites=0), engine)
    need((given.mode, given.text, given.citations) == ("none", "", ()) and given.notice, f"the answer is {given}")
    return f"mode none, no text, and the notice: {given.notice}"


@generation.holds("each sentence of an extract is supported by what it cites")
def _(bench: Bench) -> str:
    claims = [claim for question in (EN, ZH) for claim in _extract(bench, question, check_claims=True).claims]
    count = need_all(
        (
            claim.verdict == "supported" and claim.citation == "right" and 0 <= claim.support <= 1,
            f"{claim.text[:50]!r} is {claim.verdict} ({claim.support}), its citation {claim.citation or 'unsupported'}",
        )
        for claim in claims
    )
    return f"{count} sentences, the least support {min(claim.support for claim in claims):.2f}"


@generation.holds("a claim with another number than its source is not supported, and the number is named")
def _(bench: Bench) -> str:
    said = "Green tea is steamed for {} seconds before it is rolled and dried in the sun."
    engine = bench.small([said.format(40), "租约长三十秒，到期以后锁会自动释放。"], embedder=bench.embedder)
    hits = engine.search("tea", max_rewrites=0).hits
    found = [check([Statement(said.format(n), ())], hits, {}, engine)[0] for n in ("40", "45", "forty")]
    verdicts = [(claim.verdict == "supported", claim.missing) for claim in found]
    need(verdicts == [(True, ()), (False, ("45",)), (True, ())], f"40, 45, forty for 40: {verdicts}")
    return f"support {found[0].support:.2f} with the right number, {found[1].support:.2f} with another"


@generation.holds("citations to sources that do not exist are removed and named")
def _(bench: Bench) -> str:
    found = checked("One [1], two [2, 7], zero [0].", 2)
    need(found.text == "One [1], two [2], zero.", f"the text became {found.text!r}")
    need((found.numbers, found.removed) == ((1, 2), (7, 0)), f"kept {found.numbers}, removed {found.removed}")
    return "of [1], [2, 7] and [0] with two sources, 1 and 2 stay; 7 and 0 are named"
