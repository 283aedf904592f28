"""The one-line and list panels: status, verdict, tabs. Each is a pure function of the View."""

from __future__ import annotations

from rich.text import Text

from glassbox_tui.retrieval.trace import RELATED, Grade
from glassbox_tui.tui.cells import BAD, DIM, GOOD, HEAD, KEY, WARN, bar, cut, ends, short_zero
from glassbox_tui.tui.conditions import notice_line
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import PANELS, View, shown_round, written_here
from glassbox_tui.tui.words import later, say
from glassbox_tui.views.plain import by_probability, share_words, shares, verdict_words
from glassbox_tui.views.plain import line as plain
from glassbox_tui.views.plain import signals as signals_of

WIDE = 100  # cells from which all panels stand side by side
PANEL_WORDS = {
    "hits": later("hits"),
    "flow": later("flow"),
    "evidence": later("evidence"),
    "loop": later("loop"),
    "answer": later("answer"),
}
SIGNALS, FEW_SIGNALS = 3, 2  # of a verdict on one line
_SHORT = {"coverage": later("cov"), "idf_coverage": later("idf cov")}


def verdict(view: View, width: int, height: int) -> list[Text]:
    """Whether to trust the evidence, in one line: what speaks most for and against it, and the verdict in words."""
    now = shown_round(view)
    if view.failure:
        return [cut(Text(" " + say("the search failed: {}", plain(told(view.failure))), BAD), width)]
    if now is None or view.trace is None:
        return [cut(Text(" " + _invitation(view), DIM), width)]
    wide = width >= WIDE
    line = Text(f" {say('step mode')} ", "reverse") if view.loop.stepping and wide else Text()
    line.append(" " + say("round {}/{}", now.number, view.trace.rounds[-1].number) + "  ", HEAD)
    if wide:
        line.append(f"{say(plain(now.origin))}  ")
    line.append_text(signals(now.grade, bar_cells=8 if wide else 0, ascii=view.ascii))
    return [ends(line, verdict_text(now.grade, strong=True).append(" "), width)]


def _invitation(view: View) -> str:
    if view.info is None and view.progress is None:
        return say("nothing can be searched: {}", plain(told(view.problem)))
    if view.query.strip():
        return say("searching ...") if view.info is not None else say("the search starts as soon as the index is open")
    return say("type a question; what is found and how shows while you type")


def verdict_text(grade: Grade, *, strong: bool = False) -> Text:
    """The verdict in words, in its colour: `answered here 93%`; of thresholds `sufficient`, `strong` in capitals."""
    if by_probability(grade):
        style = GOOD if grade.sufficient else WARN if grade.level == RELATED else BAD
        return Text(verdict_words(grade, say), "bold green" if strong and grade.sufficient else style)
    if grade.sufficient:
        return Text(say("SUFFICIENT"), "bold green") if strong else Text(say("sufficient"), GOOD)
    return Text(say("insufficient"), BAD)


def signals(grade: Grade, *, bar_cells: int, ascii: bool, thresholds: bool = True) -> Text:
    """What a verdict rests on: its weightiest signals with their shares, two where there are no `bar_cells`.

    Where thresholds decide: coverage (0 `bar_cells`: without a bar), dense and rerank with their thresholds; ">=" and
    "<" need no colour.
    """
    line = Text()
    if by_probability(grade):
        for signal in shares(grade, SIGNALS if bar_cells else FEW_SIGNALS):
            line.append("   " if line.plain else "").append(share_words(signal, say), GOOD if signal.share > 0 else BAD)
        return line
    for name, value, least in signals_of(grade):
        if name == "idf_coverage" and least is None:
            continue
        low = value is None or (least is not None and value < least)
        style = "" if least is None else BAD if low else GOOD
        line.append(say(name if name == "coverage" and bar_cells else _SHORT.get(name, name)) + " ")
        if bar_cells and value is not None and "coverage" in name:
            line.append(bar(value, bar_cells, ascii=ascii), style).append(" ")
        # As many digits as tell the two apart, where one is to be below the other: never .83 < .83.
        apart = (n for n in (2, 3, 4) if not low or least is None or decimal(value, n) != decimal(least, n))
        digits = next(apart, 5)
        line.append(decimal(value, digits), style)
        if thresholds and least is not None and value is not None:
            line.append(f" {'<' if low else '>='} {decimal(least, digits)}", DIM if not low else BAD)
        line.append("   " if bar_cells > 5 else "  ")
    line.rstrip()
    return line


def decimal(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else short_zero(f"{value:.{digits}f}")


def notice(view: View, width: int, height: int) -> list[Text]:
    """Fallbacks and warnings of the shown search, and what lacks in the evidence."""
    return [notice_line(view, width)]


def tabs(view: View, width: int, height: int) -> list[Text]:
    line = Text()
    for name in PANELS:
        here = name == view.panel
        word = say(PANEL_WORDS[name])
        if name == "answer" and written_here(view) is not None:
            word = say("answer (writing)")
        elif name == "answer" and view.reply is not None and not here:
            word = say("answer (ready)")
        line.append(f" {key_of(f'panel_{name}')}", KEY).append(f" {word} ", "reverse" if here else "")
    # The verdict's line has no room for it where these tabs are shown.
    return [ends(line, Text(f" {say('step mode')} ", "reverse"), width) if view.loop.stepping else cut(line, width)]


def too_small(view: View, width: int, height: int) -> list[Text]:
    words = (say("glassbox: too small"), say("{}x{}, needs 60x16", width, height), say("ctrl+c quits"))
    return [cut(Text(line), width) for line in words]
