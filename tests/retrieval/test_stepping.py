"""The loop by hand: accepting everything is the loop; every other choice is a round of its own in a valid Trace."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_loop import MANY, NOTES, WORDS, Reverse

from glassbox_tui import Engine
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.progress import Cancelled
from glassbox_tui.retrieval.moves import Accept, Edit, First, Own, Skip, SteppingError, Stop, cut_after
from glassbox_tui.retrieval.stepping import step
from glassbox_tui.retrieval.trace import Round, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.retrieval.wording import added_words, editable
from glassbox_tui.settings import Settings

HOPELESS = "redlock selection criteria"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(HashingEmbedder(), Reverse(), Settings(max_rewrites=4)).build(MANY)


def through_json(trace: Trace) -> Trace:
    return from_json(to_json(trace))


def accept_all(engine: Engine, query: str) -> Trace:
    """Through JSON between all steps: nothing but the Trace carries over."""
    pause = step(engine, First(query))
    while pause.proposal is not None:
        pause = step(engine, Accept(through_json(pause.trace), pause.proposal))
    return pause.trace


def paused(engine: Engine, query: str = HOPELESS) -> tuple[Trace, Round]:
    pause = step(engine, First(query))
    assert pause.proposal is not None
    return pause.trace, pause.proposal.round


def ran(trace: Trace) -> list[tuple[str, str, list[list[tuple[str, int, float]]]]]:
    return [
        (r.query, r.origin, [[(c.uid, c.rank, c.score) for c in s.candidates] for s in r.stages]) for r in trace.rounds
    ]


@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
@settings(deadline=None, max_examples=40)
def test_accepting_everything_is_the_loop(engine: Engine, query: str) -> None:
    by_hand, by_itself = accept_all(engine, query), engine.search(query)
    assert ran(by_hand) == ran(by_itself)
    assert (by_hand.ended, by_hand.decision) == (by_itself.ended, by_itself.decision)
    assert to_json(by_hand, timings=False) == to_json(by_itself, timings=False)


def test_the_bundled_model_reads_the_question_the_same_way_at_each_step(e5: E5Embedder) -> None:
    made = Engine(e5, settings=Settings()).build(NOTES)
    for query in ("redlock 选型", "who steeps the quokka", HOPELESS):
        assert ran(accept_all(made, query)) == ran(made.search(query))


def test_a_transform_and_lists_of_ones_own_step_like_the_loop() -> None:
    class Rewriter:
        name = "rewriter"

        def transform(self, query: str, evidence: Sequence[str]) -> str:
            return f"{query} lease {len(evidence[0])}"

    class Alphabet:
        name = "alphabet"

        def retrieve(self, query: str, k: int) -> list[str]:
            return sorted(f"{path}#0" for path in NOTES)[: k if "lease" in query else 2]

    made = Engine(
        HashingEmbedder(), Reverse(), Settings(rerank_weight=0.5), transform=Rewriter(), retrievers=[Alphabet()]
    ).build(MANY)
    by_hand = accept_all(made, HOPELESS)
    assert by_hand.rounds[1].origin == "llm"
    assert ran(by_hand) == ran(made.search(HOPELESS))
    # Skipped, a wording is not proposed again: feedback comes next.
    pause = step(made, First(HOPELESS))
    pause = step(made, Skip(pause.trace, pause.proposal))
    assert pause.proposal is not None
    assert pause.proposal.round.origin == "prf"


def test_the_proposal_has_run_quietly_and_does_not_count_before_it_is_accepted(engine: Engine) -> None:
    trace, proposed = paused(engine)
    assert len(trace.rounds) == 1
    assert (proposed.number, proposed.origin, trace.ended) == (1, "prf", "")
    assert proposed.hits


@pytest.mark.parametrize(
    ("query", "rewrites", "why"),
    [
        ("redlock lease", 4, "sufficient"),
        (HOPELESS, 0, "rewrites-used"),
        (HOPELESS, 20, "repeated"),
        ("nothing", 4, "no-idea"),
    ],
)
def test_a_trace_says_why_it_ended(query: str, rewrites: int, why: str) -> None:
    notes = {"empty.md": "nothing"} if why == "no-idea" else NOTES
    made = Engine(HashingEmbedder(), Reverse(), Settings(max_rewrites=rewrites)).build(notes)
    if why == "no-idea":  # the one note says nothing new, and its one word alone is not what was asked
        query = "nothing else asked"
    assert made.search(query).ended == why
    assert accept_all(made, query).ended == why
    assert from_json(to_json(made.search(query))).ended == why


def test_a_trace_from_before_that_was_recorded_still_reads(engine: Engine) -> None:
    old = to_json(engine.search(HOPELESS)).replace('"ended"', '"later"').replace('"surface"', '"later"')
    assert from_json(old).ended == ""


def test_an_edit_drops_what_was_deleted_and_keeps_the_weights_of_the_rest(engine: Engine) -> None:
    trace, proposed = paused(engine)
    words = added_words(proposed.added_terms)
    kept = words[-1]
    pause = step(engine, Edit(trace, proposed, f"{HOPELESS} + {kept.text}"))
    new = pause.trace.last
    assert (new.number, new.origin) == (1, "manual")
    assert {(t.term, t.weight, t.sources) for t in new.added_terms} == {
        (t.term, t.weight, t.sources) for t in proposed.added_terms if t.term in kept.terms
    }
    assert set(new.terms) == {*trace.rounds[0].terms, *kept.terms}
    assert new.query == f"{HOPELESS} {kept.text}"


def test_an_edit_that_changes_nothing_finds_what_the_proposal_finds(engine: Engine) -> None:
    trace, proposed = paused(engine)
    edited = step(engine, Edit(trace, proposed, editable(proposed))).trace.last
    assert [(h.uid, h.stages) for h in edited.hits] == [(h.uid, h.stages) for h in proposed.hits]


def test_an_edited_round_keeps_the_filters_of_the_question_unless_they_are_deleted() -> None:
    notes = {
        "car.md": "The sports car was refunded in spring.",
        "tar.md": "A refund for the tar bill came in autumn.",
        "fee.md": "The refund of the fee came in winter, by post.",
    }
    made = Engine(HashingEmbedder(), settings=Settings(max_rewrites=3)).build(notes)
    pause = step(made, First('refundd came "came in" -tar'))
    assert pause.proposal is not None
    proposed = pause.proposal.round
    assert proposed.origin == "spelling"
    assert {h.path for h in proposed.hits} == {"fee.md"}
    edited = step(made, Edit(pause.trace, proposed, f"{editable(proposed)} post")).trace.last
    assert {(f.kind, f.text) for f in edited.filters} == {("phrase", '"came in"'), ("exclude", "-tar")}
    assert {h.path for h in edited.hits} == {"fee.md"}
    freed = step(made, Edit(pause.trace, proposed, editable(proposed).replace(" -tar", ""))).trace.last
    assert {h.path for h in freed.hits} == {"fee.md", "tar.md"}


def test_what_is_added_by_hand_is_searched_for(engine: Engine) -> None:
    trace, proposed = paused(engine)
    new = step(engine, Edit(trace, proposed, f"{HOPELESS} + 绿茶")).trace.last
    assert [(t.term, t.sources, t.surface) for t in new.added_terms] == [("绿茶", (), "绿茶")]
    bm25 = new.stage("bm25")
    assert bm25 is not None
    assert "tea.md#0" in {c.uid for c in bm25.candidates}


def test_the_wording_itself_can_be_edited_and_the_evidence_is_still_judged_by_what_was_asked(engine: Engine) -> None:
    trace, proposed = paused(engine)
    new = step(engine, Edit(trace, proposed, "green tea")).trace.last
    bm25 = new.stage("bm25")
    assert bm25 is not None
    assert (new.query, new.added_terms, bm25.candidates[0].uid) == ("green tea", (), "tea.md#0")
    assert new.grade.missing == trace.last.grade.missing


def test_ones_own_query_runs_alone_and_is_judged_by_itself(engine: Engine) -> None:
    trace, _ = paused(engine)
    new = step(engine, Own(trace, "  绿茶 ")).trace.last
    assert (new.query, new.origin, new.judged_by) == ("绿茶", "manual", "绿茶")
    assert new.grade.missing == ()
    alone = engine.search("绿茶", max_rewrites=0).last
    assert [(s.name, s.candidates) for s in new.stages] == [(s.name, s.candidates) for s in alone.stages]


def test_ones_own_query_finds_its_note_whatever_was_asked_before() -> None:
    notes = {f"bread{i}.md": f"Bread number {i} is baked for {i} minutes with policy flour." for i in range(40)}
    notes["refund.md"] = "The refund policy: within 30 days, with the receipt."
    made = Engine(HashingEmbedder(), settings=Settings()).build(notes)
    trace = step(made, First("how long is bread baked with flour")).trace
    own = step(made, Own(trace, "refund policy"), go_on=False).trace
    assert own.last.hits[0].path == "refund.md" and own.asked == "refund policy"
    assert own.rounds[0] is trace.rounds[0]


def test_what_follows_ones_own_query_builds_on_it_and_not_on_the_first_question(engine: Engine) -> None:
    trace, _ = paused(engine)
    pause = step(engine, Own(trace, "绿茶 zymurgy selection criteria"))
    assert pause.proposal is not None
    assert pause.proposal.round.judged_by == "绿茶 zymurgy selection criteria"
    fused = pause.proposal.round.stage("fused")
    assert fused is not None
    assert {p.name for c in fused.candidates for p in c.parts if "@" in p.name} == {"bm25@1", "dense@1"}


@pytest.mark.parametrize("text", ["+ 绿茶", "  +  绿茶"])
def test_behind_a_plus_round_0_stays_in_its_fused_list(engine: Engine, text: str) -> None:
    trace, _ = paused(engine)
    new = step(engine, Own(trace, text)).trace.last
    assert (new.query, new.origin, new.judged_by) == ("绿茶", "manual", HOPELESS)
    fused = new.stage("fused")
    assert fused is not None
    first = {c.uid for name in ("bm25", "dense") for c in trace.rounds[0].stage(name).candidates}  # type: ignore[union-attr]
    assert first <= {c.uid for c in fused.candidates}
    assert {"bm25", "dense@0"} <= {p.name for c in fused.candidates for p in c.parts}


def test_skipping_proposes_what_was_not_proposed_yet_until_nothing_is_left(engine: Engine) -> None:
    pause = step(engine, First(HOPELESS))
    seen = set[str]()
    while pause.proposal is not None:
        terms = {t.term for t in pause.proposal.round.added_terms}
        assert terms
        assert not terms & seen
        seen |= terms
        pause = step(engine, Skip(pause.trace, pause.proposal))
    assert len(seen) > 10
    assert pause.trace.ended == "no-idea"
    assert len(pause.trace.rounds) == 1


def test_where_the_loop_has_ended_a_person_can_ask_for_one_more_idea(engine: Engine) -> None:
    ended = accept_all(engine, HOPELESS)
    assert ended.ended in ("repeated", "no-change", "rewrites-used")
    pause = step(engine, Skip(ended, None))
    assert pause.proposal is not None
    used = {t.term for r in ended.rounds for t in r.added_terms}
    assert not used & {t.term for t in pause.proposal.round.added_terms}


def test_stopping_says_that_the_person_stopped(engine: Engine) -> None:
    trace, proposed = paused(engine)
    pause = step(engine, Stop(trace))
    assert (ran(pause.trace), pause.trace.ended, pause.proposal) == (ran(trace), "stopped", None)
    alone = step(engine, Edit(trace, proposed, "green tea"), go_on=False)
    assert alone.proposal is None
    assert alone.trace.ended == "one-round"


def test_a_branch_shares_its_first_rounds_and_is_a_trace_like_any_other(engine: Engine) -> None:
    trunk = engine.search(HOPELESS)
    assert len(trunk.rounds) > 1
    branch = step(engine, Own(cut_after(trunk, 0), "+ 绿茶"), go_on=False).trace
    assert branch.rounds[0] is trunk.rounds[0]
    assert [r.number for r in branch.rounds] == [0, 1]
    assert branch.rounds[1] != trunk.rounds[1]
    assert branch.ended == "one-round"
    assert branch.decision == "insufficient"
    assert from_json(to_json(branch)) == branch


@pytest.mark.parametrize("text", ["", "  ", " + "])
def test_an_empty_query_is_refused_in_words(engine: Engine, text: str) -> None:
    trace, proposed = paused(engine)
    for move in (Edit(trace, proposed, text), Own(trace, text)):
        with pytest.raises(SteppingError, match="empty"):
            step(engine, move)


def test_a_query_that_ran_already_is_refused_with_its_round(engine: Engine) -> None:
    trace, _ = paused(engine)
    with pytest.raises(SteppingError, match="round 0 has run this query"):
        step(engine, Own(trace, HOPELESS.upper()))


def test_settings_and_scope_of_the_first_round_hold_for_all() -> None:
    made = Engine(HashingEmbedder(), Reverse(), Settings()).build(NOTES)
    first = made.search("lease 时钟 unheard", max_rewrites=0, top_k=2, rrf_k=7, scope="clock.md")
    new = step(made, Own(first, "tea"), go_on=False).trace.last
    assert {h.path for h in new.hits} == {"clock.md"}
    fused = new.stage("fused")
    assert fused is not None
    assert {p.detail for p in fused.candidates[0].parts} == {"1/(7+1)"}


def test_notes_that_are_gone_by_the_next_round_are_left_out_and_it_is_said() -> None:
    made = Engine(HashingEmbedder(), Reverse(), Settings()).build(NOTES)
    pause = step(made, First(HOPELESS))
    made.build({path: text for path, text in NOTES.items() if path != "lock.md"})
    trace = step(made, Own(pause.trace, "clock"), go_on=False).trace
    assert all(h.path != "lock.md" for h in trace.last.hits)
    assert any("1 chunks of the earlier rounds are gone" in n for n in trace.notices)


def test_a_step_can_be_cancelled(engine: Engine) -> None:
    trace, _ = paused(engine)
    with pytest.raises(Cancelled):
        step(engine, Own(trace, "tea"), cancelled=lambda: True)
