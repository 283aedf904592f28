"""The loop panel: branches, rounds with their verdicts, the proposal and what it would change, or a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from glassbox_tui.retrieval.moves import Proposal
from glassbox_tui.retrieval.reasons import ENDED, filter_words
from glassbox_tui.retrieval.trace import Round, Trace
from glassbox_tui.retrieval.wording import PLUS, added_words, base_of
from glassbox_tui.tui import branches
from glassbox_tui.tui.attempts import attempts as attempt_lines
from glassbox_tui.tui.attempts import rewriter_line
from glassbox_tui.tui.cells import DIM, HEAD, KEY, WARN, cut, ends, fit, wrap
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.lines import decimal, signals, verdict_text
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View, shown_round
from glassbox_tui.tui.words import later, say
from glassbox_tui.views import attempts
from glassbox_tui.views.compare import compare, comparison_lines, summary
from glassbox_tui.views.plain import asked_dense, by_probability, reason_words, short_name
from glassbox_tui.views.plain import line as plain

_INDENT = 11  # cells before what belongs to a round
_SOURCE = 24  # cells of a chunk's name
_SHORT = {"spelling": later("spell"), "translation": later("transl"), "synonyms": later("synon")}
_ADDERS = {
    "llm": later("model"),
    **dict.fromkeys(_SHORT, later("your synonyms")),
    "translation": later("the dictionary"),
}
_ROOMY = 66  # cells from which a round's first line has its signals, too


def loop(view: View, width: int, height: int) -> list[Text]:
    """Every round of the branch on screen; below them what comes next, or why nothing does.

    Where all that does not fit, only the round that the panels show has more than its first line; where even that does
    not, what comes next has the room, for it waits for a word.
    """
    trace, now = view.trace, shown_round(view)
    if trace is None or now is None:
        return _invitation(view, width)
    top = _tree(view, width) if len(view.loop.branches) > 1 else []
    compared = branches.comparisons(view.loop, now)[view.loop.compared :] if view.loop.compared is not None else ()
    if compared:
        return [*top, *_comparison(view, now, compared, width)]
    ended = view.rounds and view.run == view.shown and view.loop.proposal is None
    below = _what_next(view, trace, width)
    if ended:  # how it ended, and what one can do: however long the rounds below are
        top, below = [*top, *below], []
    told = [_round(r, trace, r is now, width, view.ascii) for r in trace.rounds]
    room = height - len(top) - len(below)
    if sum(map(len, told)) > room:
        told = [whole if r is now else whole[:1] for r, whole in zip(trace.rounds, told, strict=True)]
    if sum(map(len, told)) > room and view.loop.proposal is not None and now is trace.last:
        told = [whole[:1] for whole in told]
    return [*top, *(line for whole in told for line in whole), *below]


def _invitation(view: View, width: int) -> list[Text]:
    lines = wrap(Text(say("one line per round of the rewrite loop; {} runs it", key_of("run")), DIM), width)
    return lines + rewriter_line(view, width) + wrap(_step_mode(view), width)


def _step_mode(view: View) -> Text:
    if view.loop.stepping:
        return Text(say("step mode: {} runs round 0 and pauses after each round", key_of("run")), WARN)
    return Text(say("{} pauses after each round: see the rewrite, edit it, then run it", key_of("step_mode")), DIM)


def _tree(view: View, width: int) -> list[Text]:
    lines = []
    for i, lead, numbers in branches.tree(view.loop):
        branch, here = view.loop.branches[i], i == view.loop.current
        line = Text(f"{'>' if here else ' '} {branches.name(i):<2} ", HEAD if here else "")
        line.append(lead, DIM).append("-".join(map(str, numbers)), HEAD if here else "")
        line.append(f"  {say('paused') if branch.proposal is not None else _ended(branch.trace)}", DIM)
        if i == view.loop.current:
            keys = (("branch_next", say("next branch")), ("compare", say("compare")))
            line = ends(line, Text("  ").join(_key(id, word) for id, word in keys), width)
        lines.append(cut(line, width))
    return lines


def _key(id: str, word: str) -> Text:
    return Text(key_of(id), KEY).append(f" {word}", "not bold")


def _short_verdict(r: Round, width: int) -> Text:
    """The verdict; of thresholds with its signals, unless the query would have no room beside."""
    if width < _ROOMY or by_probability(r.grade):
        return verdict_text(r.grade)
    return signals(r.grade, bar_cells=0, ascii=True, thresholds=False).append("  ").append_text(verdict_text(r.grade))


def query_words(r: Round) -> str:
    """The round's query as it is shown: `redlock 选型 + 分布式锁(.31) 租约(.22)`."""
    words = " ".join(f"{plain(w.text)}({decimal(w.weight)})" for w in added_words(r.added_terms))
    return plain(base_of(r.query, r.added_terms)) + (PLUS + words if words else "")


def _round(r: Round, trace: Trace, here: bool, width: int, ascii: bool) -> list[Text]:
    right = _short_verdict(r, width)
    left = Text(f"{'>' if here else ' '} {r.number} {_origin(r)} ", HEAD if here else "")
    left.append(query_words(r), HEAD if here else "")
    lines = [ends(left, right, width)]
    if left.cell_len > width - right.cell_len - 1:  # what was cut off above
        lines += _below(Text(query_words(r), KEY), width)
    held = signals(r.grade, bar_cells=8 if width >= 80 else 5, ascii=ascii)
    lines += _below(held, width) if width < _ROOMY else [cut(Text(" " * _INDENT).append_text(held), width)]
    if not by_probability(r.grade) and (differs := asked_dense(r, say)):
        lines += _below(Text(differs, DIM), width)
    for f in r.filters:
        lines += _below(Text(plain(filter_words(f.kind, f.text, f.removed, say)), WARN), width)
    lines += _why(r, trace.rounds[0].judged_by, width)
    lines += _from(r, width)
    why = [told(reason) for reason in reason_words(r.grade, say)]
    if why and not r.grade.sufficient:
        lines += _below(Text(say("because {}", "; ".join(why)), DIM), width)
    return lines + attempt_lines(attempts.of_round(trace, r), width, _INDENT, here)


