"""The notes while the app is open: how changes are noticed, what waits, and what an edit did to the ranking."""

from __future__ import annotations

from dataclasses import dataclass, replace

from glassbox_tui.notes.watch import Mode
from glassbox_tui.retrieval.trace import Hit, Trace
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.messages import EmbeddingHeld, Event, FolderOpened, SearchDone, Updated, Watched, WorkersGone
from glassbox_tui.tui.words import say
from glassbox_tui.views.compare import Comparison, change_words, compare, summary

SHOWN = 3  # changes named one by one


@dataclass(frozen=True, slots=True)
class Living:
    """`mode`: how changes are noticed; None: not known yet. `pending` chunks wait to be embedded; `paused`: on purpose.

    `before` are the hits of `query` before the edit that is being looked at, `asked` the search that shows what it did,
    `effect` what that was; `over`: all of that edit is in the index. `plan`: what was said of the work to come.
    """

    mode: Mode | None = None
    pending: int = 0
    paused: bool = False
    query: str = ""
    before: tuple[Hit, ...] = ()
    asked: int = 0
    effect: Comparison | None = None
    over: bool = True
    plan: str = ""


def edited(living: Living, query: str, trace: Trace | None, run: int) -> Living:
    """Notes changed, and search `run` asks anew: what is on screen now is what it is compared with."""
    if trace is None or trace.query != query:
        return replace(living, before=(), asked=0)
    # The vectors of an edit come a moment after its text: both are held against the ranking before the edit.
    same = living.before and living.query == query and not living.over
    before = living.before if same else trace.rounds[-1].hits
    return replace(living, query=query, before=before, asked=run, over=False)


def heard(living: Living, event: Event) -> Living:
    """What an event tells of all this."""
    match event:
        case Watched(mode):
            return replace(living, mode=mode)
        case Updated(_, _, pending):
            return replace(living, pending=pending, over=True)
        case EmbeddingHeld():
            return replace(living, paused=True)
        case FolderOpened():
            return Living(paused=living.paused)
        case WorkersGone():
            return Living()
        case SearchDone(run, trace, _):
            if run < living.asked:  # overtaken by the search that the edit's vectors asked for
                return living
            if run > living.asked:
                return replace(living, before=(), asked=0, effect=None)
            found = compare(living.before, trace.rounds[-1].hits)
            return replace(living, effect=found)
        case _:
            return living


def effect_words(living: Living) -> str:
    """What the last edit did to the ranking, in a sentence; "" if there was none."""
    if living.effect is None:
        return ""
    # Who moved did so mostly because others came or went.
    changes = sorted(living.effect.changes, key=lambda c: c.before is not None and c.after is not None)
    named = [change_words(c, say=say, cells=24) for c in changes[:SHOWN]]
    if len(changes) > SHOWN:
        named.append(say("{} more", len(changes) - SHOWN))
    return say("after the edit: {}", summary(living.effect, say=say)) + (": " + "; ".join(named) if named else "")


def waiting_words(living: Living) -> str:
    """That embedding is paused, and what waits for it; "" if it is not."""
    if not living.paused:
        return ""
    return say("embedding is paused, {} chunks wait: {} goes on", f"{living.pending:,}", key_of("pause"))


def mode_words(mode: Mode | None) -> str:
    """How changes of the folder are noticed."""
    if mode is None:
        return ""
    kind = {"watching": say("watching"), "polling": say("polling"), "off": say("not watched")}.get(mode.kind, mode.kind)
    why = {
        "network mount": say("network mount"),
        "watch limit reached": say("watch limit reached"),
        "the notes cannot be reached": say("the notes cannot be reached"),
    }.get(mode.why, mode.why)
    return f"{kind} ({why})" if why else kind
