"""The loop: every attempt recorded, judged in the open, and never at the cost of what the person asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from glassbox_tui.models.chat import Message, ReadingFn
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.progress import CancelledFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.loop import changes
from glassbox_tui.retrieval.trace import ANSWERED, LEVELS, Trace
from glassbox_tui.selftest.bench import NOWHERE, QUESTIONS, Bench
from glassbox_tui.selftest.check import Group, need, need_all, need_close
from glassbox_tui.settings import Settings
from glassbox_tui.text.content import content_words
from glassbox_tui.text.tokens import terms

loop = Group("loop")


def _hopeless(bench: Bench) -> Trace:
    """A question that no note answers: it takes all its rounds."""
    trace = bench.trace(NOWHERE)
    need(len(trace.rounds) > 1, f"{NOWHERE!r} was content with one round")
    return trace


@loop.holds("every attempt is recorded")
def _(bench: Bench) -> str:
    trace = _hopeless(bench)
    need([r.number for r in trace.rounds] == list(range(len(trace.rounds))), "round numbers have gaps")
    need([r.origin for r in trace.rounds] == ["user"] + ["prf"] * (len(trace.rounds) - 1), "an origin is wrong")
    need(all(r.why for r in trace.rounds[1:]), "a round does not say why it was run")
    need(
        trace.rounds[0].query == trace.query and not trace.rounds[0].added_terms, "round 0 is not the question as asked"
    )
    count = need_all(
        (bool(r.added_terms) and r.query != trace.query, f"round {r.number} is no rewrite") for r in trace.rounds[1:]
    )
    most = 1 + bench.settings.max_rewrites
    need(len(trace.rounds) <= most, f"{len(trace.rounds)} rounds where {most} are allowed")
    return f"{count + 1} of at most {most} rounds are in the trace, with their queries and the terms they added"


@loop.holds("without rewrites there is one round")
def _(bench: Bench) -> str:
    counts = {n: len(bench.engine.search(NOWHERE, max_rewrites=n).rounds) for n in (0, 1)}
    need(counts == {0: 1, 1: 2}, f"rewrites allowed -> rounds: {counts}")
    return "0 rewrites gave 1 round, 1 rewrite gave 2"


@loop.holds("the loop ends, and no query runs twice")
def _(bench: Bench) -> str:
    queries = [r.query.casefold() for r in bench.engine.search(NOWHERE, max_rewrites=12).rounds]
    need(1 < len(queries) <= 13, f"{len(queries)} rounds where 2 to 13 were expected")
    need(len(set(queries)) == len(queries), "a query came back")
    return f"of 12 rewrites allowed {len(queries) - 1} were made, all of them different"


@loop.holds("the verdict is the sum of its signals")
def _(bench: Bench) -> str:
    count = 0
    for r in bench.rounds:
        grade, name = r.grade, repr(r.query)
        need(
            grade.level in LEVELS and grade.probability is not None and grade.log_odds is not None,
            f"{name}: no verdict",
        )
        assert grade.probability is not None and grade.log_odds is not None
        need_close(sum(s.share for s in grade.signals), grade.log_odds, 1e-9, f"the log-odds of {name}")
        need_close(1 / (1 + math.exp(-grade.log_odds)), grade.probability, 1e-9, f"the probability of {name}")
        need(grade.sufficient == (grade.level == ANSWERED), f"{name} is {grade.level}, sufficient: {grade.sufficient}")
        need(bool(grade.reasons) != grade.sufficient, f"{name}: sufficient is {grade.sufficient} for {grade.reasons}")
        count += len(grade.signals)
    for trace in bench.traces:
        expected = "answer" if trace.rounds[-1].grade.sufficient else "insufficient"
        need(trace.decision == expected, f"{trace.query!r} was decided {trace.decision}")
    levels = ", ".join(sorted({r.grade.level for r in bench.rounds}))
    return f"{count} shares make up {len(bench.rounds)} verdicts ({levels}), and the decisions follow from them"


@loop.holds("the verdict does not depend on how many hits are shown")
def _(bench: Bench) -> str:
    seen = []
    for question in QUESTIONS:
        few, many = (bench.engine.search(question, top_k=k, max_rewrites=0).last.grade for k in (1, 30))
        need(few.signals == many.signals, f"{question!r}: other signals with 1 hit than with 30")
        need((few.probability, few.level) == (many.probability, many.level), f"{question!r}: another verdict")
        seen.append(few.probability)
    return f"{len(seen)} questions are judged alike with 1 hit and with 30"


@loop.holds("the rule of thresholds carries coverage, thresholds and the decision")
def _(bench: Bench) -> str:
    traces = [bench.engine.search(question, verdict="thresholds") for question in QUESTIONS]
    rounds = [r for trace in traces for r in trace.rounds]
    for trace in traces:
        for r in trace.rounds:
            grade = r.grade
            signals = {"coverage": grade.coverage, "dense": grade.top_dense, "rerank": grade.top_rerank}
            need(grade.coverage is not None and "coverage" in grade.thresholds, f"{r.query!r}: no coverage to judge by")
            below = {n for n, limit in grade.thresholds.items() if (v := signals[n]) is not None and v < limit}
            need(grade.sufficient == (not below), f"{r.query!r}: below are {below}, the verdict is {grade.sufficient}")
            need({reason.split()[0] for reason in grade.reasons} == below, f"reasons {grade.reasons} for {below}")
        expected = "answer" if trace.rounds[-1].grade.sufficient else "insufficient"
        need(trace.decision == expected, f"{trace.query!r} was decided {trace.decision}")
    return f"{len(rounds)} verdicts follow from their signals and thresholds; decided were " + ", ".join(
        sorted({trace.decision for trace in traces})
    )


@loop.holds("coverage is a share between 0 and 1")
def _(bench: Bench) -> str:
    values = [v for r in bench.rounds for v in (r.grade.coverage, r.grade.idf_coverage) if v is not None]
    need(values and all(0 <= v <= 1 for v in values), f"coverage reaches from {min(values)} to {max(values)}")
    texts = ["the heron sleeps", "nothing else"]
    known = {"heron": 1.0, "heron quokka": 0.5, "quokka zymurgy": 0.0}
    for query, share in known.items():
        found = bench.small(texts).search(query, max_rewrites=0).rounds[0].grade.coverage
        need(found is not None, f"{query!r} has no coverage")
        assert found is not None
        need_close(found, share, 1e-12, f"the coverage of {query!r}")
    return (
        f"{len(values)} values from {min(values):.2f} to {max(values):.2f}; 1 of 1, 1 of 2, 0 of 2 terms give 1, .5, 0"
    )


@loop.holds("missing words are whole, asked for, and not in the evidence")
def _(bench: Bench) -> str:
    index_text = {c.uid: c.index_text for c in bench.chunks}
    count = 0
    for trace in bench.traces:
        whole = {word.text: word for word in content_words(trace.query)}
        for r in trace.rounds:
            held = {term for hit in r.hits for term in terms(index_text[hit.uid])}
            stray = set(r.grade.missing) - whole.keys()
            need(not stray, f"{sorted(stray)} are no words of {trace.query!r}")
            there = [word for word in r.grade.missing if held & set(whole[word].terms)]
            need(not there, f"{there} are called missing and are there")
            count += len(r.grade.missing)
    need(count, "no word is missing anywhere")
    return f"{count} words called missing are asked for and in no text of the evidence"


@loop.holds("the original query's lists are never dropped")
def _(bench: Bench) -> str:
    trace = _hopeless(bench)
    first = {c.uid for name in ("bm25", "dense") if (s := trace.rounds[0].stage(name)) for c in s.candidates}
    need(first, "round 0 found nothing")
    for r in trace.rounds[1:]:
        fused = r.stage("fused")
        held = {c.uid: {p.name for p in c.parts} for c in fused.candidates} if fused else {}
        need(first <= held.keys(), f"round {r.number} dropped {len(first - held.keys())} of {len(first)} candidates")
        unnamed = [uid for uid in first if not held[uid] & {"bm25@0", "dense@0"}]
        need(not unnamed, f"{unnamed[:1]} stands in round {r.number} without its place in round 0")
    return f"the {len(first)} candidates of round 0 stand in the fused list of every later round, with their places"


@loop.holds("added terms come from the hits that they name")
def _(bench: Bench) -> str:
    trace = _hopeless(bench)
    index_text = {c.uid: c.index_text for c in bench.chunks}
    asked, count = set(trace.rounds[0].terms), 0
    for before, r in zip(trace.rounds, trace.rounds[1:], strict=False):
        shown = {hit.uid for hit in before.hits[:3]}
        for added in r.added_terms:
            need(added.sources and set(added.sources) <= shown, f"{added.term!r} comes from {added.sources}")
            need(all(added.term in terms(index_text[uid]) for uid in added.sources), f"{added.term!r} is not there")
            need(added.term in r.terms and added.term not in asked, f"{added.term!r} was asked for, or not added")
            need(0 < added.weight <= 1, f"{added.term!r} weighs {added.weight}")
            count += 1
    need(count, "no term was added")
    return f"{count} terms stand in the hits that they are said to come from, and weigh no more than the person's own"


@loop.holds("a round that changes nothing is not shown")
def _(bench: Bench) -> str:
    pairs = [pair for trace in bench.traces for pair in pairwise(trace.rounds)]
    idle = [after for before, after in pairs if not changes(before, after)]
    need(not idle, f"round {idle[0].number} of {idle[0].query!r} found what the one before had found" if idle else "")
    alone = bench.small(["the heron sleeps on one leg"]).search("who feeds the heron at night", max_rewrites=5)
    need(len(alone.rounds) == 1, f"{len(alone.rounds)} rounds over the only note there is")
    need(alone.ended == "no-change", f"over the only note there is the loop ended for {alone.ended!r}")
    return f"{len(pairs)} further rounds each changed the evidence or its verdict; over a single note there was none"


@loop.holds("a misspelt word is mended and said, a misspelt number is only named")
def _(bench: Bench) -> str:
    engine = bench.small(["reciprocal rank fusion adds ranks", "error 40417 means no paper", "the heron sleeps"])
    trace = engine.search("recipocal rank", max_rewrites=2)
    need([r.origin for r in trace.rounds] == ["user", "spelling"], f"origins {[r.origin for r in trace.rounds]}")
    last = trace.last
    need(last.query == "reciprocal rank", f"{last.query!r} was searched")
    need(last.judged_by == last.query, f"it was judged by {last.judged_by!r}")
    need("'recipocal'" in last.why and "'reciprocal'" in last.why, f"the reason is {last.why!r}")
    need(last.hits[0].path == "0000.txt", f"{last.hits[0].path} stands first")
    code = engine.search("error 40418", max_rewrites=2)
    need(all("40417" not in r.query for r in code.rounds), "the number 40418 was changed to 40417")
    need(any("'40417'" in notice for notice in code.notices), "nothing was said of the number 40417")
    return "recipocal was searched as reciprocal, with the reason; 40418 stayed, and 40417 was named"


@loop.holds("sufficient evidence ends the loop")
def _(bench: Bench) -> str:
    mended = ("spelling", "translation", "synonyms")  # a word that stands nowhere is mended whatever the verdict
    early = [
        before
        for trace in bench.traces
        for before, after in pairwise(trace.rounds)
        if before.grade.sufficient and after.origin not in mended
    ]
    need(not early, f"round {early[0].number} of {early[0].query!r} sufficed, and another followed" if early else "")
    trace = bench.small(["the heron sleeps on one leg", "tea"]).search("heron leg", max_rewrites=5)
    need(trace.decision == "answer" and len(trace.rounds) == 1, f"{len(trace.rounds)} rounds, decided {trace.decision}")
    return f"a question with its answer took 1 of 6 rounds; no round of {len(bench.rounds)} follows a sufficient one"


@dataclass(frozen=True, slots=True)
class _BadModel:
    """A language model that always says the same."""

    reply: str
    name: str = "a bad model"
    context: int = 2048
    languages: tuple[str, ...] = ()

    def count(self, messages: Sequence[Message]) -> int:
        return sum(len(message.text) for message in messages)

    def write(
        self,
        messages: Sequence[Message],
        limit: int,
        *,
        cancelled: CancelledFn = lambda: False,
        reading: ReadingFn = lambda done, total: None,
        temperature: float = 0.0,
    ) -> Iterator[str]:
        yield self.reply


_TEXTS = ["the heron sleeps on one leg", "a quokka smiles", "tea at eighty degrees"]
# What is wrong with it -> the reply to "zymurgy of the quokka"; none of them may be run as a query.
_BAD = {
    "empty": "",
    "all thinking": "<think>well, zymurgy of the",
    "chatty": "Sure! Here you go:",
    "an echo": "Zymurgy of the quokka?",
    "without the key term": "zymurgy of small marsupials",
}


@loop.holds("a model that writes nonsense is rejected, and feedback serves")
def _(bench: Bench) -> str:
    for fault, reply in _BAD.items():
        engine = Engine(HashingEmbedder(), None, Settings(), generator=_BadModel(reply))
        trace = engine.build({f"{i:04}.txt": [text] for i, text in enumerate(_TEXTS)}).search(
            "zymurgy of the quokka", rewriter="rewrite", max_rewrites=4
        )
        origins = [r.origin for r in trace.rounds]
        need(origins[0] == "user" and set(origins[1:]) <= {"prf"}, f"{fault}: the rounds are {origins}")
        need(any("feedback serves" in n for n in trace.notices), f"{fault}: nothing says that feedback serves")
        need(trace.attempts, f"{fault}: the attempt is not recorded")
        need(all(a.outcome.startswith("rejected: ") for a in trace.attempts), f"{fault}: {trace.attempts[0].outcome}")
        first = {c.uid for name in ("bm25", "dense") if (s := trace.rounds[0].stage(name)) for c in s.candidates}
        for r in trace.rounds[1:]:
            fused = r.stage("fused")
            held = {c.uid for c in fused.candidates} if fused else set()
            need(first <= held, f"{fault}: round {r.number} dropped {len(first - held)} of {len(first)} candidates")
    return f"replies that were {', '.join(_BAD)} ran no query; each was recorded, and round 0's lists stayed"
