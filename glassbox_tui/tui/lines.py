"""The one-line and list panels: status, verdict, loop, answer, hints. Each is a pure function of the View."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.trace import Grade, Round
from glassbox_tui.tui.cells import BAD, DIM, GOOD, HEAD, KEY, WARN, bar, cut, ends, fit, short_zero, wrap
from glassbox_tui.tui.conditions import home, middle, notice_line
from glassbox_tui.tui.estimate import duration
from glassbox_tui.tui.state import PANELS, View, shown_round
from glassbox_tui.views.plain import line as plain
from glassbox_tui.views.plain import signals as signals_of

WIDE = 100  # cells from which all panels stand side by side
_NAME = " glassbox"
_PATH = 8  # cells that the path keeps, however narrow it is
_PHASES = {
    "open": "opening",
    "scan": "looking for notes",
    "text": "reading",
    "embed": "embedding",
    "model": "preparing the model",
}
_ENTER = "enter runs the rounds and answers from the evidence"
_TIMED = ("bm25", "dense", "rerank")
_SHORT = {"coverage": "cov", "idf_coverage": "idf cov"}


def status(view: View, width: int, height: int) -> list[Text]:
    """What is searched, with which models, how far indexing is, and how long the last search took."""
    wide = width >= WIDE
    counts = Text()
    if view.info is not None:
        info = view.info
        counts.append(f"  {info.notes:,} notes")
        if wide:
            counts.append(f"  {info.chunks:,} chunks")
        counts.append(f"  dense {info.dense_coverage:.0%}", "" if info.dense_coverage >= 1 or not info.chunks else WARN)
        if wide:
            counts.append("  " + plain(info.embedder or "no embedder"), DIM)
            counts.append("  " + plain(info.reranker or "rerank off"), DIM)
    right = _timings(view, wide) if view.progress is None else Text(progress_words(view.progress) + " ", WARN)
    # A long path yields: the counts behind it say more.
    room = width - cell_len(_NAME) - 2 - counts.cell_len - right.cell_len - 1
    path = middle(home(view.notes), max(_PATH, room))
    return [ends(Text(_NAME, HEAD).append("  " + path, KEY).append_text(counts), right, width)]


def progress_words(progress: Progress) -> str:
    """ "reading 120/1,067": how far the work is, in as few words as possible."""
    words = _PHASES.get(progress.phase, plain(progress.phase))
    if progress.total:
        left = f", {duration(progress.left)}" if progress.left is not None else ""
        return f"{words} {progress.done:,}/{progress.total:,}{left}"
    return f"{words} {progress.done:,}" if progress.done else f"{words} ..."


def _timings(view: View, wide: bool) -> Text:
    if view.run != view.shown and view.rounds:
        return Text("running the rounds ... ", WARN)
    if view.trace is None:
        return Text()
    times, now = view.trace.timings_ms, shown_round(view)
    right = Text(f"{times['total']:.0f} ms " if "total" in times else "")
    if wide and now is not None:
        right.append("".join(f"  {s.name} {s.ms:.0f}" for s in now.stages if s.name in _TIMED) + " ", DIM)
    return right


def verdict(view: View, width: int, height: int) -> list[Text]:
    """Whether to trust the evidence, in one line: each signal against its threshold, and the verdict in words."""
    now = shown_round(view)
    if view.failure:
        return [cut(Text(" the search failed: " + plain(view.failure), BAD), width)]
    if now is None or view.trace is None:
        return [cut(Text(" " + _invitation(view), DIM), width)]
    wide = width >= WIDE
    line = Text(f" round {now.number}/{view.trace.rounds[-1].number}  ", HEAD)
    if wide:
        line.append(f"{plain(now.origin)}  ")
    line.append_text(signals(now.grade, bars=wide, ascii=view.ascii))
    word = Text("SUFFICIENT ", "bold green") if now.grade.sufficient else Text("insufficient ", BAD)
    return [ends(line, word, width)]


def _invitation(view: View) -> str:
    if view.info is None and view.progress is None:
        return "nothing can be searched: " + plain(view.problem)
    if view.query.strip():
        return "searching ..." if view.info is not None else "the search starts as soon as the index is open"
    return "type a question; what is found and how shows while you type"


def signals(grade: Grade, *, bars: bool, ascii: bool, thresholds: bool = True) -> Text:
    """coverage, dense and rerank, each with its threshold; ">=" or "<" says it without colour."""
    line = Text()
    for name, value, least in signals_of(grade):
        if name == "idf_coverage" and least is None:
            continue
        low = value is None or (least is not None and value < least)
        style = "" if least is None else BAD if low else GOOD
        line.append("coverage " if name == "coverage" and bars else f"{_SHORT.get(name, name)} ")
        if bars and value is not None and "coverage" in name:
            line.append(bar(value, 8, ascii=ascii), style).append(" ")
        line.append(_hundredths(value), style)
        if thresholds and least is not None and value is not None:
            line.append(f" {'<' if low else '>='} {_hundredths(least)}", DIM if not low else BAD)
        line.append("   " if bars else "  ")
    line.rstrip()
    return line


def _hundredths(value: float | None) -> str:
    return "-" if value is None else short_zero(f"{value:.2f}")


def notice(view: View, width: int, height: int) -> list[Text]:
    """Fallbacks and warnings of the shown search, and what lacks in the evidence."""
    return [notice_line(view, width)]


def tabs(view: View, width: int, height: int) -> list[Text]:
    line = Text()
    for key, name in enumerate(PANELS, 1):
        here = name == view.panel
        line.append(f" {key}", KEY).append(f" {name} ", "reverse" if here else "")
    return [cut(line, width)]


def loop(view: View, width: int, height: int) -> list[Text]:
    """Every round: query, origin, signals, verdict; what it added and from where, what it lacks.

    Where all that does not fit, only the round that the panels show has more than its first line.
    """
    trace, now = view.trace, shown_round(view)
    if trace is None or now is None:
        return wrap(Text("one line per round of the rewrite loop; enter runs it", DIM), width)
    told = [_loop_round(r, r is now, width, view.ascii) for r in trace.rounds]
    if sum(map(len, told)) > height:
        told = [whole if r is now else whole[:1] for r, whole in zip(trace.rounds, told, strict=True)]
    lines = [line for whole in told for line in whole]
    if not view.rounds and not now.grade.sufficient:
        lines.append(Text("enter runs the rewrite rounds", DIM))
    return lines


def _loop_round(r: Round, here: bool, width: int, ascii: bool) -> list[Text]:
    verdict_word = Text("sufficient", GOOD) if r.grade.sufficient else Text("insufficient", BAD)
    right = signals(r.grade, bars=False, ascii=ascii, thresholds=False).append("  ").append_text(verdict_word)
    left = Text(f"{'>' if here else ' '} {r.number} {fit(plain(r.origin), 6)} ", HEAD if here else "")
    left.append(plain(r.query), HEAD if here else "")
    lines = [ends(left, right, width)]
    if r.added_terms:
        sources = list(dict.fromkeys(plain(s) for t in r.added_terms for s in t.sources))
        added = Text("+ " + "  ".join(f"{plain(t.term)}({_hundredths(t.weight)})" for t in r.added_terms), KEY)
        added.append("  from " + ", ".join(sources), DIM)
        lines.extend(Text(" " * 11).append_text(line) for line in wrap(added, width - 11, indent=2))
    if not r.grade.sufficient and r.grade.reasons:
        why = Text("because " + "; ".join(plain(reason) for reason in r.grade.reasons), DIM)
        lines.extend(Text(" " * 11).append_text(line) for line in wrap(why, width - 11, indent=2))
    return lines


def answer(view: View, width: int, height: int) -> list[Text]:
    """The answer with its numbered sources, or the words for why there is none."""
    if view.trace is None:
        return wrap(Text(_ENTER, DIM), width)
    if view.reply is None:
        waiting = view.rounds and not view.failure
        return wrap(Text("answering ..." if waiting else _ENTER, DIM), width)
    reply = view.reply
    label = {"extract": "extract: sentences of the notes, word for word", "generate": "generated from the evidence"}
    lines = wrap(Text(label.get(reply.mode, "no answer"), HEAD), width)
    if reply.notice:  # doubt comes first: below the text it may be below the fold
        lines.extend(wrap(Text(plain(reply.notice), WARN), width))
    for paragraph in reply.text.split("\n") if reply.text else ():
        lines.extend(wrap(Text(plain(paragraph)), width))
    lines.extend(cut(Text(f"[{s.number}] ", KEY).append(plain(s.where)), width) for s in reply.sources)
    return lines


def too_small(view: View, width: int, height: int) -> list[Text]:
    return [
        cut(Text(words), width) for words in ("glassbox: too small", f"{width}x{height}, needs 60x16", "ctrl+c quits")
    ]
