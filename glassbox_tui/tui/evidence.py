"""The evidence panel (the selected hit's text with what matched in it) and the score panel (sums that add up)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rich.text import Text

from glassbox_tui.retrieval.trace import STAGES, Candidate, Hit, Part, Round
from glassbox_tui.text.normalize import visible
from glassbox_tui.tui.cells import DIM, HEAD, KEY, MARK, cut, number, wrap
from glassbox_tui.tui.conditions import instead_of_evidence
from glassbox_tui.tui.state import View, selected_hit, selected_index, shown_round
from glassbox_tui.views.plain import heading, location
from glassbox_tui.views.plain import line as plain

STRONGEST = 3  # late-interaction matches that are underlined
NAMED_PARTS = 3  # summands of a score that are shown by name
_Span = tuple[int, int]


def evidence(view: View, width: int, height: int) -> list[Text]:
    """Where the selected hit is from, and its text: matched BM25 terms coloured, strongest token matches underlined."""
    now, hit = shown_round(view), selected_hit(view)
    if now is None or hit is None:
        return instead_of_evidence(view, width)
    head = Text(f"{selected_index(view) + 1}/{len(now.hits)}  ", DIM)
    head.append(location(hit), KEY)
    head.append("  " + heading(hit), HEAD)
    lines = wrap(head, width, indent=5)
    for paragraph in marked_text(hit, now).split("\n", allow_blank=True):
        lines.extend(wrap(paragraph, width) or [Text()])
    return lines


def marked_text(hit: Hit, now: Round) -> Text:
    """The hit's text, harmless, with its matches styled."""
    terms, strong = _matched_spans(hit, now), _strongest_spans(hit, now)
    edges = sorted({0, len(hit.text), *(edge for span in (*terms, *strong) for edge in span)})
    text = Text()
    for start, end in pairwise(edges):
        style = " ".join(
            style
            for spans, style in ((terms, MARK), (strong, "underline"))
            if any(a <= start and end <= b for a, b in spans)
        )
        text.append(visible(hit.text[start:end]), style)
    return text


def _matched_spans(hit: Hit, now: Round) -> list[_Span]:
    found = _candidate(now, "bm25", hit.uid)
    if found is None:
        return []
    from glassbox_tui.text.tokens import tokenize  # here, because its tables would delay the first paint

    terms = {p.name for p in found.parts} or set(now.terms)
    return [(t.start, t.end) for t in tokenize(hit.text) if t.term in terms]


def _strongest_spans(hit: Hit, now: Round) -> list[_Span]:
    found = _candidate(now, "rerank", hit.uid)
    parts = [] if found is None else sorted(found.parts, key=lambda p: -p.value)
    return [p.span for p in parts if p.span is not None and 0 <= p.span[0] < p.span[1] <= len(hit.text)][:STRONGEST]


def scores(view: View, width: int, height: int) -> list[Text]:
    """Per stage: rank, score, and the parts it is the sum of."""
    now, hit = shown_round(view), selected_hit(view)
    if now is None or hit is None:
        return []
    lines: list[Text] = []
    for name in STAGES:
        place = hit.stages.get(name)
        line = Text(f"{name:<7}", HEAD)
        if place is None:
            ran = now.stage(name) is not None
            lines.append(line.append("- not seen by this stage" if ran else "- this stage did not run", DIM))
            continue
        line.append(f"#{place.rank:<3} ").append(number(place.score))
        found = _candidate(now, name, hit.uid)
        # How chunk and note share a term's score is in the x-ray: here it would push the later stages out of sight.
        parts = [] if found is None else [replace(p, detail="") if name == "bm25" else p for p in found.parts]
        lines.extend(packed(line, summands(parts), width, indent=9))
    return lines


def summands(parts: Sequence[Part]) -> list[Text]:
    """The parts as "name detail value", the strongest few by name and the rest as one sum: they still add up."""
    ordered = sorted(parts, key=lambda p: -abs(p.value))
    named, rest = ordered[:NAMED_PARTS], ordered[NAMED_PARTS:]
    texts = [
        Text(f"{plain(p.name)} {plain(p.detail)} " if p.detail else f"{plain(p.name)} ", DIM).append(
            number(p.value), "not dim"
        )
        for p in named
    ]
    if rest:
        texts.append(Text(f"{len(rest)} more ", DIM).append(number(sum(p.value for p in rest)), "not dim"))
    return texts


def packed(head: Text, terms: Sequence[Text], width: int, indent: int) -> list[Text]:
    """`head = term + term ...` in lines of at most `width` cells, broken between terms only; too long a term is cut."""
    lines = [head]
    for i, term in enumerate(terms):
        joined = Text(" + " if i else " = ", DIM).append_text(term)
        if lines[-1].cell_len + joined.cell_len > width:
            lines.append(Text(" " * (indent - 3)))
        lines[-1].append_text(cut(joined, width - lines[-1].cell_len))
    return lines


def _candidate(now: Round, stage: str, uid: str) -> Candidate | None:
    ran = now.stage(stage)
    return None if ran is None else next((c for c in ran.candidates if c.uid == uid), None)
