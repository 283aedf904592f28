"""The verdict follows from its signals, and says why."""

from __future__ import annotations

from glassbox_tui import Engine
from glassbox_tui.index.sparse import idf
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.grade import grade
from glassbox_tui.settings import Settings

TEXTS = {"a.md": "redlock uses leases", "b.md": "zookeeper uses sessions", "c.md": "leases expire"}


def sparse():  # type: ignore[no-untyped-def]
    return Engine(HashingEmbedder(), settings=Settings()).build(TEXTS).snapshot.sparse


def test_all_signals_over_their_thresholds_suffice() -> None:
    verdict = grade("redlock leases", ["redlock uses leases"], sparse(), 0.9, 0.7, {"dense": 0.8, "rerank": 0.5})
    assert (verdict.sufficient, verdict.coverage, verdict.reasons, verdict.missing) == (True, 1.0, (), ())
    assert verdict.thresholds == {"coverage": 0.6, "dense": 0.8, "rerank": 0.5}


def test_each_signal_alone_can_fail_it_and_is_named() -> None:
    for dense, rerank, text, word in (
        (0.7, 0.7, "redlock leases", "dense"),
        (0.9, 0.4, "redlock leases", "rerank"),
        (0.9, 0.7, "-", "coverage"),
    ):
        verdict = grade("redlock leases", [text], sparse(), dense, rerank, {"dense": 0.8, "rerank": 0.5})
        assert not verdict.sufficient
        assert [reason.split()[0] for reason in verdict.reasons] == [word]


def test_rare_terms_weigh_more_in_idf_coverage() -> None:
    """redlock is in one text of three, uses in two: missing the rare one costs more."""
    index = sparse()
    verdict = grade("redlock zookeeper expire uses", ["uses"], index, None, None, {})
    terms = {t: idf(index, t) for t in ("redlock", "zookeep", "expir", "use")}
    assert verdict.coverage == 0.25
    assert verdict.idf_coverage is not None and verdict.idf_coverage < 0.25
    assert abs(verdict.idf_coverage - terms["use"] / sum(terms.values())) < 1e-12


def test_a_stage_that_did_not_run_has_no_say() -> None:
    assert grade("redlock", ["redlock"], sparse(), None, None, {}).sufficient


def test_a_stage_that_ran_and_gave_no_score_speaks_against_the_evidence() -> None:
    """While vectors are still missing, words alone must not look as sure as all three signals."""
    verdict = grade("redlock", ["redlock"], sparse(), None, None, {"dense": 0.8, "rerank": 0.5})
    assert verdict.reasons == ("no dense score for the evidence", "no rerank score for the evidence")


def test_nothing_found_and_nothing_to_judge_by_are_insufficient() -> None:
    assert grade("redlock", [], sparse(), None, None, {}).reasons[0] == "no chunk was found"
    assert grade("的了吗", ["text"], sparse(), None, None, {}).reasons == ("no signal to judge by",)


def test_a_reason_never_says_that_a_number_is_less_than_itself() -> None:
    [reason] = grade("redlock", ["redlock"], sparse(), 0.8341, None, {"dense": 0.835}).reasons
    assert reason == "dense 0.834 < 0.835"