def _origin(r: Round) -> str:
    """The round's origin in the cells that it has."""
    return fit(say(_SHORT[r.origin]) if r.origin in _SHORT else say(plain(r.origin)), 6)


def _why(r: Round, asked: str, width: int) -> list[Text]:
    """Why this query was chosen, and what its evidence is judged by where that is not the question as typed."""
    lines = [line for why in r.why.splitlines() for line in _below(Text(told(plain(why)), WARN), width)]
    if r.judged_by != asked:
        lines += _below(Text(say("its evidence is judged by: {}", plain(r.judged_by)), DIM), width)
    return lines


def _from(r: Round, width: int) -> list[Text]:
    """The added words by the chunk they came from."""
    adder = say(_ADDERS.get(r.origin, "you"))
    sources: dict[str, list[str]] = {}
    for word in added_words(r.added_terms):
        for uid in word.sources[:1] or ("",):
            sources.setdefault(uid, []).append(plain(word.text))
    told = [
        f"{short_name(uid, _SOURCE, ellipsis='~') if uid else adder}: {' '.join(words)}"
        for uid, words in sources.items()
    ]
    words = say("prf, feedback: words of the first hits, {}") if r.origin == "prf" else say("added from {}")
    return _below(Text(words.replace("{}", "; ".join(told)), DIM), width) if told else []


def _below(text: Text, width: int) -> list[Text]:
    return [Text(" " * _INDENT).append_text(line) for line in wrap(text, width - _INDENT, indent=2)]


def _ended(trace: Trace) -> str:
    return say(ENDED[trace.ended]) if trace.ended in ENDED else plain(trace.ended)


def _what_next(view: View, trace: Trace, width: int) -> list[Text]:
    """The proposal with its effect and the keys for it; or why the loop ended, and what one can do then."""
    if view.run != view.shown and view.rounds:
        return [Text(say("running ..."), WARN)]
    if not view.rounds:
        told = [] if trace.last.grade.sufficient else [Text(say("{} runs the rewrite rounds", key_of("run")), DIM)]
        return told + rewriter_line(view, width) + wrap(_step_mode(view), width)
    proposal = view.loop.proposal
    if proposal is not None:
        return _proposal(proposal, trace, width)
    keys = [_key("edit", say("edit")), _key("own", say("own query"))]
    if view.loop.by_hand:
        keys.append(_key("skip", say("another rewrite")))
    ended = [Text(say("ended: {}", _ended(trace)), WARN)] if trace.ended else []
    return _in_lines([*ended, *keys], width)


def _in_lines(pieces: Sequence[Text], width: int) -> list[Text]:
    """The pieces side by side, as many to a line as fit."""
    lines: list[Text] = []
    for piece in pieces:
        if lines and lines[-1].cell_len + 3 + piece.cell_len <= width:
            lines[-1].append("   ").append_text(piece)
        else:
            lines.append(cut(piece, width))
    return lines


def _proposal(proposal: Proposal, trace: Trace, width: int) -> list[Text]:
    new = proposal.round
    head = Text(say("paused before round {}:", new.number), WARN)
    keys = (
        ("run", say("run it")),
        ("edit", say("edit it")),
        ("own", say("write your own")),
        ("skip", say("another")),
        ("stop", say("stop")),
    )
    left = Text(f"? {new.number} {_origin(new)} ", HEAD).append(query_words(new), KEY)
    lines = _in_lines([head, *(_key(*k) for k in keys)], width)
    lines += wrap(left, width, indent=_INDENT)
    changes = compare(trace.last, new, same_notes=True)
    effect = Text(say("it would make it ")).append_text(verdict_text(new.grade)).append("  ")
    lines += _below(effect.append_text(signals(new.grade, bar_cells=0, ascii=True, thresholds=False)), width)
    lines += _below(Text(say("it would change: {}", summary(changes, say=say)), DIM), width)
    lines += _why(new, trace.query, width)
    lines += _from(new, width)
    lines += attempt_lines(proposal.attempts, width, _INDENT, whole=True)
    told = comparison_lines(changes, width - _INDENT, say=say) if changes.changes else []
    return [*lines, *(Text(" " * _INDENT).append_text(line) for line in told)]


def _comparison(view: View, now: Round, found: Sequence[branches.Comparison], width: int) -> list[Text]:
    """The shown round against the first that was `found`; the key goes on to the others."""
    other = found[0]
    changes = compare(other.round, now, same_notes=True)
    title = say(
        "round {} of branch {} against round {} of branch {}",
        now.number, branches.name(view.loop.current), other.round.number, branches.name(other.branch),
    )  # fmt: skip
    more = say("next comparison") if len(found) > 1 else say("back to the rounds")
    lines = [ends(Text(title, HEAD), _key("compare", more), width)]
    lines += _side(say("now"), now, width) + _side(say("then"), other.round, width)
    lines.append(Text(summary(changes, say=say), DIM))
    return lines + comparison_lines(changes, width, say=say)


def _side(label: str, r: Round, width: int) -> list[Text]:
    right = _short_verdict(r, width)
    return [ends(Text(f"{fit(label, 6)} ", DIM).append(query_words(r), "not dim"), right, width)]
