"""The one-line and list panels: status, verdict, loop, answer, hints. Each is a pure function of the View."""

from __future__ import annotations

from rich.text import Text

from glassbox_tui.retrieval.trace import Grade
from glassbox_tui.tui.backend import Doubt, Source
from glassbox_tui.tui.cells import BAD, DIM, GOOD, HEAD, KEY, MARK, WARN, bar, cut, ends, short_zero, wrap
from glassbox_tui.tui.conditions import notice_line
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import PANELS, View, shown_round
from glassbox_tui.tui.target import cited
from glassbox_tui.tui.words import later, say
from glassbox_tui.views.answer import doubts
from glassbox_tui.views.plain import line as plain
from glassbox_tui.views.plain import signals as signals_of

WIDE = 100  # cells from which all panels stand side by side
_LABELS = {
    "extract": later("extract: sentences of the notes, word for word"),
    "generate": later("generated from the evidence"),
}
PANEL_WORDS = {
    "hits": later("hits"),
    "flow": later("flow"),
    "evidence": later("evidence"),
    "loop": later("loop"),
    "answer": later("answer"),
}
_SHORT = {"coverage": later("cov"), "idf_coverage": later("idf cov")}


def verdict(view: View, width: int, height: int) -> list[Text]:
    """Whether to trust the evidence, in one line: each signal against its threshold, and the verdict in words."""
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
    word = Text(say("SUFFICIENT"), "bold green") if now.grade.sufficient else Text(say("insufficient"), BAD)
    return [ends(line, word.append(" "), width)]


def _invitation(view: View) -> str:
    if view.info is None and view.progress is None:
        return say("nothing can be searched: {}", plain(told(view.problem)))
    if view.query.strip():
        return say("searching ...") if view.info is not None else say("the search starts as soon as the index is open")
    return say("type a question; what is found and how shows while you type")


def signals(grade: Grade, *, bar_cells: int, ascii: bool, thresholds: bool = True) -> Text:
    """coverage (0 `bar_cells`: without a bar), dense and rerank with their thresholds; ">=" and "<" need no colour."""
    line = Text()
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
        if name == "answer" and view.reply is not None and not here:
            word = say("answer (ready)")
        line.append(f" {key_of(f'panel_{name}')}", KEY).append(f" {word} ", "reverse" if here else "")
    # The verdict's line has no room for it where these tabs are shown.
    return [ends(line, Text(f" {say('step mode')} ", "reverse"), width) if view.loop.stepping else cut(line, width)]


def answer(view: View, width: int, height: int) -> list[Text]:
    """The answer with its numbered sources, or the words for why there is none."""
    if view.trace is None:
        return wrap(Text(_how_to_answer(), DIM), width)
    if view.reply is None:
        if view.loop.proposal is not None:
            return wrap(Text(say("the answer comes when the loop ends; {} ends it", key_of("stop")), DIM), width)
        waiting = view.rounds and not view.failure
        return wrap(Text(say("answering ...") if waiting else _how_to_answer(), DIM), width)
    reply = view.reply
    lines = wrap(Text(say(_LABELS.get(reply.mode, "no answer")), HEAD), width)
    if reply.notice:  # doubt comes first: below the text it may be below the fold
        lines.extend(wrap(Text(plain(told(reply.notice)), WARN), width))
    for paragraph in reply.text.split("\n") if reply.text else ():
        lines.extend(wrap(Text(plain(paragraph)), width))
    lines.extend(line for doubt in reply.doubts for line in _doubt_lines(doubt, width))
    if reply.checked and not reply.doubts:
        lines.extend(wrap(Text(say("every sentence is supported by the notes"), DIM), width))
    here = cited(view)
    lines.extend(_source_line(s, s is here, width) for s in reply.sources)
    return lines


def _doubt_lines(doubt: Doubt, width: int) -> list[Text]:
    """What is wrong with a sentence of the answer, then the sentence."""
    nearest = f"; {say('nearest: {}', plain(doubt.nearest))}" if doubt.nearest else ""
    head = Text(f"! {plain('; '.join(doubts(doubt, say)))}{nearest}", BAD if doubt.verdict == "unsupported" else WARN)
    return [*wrap(head, width), cut(Text(f"  {plain(doubt.text)}", DIM), width)]


def _source_line(source: Source, here: bool, width: int) -> Text:
    """A citation; the one that keys act on is marked."""
    line = Text("> " if here else "  ", MARK).append(f"[{source.number}] ", KEY).append(plain(source.where))
    line.stylize("bold" if here else "", 2)
    return cut(line, width)


def _how_to_answer() -> str:
    return say("{} runs the rounds and answers from the evidence", key_of("run"))


def too_small(view: View, width: int, height: int) -> list[Text]:
    words = (say("glassbox: too small"), say("{}x{}, needs 60x16", width, height), say("ctrl+c quits"))
    return [cut(Text(line), width) for line in words]
