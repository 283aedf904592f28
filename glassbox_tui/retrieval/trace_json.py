"""Trace <-> JSON. The key names are a contract: keys may be added, never renamed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from glassbox_tui.retrieval.trace import (
    ALL_STAGES,
    STAGES,
    TRACE_VERSION,
    AddedTerm,
    Attempt,
    Candidate,
    Filter,
    Grade,
    Hit,
    IndexInfo,
    Part,
    Place,
    Round,
    Signal,
    Stage,
    Trace,
    TraceError,
)
from glassbox_tui.text.normalize import json_escaped


def to_json(trace: Trace, *, indent: int | None = None, timings: bool = True) -> str:
    """One JSON document. Same index, same query, same bytes, once `timings` are left out."""
    document = to_dict(trace)
    if not timings:
        del document["timings_ms"]
        for round_ in document["rounds"]:
            for stage in round_["stages"]:
                del stage["ms"]
        for attempt in document["attempts"]:
            del attempt["ms"]
    return json_escaped(json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False))


def from_json(text: str) -> Trace:
    """The Trace of a JSON document. Raises TraceError with the reason when it is not one."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"not JSON: {error}") from None
    return from_dict(document)


def to_dict(trace: Trace) -> dict[str, Any]:
    return {
        "version": trace.version,
        "query": trace.query,
        "settings": dict(trace.settings),
        "index": {
            "notes": trace.index.notes,
            "chunks": trace.index.chunks,
            "dense_coverage": trace.index.dense_coverage,
            "embedder": trace.index.embedder,
            "reranker": trace.index.reranker,
        },
        "rounds": [_round_to_dict(r) for r in trace.rounds],
        "decision": trace.decision,
        "ended": trace.ended,
        "notices": list(trace.notices),
        "attempts": [_attempt_to_dict(a) for a in trace.attempts],
        "timings_ms": dict(trace.timings_ms),
    }


def from_dict(document: Any) -> Trace:
    """The inverse of `to_dict`. Unknown keys are ignored. Raises TraceError."""
    if not isinstance(document, dict):
        raise TraceError("not a Trace: the document is not a JSON object")
    if document.get("version") != TRACE_VERSION:
        raise TraceError(
            f"Trace version {document.get('version')!r} is not {TRACE_VERSION}, the one this program reads"
        )
    try:
        rounds = tuple(_round_from_dict(r) for r in document["rounds"])
        if not rounds:
            raise TraceError("not a Trace: it has no rounds")
        return Trace(
            query=_str(document["query"]),
            settings=dict(document["settings"]),
            index=_index_from_dict(document["index"]),
            rounds=rounds,
            decision=_str(document["decision"]),
            ended=_str(document.get("ended", "")),
            notices=tuple(_str(n) for n in document["notices"]),
            timings_ms={_str(k): _float(v) for k, v in document["timings_ms"].items()},
            attempts=tuple(_attempt_from_dict(a) for a in document.get("attempts", ())),
        )
    except KeyError as error:
        raise TraceError(f"not a Trace: the key {error} is missing") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise error if isinstance(error, TraceError) else TraceError(f"not a Trace: {error}") from None


def _round_to_dict(r: Round) -> dict[str, Any]:
    return {
        "number": r.number,
        "query": r.query,
        "origin": r.origin,
        "terms": list(r.terms),
        "added_terms": [
            {"term": t.term, "weight": t.weight, "from": list(t.sources), "surface": t.surface} for t in r.added_terms
        ],
        "filters": [{"kind": f.kind, "text": f.text, "removed": f.removed} for f in r.filters],
        "stages": [
            {
                "name": s.name,
                "ms": s.ms,
                "candidates": [_candidate_to_dict(c) for c in s.candidates],
                "lacking": list(s.lacking),
            }
            for s in r.stages
        ],
        "hits": [_hit_to_dict(h) for h in r.hits],
        "grade": {
            "coverage": r.grade.coverage,
            "idf_coverage": r.grade.idf_coverage,
            "top_dense": r.grade.top_dense,
            "top_rerank": r.grade.top_rerank,
            "thresholds": dict(r.grade.thresholds),
            "sufficient": r.grade.sufficient,
            "reasons": list(r.grade.reasons),
            "missing": list(r.grade.missing),
            "level": r.grade.level,
            "probability": r.grade.probability,
            "log_odds": r.grade.log_odds,
            "signals": [
                {"name": s.name, "value": s.value, "share": s.share, "detail": s.detail} for s in r.grade.signals
            ],
        },
        "why": r.why,
        "judged_by": r.judged_by,
    }


def _attempt_to_dict(a: Attempt) -> dict[str, Any]:
    return {
        "round": a.round,
        "how": a.how,
        "model": a.model,
        "prompt": [{"role": role, "text": text} for role, text in a.prompt],
        "reply": a.reply,
        "outcome": a.outcome,
        "ms": a.ms,
    }


def _candidate_to_dict(c: Candidate) -> dict[str, Any]:
    return {"uid": c.uid, "rank": c.rank, "score": c.score, "parts": [_part_to_dict(p) for p in c.parts] or None}


