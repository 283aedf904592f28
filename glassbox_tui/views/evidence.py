"""The evidence table and the lines around it: what was found, where each stage put it, whether to trust it."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, OverflowMethod, RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.retrieval.reasons import filter_words
from glassbox_tui.retrieval.trace import STAGES, Grade, Hit, Round, Trace
from glassbox_tui.retrieval.wording import added_words
from glassbox_tui.views.look import Look, arrows, ellipsis
from glassbox_tui.views.plain import (
    ABSENT,
    asked_dense,
    by_probability,
    clip,
    first_line,
    heading,
    line,
    location,
    number,
    share_words,
    shares,
    signals,
    styled,
    verdict_words,
)
from glassbox_tui.views.rankflow import rank_flow, rich_text
from glassbox_tui.views.ranks import movement, ran, spark

WIDE = 110  # cells from which heading and text get columns of their own
QUERY_CELLS = 300  # a pasted page must not bury the verdict behind it; JSON and the x-ray have it all
NOTE_CELLS = 30  # a longer location is cut in the middle
SHOWN_SIGNALS = 4  # of a verdict in one line; the x-ray has them all
LEVEL_STYLES = {"answered": "bold green", "related": "bold yellow", "nothing": "bold red"}
_LABELS = {"coverage": "coverage", "idf_coverage": "idf coverage", "top_dense": "dense", "top_rerank": "rerank"}


def rank_cell(hit: Hit, stage: str, stages: Sequence[str] = STAGES, *, look: Look = "unicode") -> Text:
    """The rank in `stage` and how far it moved against the one before of `stages`: `2▴3`; - where absent."""
    place = hit.stages.get(stage)
    if place is None:
        return Text(ABSENT, style="dim")
    cell = Text(str(place.rank), style="bold" if place.rank == 1 else "")
    moved = movement(hit, stage, stages, look)
    return cell.append(moved, "green" if moved.startswith(arrows(look)[0]) else "red")


def evidence_table(
    trace: Trace, round: int | None = None, *, width: int | None = None, look: Look = "unicode"
) -> Table:
    """A round's hits (None: the last round's) as a table that fits `width` cells (None: wide).

    A stage that did not run has no column. Below 110 cells heading and text share the note's cell; no rank is ever cut.
    """
    shown = trace.last if round is None else trace.rounds[round]
    stages = ran(shown)
    wide = width is None or width >= WIDE
    ranks = [[rank_cell(hit, stage, stages, look=look) for stage in stages] for hit in shown.hits]
    taken = sum(max([len(name), *(len(row[i].plain) for row in ranks)]) + 1 for i, name in enumerate(stages))
    room = NOTE_CELLS if wide else max(10, (width or WIDE) - taken - len(stages) - len(str(len(shown.hits))) - 4)
    where = [location(hit, room, ellipsis=ellipsis(look)) for hit in shown.hits]
    # Rich's own ellipsis and the line of its box are of ambiguous width.
    drawn = look == "unicode"
    overflow: OverflowMethod = "ellipsis" if drawn else "crop"
    gap = (0, 1, 0, 0) if wide or not drawn else 0  # the box itself sets columns one blank apart
    table = Table(box=box.SIMPLE_HEAD if drawn else None, pad_edge=False, padding=gap, width=width)
    table.add_column("#", justify="right", no_wrap=True, style="bold")
    longest = max(map(cell_len, where), default=10)
    table.add_column("note", ratio=None if wide else 1, no_wrap=True, overflow=overflow, min_width=longest)
    if wide:
        table.add_column("heading", ratio=2, no_wrap=True, overflow=overflow)
    for stage in stages:
        table.add_column(stage, no_wrap=True, min_width=len(stage))
    table.add_column("flow", no_wrap=True, min_width=max(len("flow"), len(stages)))
    if wide:
        table.add_column("text", ratio=4, no_wrap=True, overflow=overflow)
    for number_, (hit, place, cells) in enumerate(zip(shown.hits, where, ranks, strict=True), start=1):
        note = Text(place, no_wrap=True, overflow=overflow)
        head, text = Text(heading(hit), "dim"), Text(first_line(hit.text))
        if not wide:
            note = Text("\n", no_wrap=True, overflow=overflow).join([note + Text(f"  {heading(hit)}", "dim"), text])
        flow = Text(spark(hit, stages, look), "cyan")
        table.add_row(str(number_), note, *([head] if wide else []), *cells, flow, *([text] if wide else []))
    return table


def grade_line(grade: Grade) -> Text:
    """`answered here 93%   stands out +2.1   words +1.2`: the verdict, and what speaks most for and against it.

    Where thresholds decide: `coverage .82 >= .60   dense .91 >= .84   rerank .71 >= .55   SUFFICIENT`.
    """
    text = Text(no_wrap=True, overflow="ellipsis")
    if by_probability(grade):
        text.append(verdict_words(grade), LEVEL_STYLES.get(grade.level, "bold yellow"))
        for signal in shares(grade, SHOWN_SIGNALS):
            text.append("   ").append(share_words(signal), "green" if signal.share > 0 else "yellow")
        return text
    for name, value, threshold in signals(grade):
        text.append(f"{name} ")
        if value is None or threshold is None:
            text.append(number(value), "dim")
        else:
            sign = ">=" if value >= threshold else "<"
            # As many digits as tell the two apart: never `.83 < .83`.
            digits = next((n for n in (2, 3, 4, 5) if number(value, n) != number(threshold, n)), 2)
            shown = f"{number(value, digits)} {sign} {number(threshold, digits)}"
            text.append(shown, "green" if value >= threshold else "yellow")
        text.append("   ")
    text.append(
        "SUFFICIENT" if grade.sufficient else "INSUFFICIENT", "bold green" if grade.sufficient else "bold yellow"
    )
    return text


def round_lines(trace: Trace) -> list[Text]:
    """The loop in one line a round: number, origin, query and added terms, signals, verdict, what was lacking."""
    lines: list[Text] = []
    for r in trace.rounds:
        text = Text(no_wrap=False)
        text.append(f"round {r.number} ", "bold").append(f"{line(r.origin)}  ")
        text.append(added_terms(r), "cyan") if r.added_terms else text.append(clip(line(r.query), QUERY_CELLS))
        if r.why:
            text.append(f"   {clip(line('; '.join(r.why.splitlines())), QUERY_CELLS)}", "dim")
        text.append("   ").append_text(grade_line(r.grade))
        if r.grade.missing:
            text.append(f"   not found: {clip(', '.join(map(line, r.grade.missing)), QUERY_CELLS)}", "dim")
        if not by_probability(r.grade) and (differs := asked_dense(r)):
            text.append(f"   {differs}", "dim")
        lines.append(text)
    return lines


def added_terms(round_: Round) -> str:
    """`+ 分布式锁(.31) 租约(.22)`; empty if feedback added nothing."""
    terms = " ".join(f"{line(w.text)}({number(w.weight)})" for w in added_words(round_.added_terms))
    return f"+ {terms}" if terms else ""


def index_line(trace: Trace) -> Text:
    """What was searched: notes, chunks, how far the vectors are, the models."""
    info = trace.index
    parts = [
        f"{info.notes:,} notes",
        f"{info.chunks:,} chunks",
        f"dense {info.dense_coverage:.0%}",
        line(info.embedder),
    ]
    reranked = trace.last.stage("rerank") is not None or not trace.hits
    parts += (
        [line(info.reranker) if reranked else "not reranked"] if info.reranker not in ("", "off") else ["no reranker"]
    )
    total = trace.timings_ms.get("total")
    return Text("   ".join([*parts, *([] if total is None else [f"{total:.0f} ms"])]), style="dim")


def filter_lines(trace: Trace) -> list[Text]:
    """The filters of the last round's query, a line each: what each leaves out."""
    return [Text(line(filter_words(f.kind, f.text, f.removed)), "yellow") for f in trace.last.filters]


def evidence(trace: Trace, *, width: int, look: Look = "unicode", flow: bool = True) -> RenderableType:
    """What `retrieve` prints: the query, the index, the table, the rank flow, the rounds with their verdicts."""
    items: list[RenderableType] = [styled(trace.query, "bold"), index_line(trace), *filter_lines(trace)]
    if trace.hits:
        items.append(evidence_table(trace, width=width, look=look))
        items += [] if look == "unicode" else [Text("")]  # where the table has no box with a blank line of its own
        if flow:
            items += [rich_text(rank_flow(trace.last, width=min(width, 100), look=look)), Text("")]
    else:
        filtered_out = trace.last.filters and trace.last.grade.reasons
        items.append(Text(line(trace.last.grade.reasons[0]) if filtered_out else "nothing was found", "yellow"))
    items += round_lines(trace)
    return Group(*items)


def to_text(renderable: RenderableType, *, width: int) -> str:
    """A renderable as plain text, `width` cells wide, no trailing blanks."""
    console = Console(width=width, color_system=None, legacy_windows=False, force_terminal=False, markup=False)
    with console.capture() as capture:
        console.print(renderable)
    return "\n".join(row.rstrip() for row in capture.get().splitlines())
