"""What commands like read, open and copy act on: the chunk in the reader, the citation or the hit that is selected."""

from __future__ import annotations

from dataclasses import dataclass

from glassbox_tui.retrieval.trace import Hit, Trace
from glassbox_tui.tui.backend import Source
from glassbox_tui.tui.reading import line_in_sight
from glassbox_tui.tui.state import View, selected_hit, shown_reply


@dataclass(frozen=True, slots=True)
class Target:
    """A line of a note. `hit` is the chunk it belongs to, if one is known; `cited`: an answer names this line."""

    path: str
    line: int
    hit: Hit | None = None
    cited: bool = False


def target(view: View) -> Target | None:
    """What the next command acts on, or None when there is nothing."""
    reading = view.reading
    if reading is not None:
        hit = reading.hits[reading.at] if 0 <= reading.at < len(reading.hits) else None
        return Target(reading.path, line_in_sight(reading, *reading.size), hit)
    source = cited(view)
    if source is not None and source.path:
        hit = hit_of(view.trace, source.uid)
        return Target(source.path, source.lines[0], hit, cited=True)
    hit = selected_hit(view)
    return None if hit is None else Target(hit.path, hit.lines[0], hit)


def cited(view: View) -> Source | None:
    """The answer's citation that keys act on: while its panel is the active one, and it has any."""
    reply = shown_reply(view)
    if view.panel != "answer" or reply is None or not reply.sources:
        return None
    return reply.sources[min(view.closeup.source, len(reply.sources) - 1)]


def hit_of(trace: Trace | None, uid: str) -> Hit | None:
    """The hit of that uid, in the last round that has it."""
    rounds = reversed(trace.rounds) if trace is not None else ()
    return next((hit for round_ in rounds for hit in round_.hits if hit.uid == uid), None)