def _part_to_dict(p: Part) -> dict[str, Any]:
    return {"name": p.name, "value": p.value, "detail": p.detail, "span": None if p.span is None else list(p.span)}


def _hit_to_dict(h: Hit) -> dict[str, Any]:
    places = {name: h.stages.get(name) for name in ALL_STAGES if name in STAGES or name in h.stages}
    return {
        "uid": h.uid,
        "path": h.path,
        "title": h.title,
        "heading": list(h.heading),
        "text": h.text,
        "start": h.start,
        "end": h.end,
        "lines": list(h.lines),
        "page": h.page,
        "content": h.content,
        "stages": {name: None if p is None else {"rank": p.rank, "score": p.score} for name, p in places.items()},
    }


def _index_from_dict(d: Mapping[str, Any]) -> IndexInfo:
    return IndexInfo(
        _int(d["notes"]), _int(d["chunks"]), _float(d["dense_coverage"]), _str(d["embedder"]), _str(d["reranker"])
    )


def _round_from_dict(d: Mapping[str, Any]) -> Round:
    g = d["grade"]
    return Round(
        number=_int(d["number"]),
        query=_str(d["query"]),
        origin=_str(d["origin"]),
        terms=tuple(_str(t) for t in d["terms"]),
        added_terms=tuple(
            AddedTerm(
                _str(t["term"]), _float(t["weight"]), tuple(_str(u) for u in t["from"]), _str(t.get("surface", ""))
            )
            for t in d["added_terms"]
        ),
        stages=tuple(
            Stage(
                _str(s["name"]),
                _float(s.get("ms", 0.0)),
                tuple(_candidate_from_dict(c) for c in s["candidates"]),
                tuple(_str(uid) for uid in s.get("lacking", ())),
            )
            for s in d["stages"]
        ),
        hits=tuple(_hit_from_dict(h) for h in d["hits"]),
        grade=Grade(
            coverage=_maybe_float(g["coverage"]),
            idf_coverage=_maybe_float(g["idf_coverage"]),
            top_dense=_maybe_float(g["top_dense"]),
            top_rerank=_maybe_float(g["top_rerank"]),
            thresholds={_str(k): _float(v) for k, v in g["thresholds"].items()},
            sufficient=bool(g["sufficient"]),
            reasons=tuple(_str(x) for x in g["reasons"]),
            missing=tuple(_str(x) for x in g.get("missing", ())),
            level=_str(g.get("level", "")),
            probability=_maybe_float(g.get("probability")),
            log_odds=_maybe_float(g.get("log_odds")),
            signals=tuple(
                Signal(_str(s["name"]), _maybe_float(s["value"]), _float(s["share"]), _str(s.get("detail", "")))
                for s in g.get("signals", ())
            ),
        ),
        filters=tuple(Filter(_str(f["kind"]), _str(f["text"]), _int(f["removed"])) for f in d.get("filters", ())),
        why=_str(d.get("why", "")),
        judged_by=_str(d.get("judged_by", "")),
    )


def _attempt_from_dict(a: Mapping[str, Any]) -> Attempt:
    return Attempt(
        round=_int(a["round"]),
        how=_str(a["how"]),
        model=_str(a["model"]),
        prompt=tuple((_str(turn["role"]), _str(turn["text"])) for turn in a["prompt"]),
        reply=_str(a["reply"]),
        outcome=_str(a["outcome"]),
        ms=_float(a.get("ms", 0.0)),
    )


def _candidate_from_dict(c: Mapping[str, Any]) -> Candidate:
    parts = tuple(
        Part(_str(p["name"]), _float(p["value"]), _str(p.get("detail", "")), _pair(p.get("span")))
        for p in c["parts"] or ()
    )
    return Candidate(_str(c["uid"]), _rank(c["rank"]), _float(c["score"]), parts)


def _hit_from_dict(h: Mapping[str, Any]) -> Hit:
    lines = _pair(h["lines"])
    if lines is None:
        raise TraceError("not a Trace: a hit has no lines")
    return Hit(
        uid=_str(h["uid"]),
        path=_str(h["path"]),
        title=_str(h["title"]),
        heading=tuple(_str(x) for x in h["heading"]),
        text=_str(h["text"]),
        start=_int(h["start"]),
        end=_int(h["end"]),
        lines=lines,
        page=None if h["page"] is None else _int(h["page"]),
        content=_str(h.get("content", "")),
        stages={
            name: None if (p := h["stages"].get(name)) is None else Place(_rank(p["rank"]), _float(p["score"]))
            for name in ALL_STAGES
            if name in STAGES or name in h["stages"]
        },
    )


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TraceError(f"not a Trace: {_shown(value)} stands where a text belongs")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _int(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TraceError(f"not a Trace: {_shown(value)} stands where a whole number belongs")
    return value


def _rank(value: Any) -> int:
    if _int(value) < 1:
        raise TraceError(f"not a Trace: {value} stands where a rank belongs, and ranks begin at 1")
    return int(value)


def _float(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TraceError(f"not a Trace: {_shown(value)} stands where a number belongs")
    return float(value)


def _maybe_float(value: Any) -> float | None:
    return None if value is None else _float(value)


def _pair(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    first, second = value
    return _int(first), _int(second)
