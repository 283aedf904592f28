"""The answer panel: the answer with its numbered sources, how far the model is with it, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from glassbox_tui.tui.backend import Doubt, Reply, Source
from glassbox_tui.tui.cells import BAD, DIM, HEAD, KEY, MARK, WARN, cut, ends, wrap
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View, being_written, written_here
from glassbox_tui.tui.target import cited
from glassbox_tui.tui.words import later, say
from glassbox_tui.tui.writing import Writing
from glassbox_tui.views.answer import doubts
from glassbox_tui.views.plain import line as plain

_LABELS = {
    "extract": later("extract: sentences of the notes, word for word"),
    "generate": later("generated from the evidence"),
}


def answer(view: View, width: int, height: int) -> list[Text]:
    """The answer with its numbered sources, or the words for why there is none."""
    if view.trace is None:
        return wrap(Text(_how_to_answer(), DIM), width)
    writing = written_here(view)
    head = [_progress(writing, width)] if writing is not None else []
    if writing is not None and writing.text:
        return [*head, *_paragraphs(writing.text, (), width)]
    if view.reply is None:
        return head or wrap(Text(_why_none_yet(view), DIM), width)
    return [*head, *_reply_lines(view, view.reply, width)]


def progress_words(writing: Writing) -> str:
    """How far the model is, in a few words."""
    if writing.stopping:
        return say("stopping ...")
    if writing.waits:
        return say("waiting for the answer before to stop ...")
    if writing.text:
        return say("writing the answer ...")
    if writing.total:
        return say("reading the evidence {} of {} tokens", f"{writing.done:,}", f"{writing.total:,}")
    return say("the model is called ...")


def _progress(writing: Writing, width: int) -> Text:
    """Where there is no room for the key, too, the last line of the screen has it."""
    words = Text(progress_words(writing), WARN)
    key = Text(key_of("stop_answer"), KEY).append(f" {say('stop')}", "not bold")
    return ends(words, key, width) if words.cell_len + key.cell_len < width else cut(words, width)


def _reply_lines(view: View, reply: Reply, width: int) -> list[Text]:
    lines = wrap(_label(reply), width)
    if reply.mode == "generate" and reply.doubts:
        lines.extend(wrap(_how_many_hold(reply), width))
    for notice in filter(None, reply.notice.split("\n")):  # doubt comes first: below the text it may be below the fold
        lines.extend(wrap(Text(plain(told(notice)), WARN), width))
    lines += _paragraphs(reply.text, reply.doubts if reply.mode == "generate" else (), width)
    lines.extend(line for doubt in reply.doubts for line in _doubt_lines(doubt, width))
    if reply.checked and not reply.doubts:
        lines.extend(wrap(Text(say("every sentence is supported by the notes"), DIM), width))
    if reply.dropped:
        words = say("{} passages are not in the prompt; {} shows it", len(reply.dropped), key_of("prompt"))
        lines.extend(wrap(Text(words, DIM), width))
    lines += _quoted_lines(view, reply, width)
    here = cited(view)
    lines.extend(_source_line(s, s is here, width) for s in reply.sources)
    return lines


def _quoted_lines(view: View, reply: Reply, width: int) -> list[Text]:
    """What the notes say themselves, below what a model made of them: it was there before, and is often better."""
    extract = view.loop.branch.extract if view.loop.branch is not None else None
    if reply.mode != "generate" or extract is None or not extract.text:
        return []
    words = say("the notes themselves ({} shows their lines):", key_of("who_answers"))
    return wrap(Text(f"{words} {plain(' '.join(extract.text.split()))}", DIM), width)


def _how_many_hold(reply: Reply) -> Text:
    """A supported sentence that cites nothing is in doubt, too: its own lines say why."""
    good = reply.checked - sum(doubt.verdict != "supported" for doubt in reply.doubts)
    return Text(
        say("checked: {} of {} supported by the notes", good, reply.checked), WARN if good < reply.checked else DIM
    )


def _label(reply: Reply) -> Text:
    text = Text(say(_LABELS.get(reply.mode, "no answer")), HEAD)
    if reply.mode == "generate":
        text.append(f" ({plain(reply.model)})" if reply.model else "", "not bold")
        text.append(f" {say('stopped')}" if reply.stopped else "", WARN)
    return text


def _paragraphs(text: str, doubtful: Sequence[Doubt], width: int) -> list[Text]:
    """`text` in lines of the panel; a doubtful sentence has a sign before it and is underlined, colour or not."""
    lines, start = list[Text](), 0
    for paragraph in text.split("\n") if text else ():
        end = start + len(paragraph)
        styled = Text()
        for a, b, doubt in _parts(start, end, doubtful):
            style = "" if doubt is None else f"underline {_style(doubt)}"
            if doubt is not None and a == doubt.span[0]:
                styled.append("!", _style(doubt))
            styled.append(plain(text[a:b]), style)
        lines.extend(wrap(styled, width))
        start = end + 1
    return lines


def _parts(start: int, end: int, doubtful: Sequence[Doubt]) -> Iterator[tuple[int, int, Doubt | None]]:
    """[start, end) cut where doubtful sentences begin and end."""
    at = start
    for doubt in sorted(doubtful, key=lambda d: d.span):
        a, b = max(at, doubt.span[0]), min(end, doubt.span[1])
        if a < b:
            if at < a:
                yield at, a, None
            yield a, b, doubt
            at = b
    if at < end:
        yield at, end, None


def _style(doubt: Doubt) -> str:
    return BAD if doubt.verdict == "unsupported" else WARN


def _doubt_lines(doubt: Doubt, width: int) -> list[Text]:
    """What is wrong with a sentence of the answer, then the sentence."""
    nearest = f"; {say('nearest: {}', plain(doubt.nearest))}" if doubt.nearest else ""
    head = Text(f"! {plain('; '.join(doubts(doubt, say)))}{nearest}", _style(doubt))
    return [*wrap(head, width), cut(Text(f"  {plain(doubt.text)}", DIM), width)]


def _source_line(source: Source, here: bool, width: int) -> Text:
    """A citation, or what a sentence rests on without citing it; the one that keys act on is marked."""
    number, more = (f"[{source.number}] ", "") if source.number else ("~ ", "  " + say("not cited, found afterwards"))
    line = Text("> " if here else "  ", MARK).append(number, KEY).append(plain(source.where))
    line.stylize("bold" if here else "", 2)
    line.append(more, DIM)
    return cut(line, width)


def _why_none_yet(view: View) -> str:
    if view.loop.proposal is not None:
        return say("the answer comes when the loop ends; {} ends it", key_of("stop"))
    return say("answering ...") if view.rounds and not view.failure else _how_to_answer()


def _how_to_answer() -> str:
    return say("{} runs the rounds and answers from the evidence", key_of("run"))


def status_words(view: View) -> str:
    """The same for the first line, whatever panel is on show; "" while no answer is made."""
    writing = being_written(view)
    return "" if writing is None else progress_words(writing)


def prompt_lines(view: View, width: int) -> list[Text]:
    """What the model was sent, word for word, and which hits are not in it."""
    reply = view.reply
    if reply is None or not reply.prompt:
        return wrap(Text(say("no model has been asked for this answer"), DIM), width)
    lines = wrap(Text(say("what {} was sent, word for word", plain(reply.model)), HEAD), width)
    if reply.dropped:
        lines += wrap(Text(say("not in it: {}", ", ".join(map(plain, reply.dropped))), WARN), width)
    for at, (role, text) in enumerate(reply.prompt):
        example = f"  {say('an example, not of your notes')}" if 0 < at < len(reply.prompt) - 1 else ""
        lines += [Text(), Text(plain(role), KEY).append(example, DIM)]
        for paragraph in text.split("\n"):
            lines += wrap(Text(plain(paragraph)), width) or [Text()]
    return lines
