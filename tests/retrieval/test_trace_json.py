"""A Trace survives JSON both ways, and what is no Trace is told so in a sentence."""

from __future__ import annotations

import json

import pytest
from samples import (
    sample_trace,
    sample_trace_empty,
    sample_trace_hostile,
    sample_trace_probable,
    sample_trace_two_rounds,
)

from glassbox_tui.retrieval.trace import STAGES, Trace, TraceError
from glassbox_tui.retrieval.trace_json import from_json, to_json

SAMPLES = [
    sample_trace(),
    sample_trace_two_rounds(),
    sample_trace_hostile(),
    sample_trace_empty(),
    sample_trace_probable(),
]


@pytest.mark.parametrize("trace", SAMPLES)
def test_round_trip(trace: Trace) -> None:
    assert from_json(to_json(trace)) == trace
    assert to_json(from_json(to_json(trace))) == to_json(trace)


def test_key_names_are_the_contract() -> None:
    document = json.loads(to_json(sample_trace_two_rounds()))
    assert {"version", "query", "settings", "index", "rounds", "decision", "notices", "timings_ms"} <= document.keys()
    assert document["index"].keys() >= {"notes", "chunks", "dense_coverage", "embedder", "reranker"}
    second = document["rounds"][1]
    assert second.keys() >= {"number", "query", "origin", "terms", "added_terms", "stages", "hits", "grade"}
    assert second["added_terms"][0].keys() >= {"term", "weight", "from"}
    assert second["stages"][0].keys() >= {"name", "ms", "candidates"}
    assert second["stages"][0]["candidates"][0].keys() >= {"uid", "rank", "score", "parts"}
    hit = second["hits"][0]
    assert hit.keys() >= {"uid", "path", "title", "heading", "text", "start", "end", "lines", "page", "stages"}
    assert set(hit["stages"]) == set(STAGES)
    grade = {"coverage", "idf_coverage", "top_dense", "top_rerank", "thresholds", "sufficient", "reasons"}
    grade |= {"missing", "level", "probability", "log_odds", "signals"}
    assert second["grade"].keys() >= grade


def test_unknown_keys_are_ignored() -> None:
    document = json.loads(to_json(sample_trace()))
    document["later"] = document["rounds"][0]["later"] = 1
    assert from_json(json.dumps(document)) == sample_trace()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": 99}', '{"version": 1}', '{"version": 1, "rounds": 3}', "[" * 100_000]
)
def test_what_is_no_trace_is_told_so(text: str) -> None:
    with pytest.raises(TraceError):
        from_json(text)


@pytest.mark.parametrize("key", ["query", "settings", "index", "rounds", "decision"])
@pytest.mark.parametrize("value", [None, 1, "x", [1], {"a": 1}])
def test_damaged_traces_never_raise_anything_else(key: str, value: object) -> None:
    document = json.loads(to_json(sample_trace()))
    document[key] = value
    try:
        from_json(json.dumps(document))
    except TraceError as error:
        assert "Trace" in str(error)
