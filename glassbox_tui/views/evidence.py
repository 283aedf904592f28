"""The evidence table and the lines around it: what was found, where each stage put it, whether to trust it."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, OverflowMethod, RenderableType
from rich.table import Table
from rich.text import Text

from glassbox_tui.retrieval.trace import STAGES, Grade, Hit, Round, Trace
from glassbox_tui.retrieval.wording import added_words
from glassbox_tui.views.look import look_of
from glassbox_tui.views.plain import ABSENT, clip, first_line, heading, line, location, number, signals, styled
from glassbox_tui.views.rankflow import rank_flow, rich_text

WIDE = 110  # cells from which heading and text get columns of their own
QUERY_CELLS = 300  # a pasted page must not bury the verdict behind it; JSON and the x-ray have it all
NOTE_CELLS = 30  # a longer location is cut in the middle
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.,-=*%#"
_LABELS = {"coverage": "coverage", "idf_coverage": "idf coverage", "top_dense": "dense", "top_rerank": "rerank"}


def sparkline(hit: Hit, *, ascii: bool = False) -> str:
    """The five ranks as five bars, higher is better (rank 1 full, rank 15 and beyond lowest); a blank where absent."""
    bars = _ASCII_BARS if ascii else _BARS
    places = [hit.stages.get(stage) for stage in STAGES]
    return "".join(" " if p is None else bars[max(0, 7 - (p.rank - 1) // 2)] for p in places)


def rank_cell(hit: Hit, stage: str, *, ascii: bool = False) -> Text:
    """The rank in `stage` and how far it moved against the stage to its left: `2 ▴3`; – where absent."""
    place = hit.stages.get(stage)
    if place is None:
        return Text(ABSENT if not ascii else "-", style="dim")
    cell = Text(str(place.rank), style="bold" if place.rank == 1 else "")
    at = STAGES.index(stage)
    before = hit.stages.get(STAGES[at - 1]) if at else None
    if before is not None and before.rank != place.rank:
        gained = before.rank - place.rank
        up, down = ("^", "v") if ascii else ("▴", "▾")
        cell.append(f"{up if gained > 0 else down}{abs(gained)}", "green" if gained > 0 else "red")
    return cell


def evidence_table(trace: Trace, round: int | None = None, *, width: int | None = None, ascii: bool = False) -> Table:
    """A round's hits (None: the last round's) as a table that fits `width` cells (None: wide).

    Below 110 cells heading and text share the note's cell; no rank is ever cut.
    """
    shown = trace.last if round is None else trace.rounds[round]
    wide = width is None or width >= WIDE
    ranks = [[rank_cell(hit, stage, ascii=ascii) for stage in STAGES] for hit in shown.hits]
    taken = sum(max([len(name), *(len(row[i].plain) for row in ranks)]) + 1 for i, name in enumerate(STAGES))
    room = NOTE_CELLS if wide else max(10, (width or WIDE) - taken - len(STAGES) - len(str(len(shown.hits))) - 4)
    where = [location(hit, room) for hit in shown.hits]
    overflow: OverflowMethod = "crop" if ascii else "ellipsis"
    gap = (0, 1, 0, 0) if wide or ascii else 0  # the box itself sets columns one blank apart
    table = Table(box=None if ascii else box.SIMPLE_HEAD, pad_edge=False, padding=gap, width=width)
    table.add_column("#", justify="right", no_wrap=True, style="bold")
    longest = max(map(cell_len, where), default=10)
    table.add_column("note", ratio=None if wide else 1, no_wrap=True, overflow=overflow, min_width=longest)
    if wide:
        table.add_column("heading", ratio=2, no_wrap=True, overflow=overflow)
    for stage in STAGES:
        table.add_column(stage, no_wrap=True, min_width=len(stage))
    table.add_column("flow", no_wrap=True, min_width=len(STAGES))
    if wide:
        table.add_column("text", ratio=4, no_wrap=True, overflow=overflow)
    for number_, (hit, place, cells) in enumerate(zip(shown.hits, where, ranks, strict=True), start=1):
        note = Text(place, no_wrap=True, overflow=overflow)
        head, text = Text(heading(hit), "dim"), Text(first_line(hit.text))
        if not wide:
            note = Text("\n", no_wrap=True, overflow=overflow).join([note + Text(f"  {heading(hit)}", "dim"), text])
        flow = Text(sparkline(hit, ascii=ascii), "cyan")
        table.add_row(str(number_), note, *([head] if wide else []), *cells, flow, *([text] if wide else []))
    return table


def grade_line(grade: Grade, *, ascii: bool = False) -> Text:
    """`coverage .82 >= .60   dense .91 >= .84   rerank .71 >= .55   SUFFICIENT`: what counts, and the verdict."""
    text = Text(no_wrap=True, overflow="ellipsis")
    absent = "-" if ascii else ABSENT
    for name, value, threshold in signals(grade):
        text.append(f"{name} ")
        if value is None or threshold is None:
            text.append(absent if value is None else number(value), "dim")
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


def round_lines(trace: Trace, *, ascii: bool = False) -> list[Text]:
    """The loop in one line a round: number, origin, query and added terms, signals, verdict, what was lacking."""
    lines: list[Text] = []
    for r in trace.rounds:
        text = Text(no_wrap=False)
        text.append(f"round {r.number} ", "bold").append(f"{line(r.origin)}  ")
        text.append(added_terms(r), "cyan") if r.added_terms else text.append(clip(line(r.query), QUERY_CELLS))
        text.append("   ").append_text(grade_line(r.grade, ascii=ascii))
        if r.grade.missing:
            text.append(f"   not found: {clip(', '.join(map(line, r.grade.missing)), QUERY_CELLS)}", "dim")
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
    parts += [line(info.reranker)] if info.reranker else ["no reranker"]
    total = trace.timings_ms.get("total")
    return Text("   ".join([*parts, *([] if total is None else [f"{total:.0f} ms"])]), style="dim")


def evidence(trace: Trace, *, width: int, ascii: bool = False, flow: bool = True) -> RenderableType:
    """What `retrieve` prints: the query, the index, the table, the rank flow, the rounds with their verdicts."""
    items: list[RenderableType] = [styled(trace.query, "bold"), index_line(trace)]
    if trace.hits:
        items.append(evidence_table(trace, width=width, ascii=ascii))
        if flow:
            items += [rich_text(rank_flow(trace.last, width=min(width, 100), look=look_of(ascii=ascii))), Text("")]
    else:
        items.append(Text("nothing was found", "yellow"))
    items += round_lines(trace, ascii=ascii)
    return Group(*items)


def to_text(renderable: RenderableType, *, width: int) -> str:
    """A renderable as plain text, `width` cells wide, no trailing blanks."""
    console = Console(width=width, color_system=None, legacy_windows=False, force_terminal=False, markup=False)
    with console.capture() as capture:
        console.print(renderable)
    return "\n".join(row.rstrip() for row in capture.get().splitlines())
