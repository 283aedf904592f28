"""The evidence panel (the selected hit's text with what matched in it) and the score panel (sums that add up)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rich.text import Text

from glassbox_tui.retrieval.trace import Hit, Part, Round
from glassbox_tui.text.normalize import visible
from glassbox_tui.tui.cells import DIM, HEAD, KEY, MARK, cut, number, wrap
from glassbox_tui.tui.conditions import instead_of_evidence
from glassbox_tui.tui.layout import soft_wrap
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View, selected_hit, shown_round
from glassbox_tui.tui.tokenlist import token_list
from glassbox_tui.tui.words import say
from glassbox_tui.views.matching import (
    WordShare,
    candidate,
    matched_spans,
    strongest_spans,
    surface_forms,
    token_shares,
)
from glassbox_tui.views.plain import heading, location
from glassbox_tui.views.plain import line as plain

NAMED_PARTS = 3  # summands of a score that are shown by name


def evidence(view: View, width: int, height: int) -> list[Text]:
    """Where the selected hit is from, and its text: matched BM25 terms coloured, strongest token matches underlined.

    With the close-up on, what stands around it in the note, dimmed, or the token list in its place.
    """
    now, hit = shown_round(view), selected_hit(view)
    if now is None or hit is None:
        return instead_of_evidence(view, width)
    head = Text(f"{now.hits.index(hit) + 1}/{len(now.hits)}  ", DIM)
    head.append(location(hit), KEY)
    head.append("  " + heading(hit), HEAD)
    lines = wrap(head, width, indent=5)
    if view.closeup.tokens:
        query = now.judged_by or (view.trace.query if view.trace is not None else now.query)
        return [*lines, *token_list(hit, now, query, width)]
    text, around = marked_text(hit, now), view.closeup.around
    if view.closeup.wide and around is not None and around.uid == hit.uid:
        text = Text(visible(around.before), DIM).append_text(text).append(visible(around.after), DIM)
    for paragraph in text.split("\n", allow_blank=True):
        lines.extend(soft_wrap(paragraph, width))
    return lines


def marked_text(hit: Hit, now: Round) -> Text:
    """The hit's text, harmless, with its matches styled."""
    terms, strong = matched_spans(hit, now), strongest_spans(hit, now)
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


def scores(view: View, width: int, height: int) -> list[Text]:
    """Per stage: rank, score, and the parts it is the sum of."""
    now, hit = shown_round(view), selected_hit(view)
    if now is None or hit is None:
        return []
    lines: list[Text] = []
    query = now.judged_by or (view.trace.query if view.trace is not None else now.query)
    words = surface_forms(now, query, (hit.text,), say)
    for name in hit.stages:
        place = hit.stages.get(name)
        line = Text(f"{name + ' ':<7}", HEAD)
        if place is None:
            ran = now.stage(name) is not None
            lines.append(
                line.append("- " + (say("not seen by this stage") if ran else say("this stage did not run")), DIM)
            )
            continue
        line.append(f"#{place.rank:<3} ").append(number(place.score))
        found = candidate(now, name, hit.uid)
        parts = [] if found is None else found.parts
        if name == "rerank":
            parts = [_word_part(share) for share in token_shares(hit, now, query)]
        elif name == "bm25":
            # How chunk and note share a term's score is in the x-ray: here it would push later stages out of sight.
            parts = [replace(p, name=words.get(p.name, p.name), detail="") for p in parts]
        else:
            parts = [replace(p, detail=", ".join(map(told, p.detail.split(", ")))) for p in parts]
        lines.extend(packed(line, summands(parts), width, indent=9))
    return lines


def _word_part(share: WordShare) -> Part:
    """What one word of the question adds: it stands there, or the word that its strongest token met."""
    met = max(share.meetings, key=lambda m: m.share, default=None)
    if met is not None and met.stands is not None:
        return Part(share.word, share.share, f"{met.stands.partition('=')[2]} {say('stands here')}".strip())
    return Part(share.word, share.share, say("met {}", met.met) if met is not None and met.met.strip() else share.note)


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
        texts.append(Text(say("{} more", len(rest)) + " ", DIM).append(number(sum(p.value for p in rest)), "not dim"))
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
