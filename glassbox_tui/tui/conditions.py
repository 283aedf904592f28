"""What is the matter, in words: empty, busy, broken. Pure functions of the View; each state has its own sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text

from glassbox_tui.retrieval.reasons import filter_words
from glassbox_tui.tui.cells import BAD, DIM, HEAD, KEY, WARN, cut, ends, wrap
from glassbox_tui.tui.estimate import duration
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.living import effect_words, mode_words, waiting_words
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View, shown_round
from glassbox_tui.tui.words import say
from glassbox_tui.views.matching import surface_forms
from glassbox_tui.views.plain import clip
from glassbox_tui.views.plain import line as plain

_Line = tuple[str, str]  # a sentence and its style


def home(path: str) -> str:
    """A path as people write it: ~ for the home folder."""
    own = str(Path.home())
    return "~" + path[len(own) :] if path == own or path.startswith(own + "/") else path


def middle(path: str, cells: int) -> str:
    """`path` in at most `cells` cells: shortened in the middle, so that both ends can still tell it from another."""
    path = plain(path)
    if cell_len(path) <= cells:
        return path
    tail, room = "", max(0, cells - 1)
    for char in reversed(path):
        if cell_len(char + tail) > room * 2 // 3:
            break
        tail = char + tail
    head = clip(path, max(0, room - cell_len(tail)), ellipsis="")
    return clip(f"{head}~{tail}", cells, ellipsis="")


def notices(view: View) -> list[_Line]:
    """Everything that is to be known about what is on screen, the most important first."""
    said: list[_Line] = []
    if view.problem and (view.info is not None or view.trace is not None):  # else it stands where the hits would
        said.append((told(view.problem), BAD))
    if effect := effect_words(view.living):
        said.append((effect, HEAD))
    if waiting := waiting_words(view.living):
        said.append((waiting, WARN))
    mode = view.living.mode
    if mode is not None and mode.kind != "watching":
        said.append((say("changes of the folder: {}", mode_words(mode)), WARN))
    trace, now = view.trace, shown_round(view)
    if trace is not None and now is not None:
        said += [(filter_words(f.kind, f.text, f.removed, say), HEAD) for f in now.filters]
        said += [(told(notice), WARN) for notice in trace.notices]
        if now.grade.missing and not now.grade.sufficient:
            written = surface_forms(trace.rounds[0], trace.query, say=say)
            missing = ", ".join(plain(written.get(term, term)) for term in now.grade.missing)
            said.append((say("not in the evidence: {}", missing), WARN))
    elif view.info is not None and not view.info.reranker:
        said.append((say("the rerank stage is off: the fused order is the final one"), WARN))
    return [(plain(sentence), style) for sentence, style in said]


def notice_line(view: View, width: int) -> Text:
    """The notices as far as one line holds them; how many it does not hold, and the key that shows them all."""
    if view.told:
        return cut(Text(" " + plain(view.told), HEAD), width)
    said = notices(view)
    line = Text()
    for number, (sentence, style) in enumerate(said):
        piece = Text(" " if not number else "; ", "").append(sentence, style)
        rest = len(said) - number - 1
        tail = Text(f" +{rest} ({key_of('notices')})", KEY) if rest else Text()
        if number and line.cell_len + piece.cell_len + tail.cell_len > width:
            return ends(line, Text(f"+{rest + 1} ({key_of('notices')})", KEY), width)
        line.append_text(piece)
    if line.cell_len > width and said:
        return ends(line, Text(f"({key_of('notices')})", KEY), width)
    return line


def notices_in_full(view: View, width: int) -> list[Text]:
    """Every notice, wrapped, for a screen of its own."""
    said = notices(view) or [(say("there is nothing to be said: all stages ran, all notes are indexed"), "")]
    return [line for sentence, style in said for line in wrap(Text("- ").append(sentence, style), width, indent=2)]


def instead_of_evidence(view: View, width: int) -> list[Text]:
    """What stands where the evidence would be, while there is none: why, and what to do."""
    return [line for sentence, style in _instead(view) for line in wrap(Text(plain(sentence), style), width)]


def _instead(view: View) -> Sequence[_Line]:
    if view.info is None:
        if view.progress is None:
            return [(say("nothing can be searched: {}", told(view.problem)), BAD)]
        model = view.progress.phase == "model"
        waiting = say("The model is being prepared; the first time this takes a minute.") if model else ""
        return [(waiting or say("The index is being opened. You may type already."), DIM)]
    trace, now = view.trace, shown_round(view)
    if trace is not None and now is not None and not now.hits:
        return _no_hits(view)
    if view.info.chunks == 0:
        return _empty(view)
    if trace is None and view.progress is not None and (view.progress.total or view.info.dense_coverage < 1):
        return [*_first_time(view), *_indexing(view)]
    return _first_time(view) if trace is None else []


def _empty(view: View) -> list[_Line]:
    if view.progress is not None:
        return [(say("The notes are being read for the first time. What is ready can be searched at once."), WARN)]
    return [
        (say("There is no note with text in {}.", middle(home(view.notes), 60)), WARN),
        (say("Put .md, .txt or .pdf files there and press {}; {} lists what is left out and why.",
             key_of("refresh"), key_of("notes") or "?"), ""),
    ]  # fmt: skip


def _indexing(view: View) -> list[_Line]:
    progress, info = view.progress, view.info
    if progress is None or info is None:
        return []
    lines = [(say("Indexing goes on; what is ready can be searched: {} notes so far.", f"{info.notes:,}"), WARN)]
    if info.dense_coverage < 1 and info.chunks:
        share = f"{info.dense_coverage:.0%}"
        lines.append((say("By keyword everything that was read; by meaning {} of it.", share), ""))
    if progress.left is not None:
        lines.append((say("This step takes {} more.", duration(progress.left)), ""))
    return lines


def _no_hits(view: View) -> list[_Line]:
    trace, now = view.trace, shown_round(view)
    if trace is not None and trace.index.chunks == 0:
        return _empty(view)
    if now is not None and now.filters and now.grade.reasons:
        return [(say("No note matches: {}.", told(now.grade.reasons[0])), WARN)]
    lines = [(say("No note matches: no stage found anything for this query."), WARN)]
    if any(notice.startswith("no keyword terms") for notice in (trace.notices if trace is not None else ())):
        lines.append((say("It holds no word to search for, only stop words or punctuation: name the thing."), ""))
    if view.info is not None and view.info.dense_coverage == 0:
        lines.append((say("Nothing has a vector yet, so only the very words are found: try other words, or wait."), ""))
    return lines


def _first_time(view: View) -> list[_Line]:
    if not view.first_time:
        return []
    return [
        (say("Welcome. Type a question: every keystroke searches."), HEAD),
        (say("{} runs the rewrite rounds and answers; {} leaves the box.", key_of("run"), key_of("leave")), ""),
        (say("Outside it letters act: {} and {} move, {} shows all keys, {} quits.",
             key_of("down"), key_of("up"), key_of("help"), key_of("quit")), ""),
    ]  # fmt: skip
