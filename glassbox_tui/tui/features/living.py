"""Notes that change while they are searched: the query runs again by itself, and embedding can wait."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from glassbox_tui.tui import living, state
from glassbox_tui.tui.commands import BROWSER, MAIN, Command
from glassbox_tui.tui.estimate import duration
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.messages import Changed, EmbeddingHeld, Event, PauseEmbedding, Progressed, Updated
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def _embeds(view: View) -> bool:
    embedding = view.progress is not None and view.progress.phase == "embed"
    return embedding or view.living.paused or view.living.pending > 0


def _pause(app: GlassboxApp) -> None:
    on = not app.view.living.paused
    if on and not _embeds(app.view):
        app.tell(say("nothing waits to be embedded"))
        return
    app.change(replace(app.view, living=replace(app.view.living, paused=on)))
    app.send(PauseEmbedding(on))


def heard(app: GlassboxApp, event: Event) -> None:
    """After an edit: ask again, and remember what the answer is to be held against."""
    if isinstance(event, Progressed) and event.progress.phase == "plan":
        plan = event.progress
        words = say("{} chunks to embed: {}, {} of disk", f"{plan.total:,}", duration(plan.left or 0), plan.detail)
        app.tell(words)
        app.change(replace(app.view, living=replace(app.view.living, plan=words)))
    if isinstance(event, Updated) and app.view.living.plan:
        if app.view.told == app.view.living.plan:  # it is done: no more to come
            app.tell("")
        app.change(replace(app.view, living=replace(app.view.living, plan="")))
    if isinstance(event, EmbeddingHeld):
        app.tell(say("{}; {} begins it", told(event.plan), key_of("pause")))
    before = app.view
    now = living.heard(before.living, event)
    if isinstance(event, Changed) and event.edited and before.query.strip() and not before.offline:
        # A typed query was asked again already; one with rounds is, unless they are being stepped or branched.
        own_way = len(before.loop.branches) > 1 or before.loop.proposal is not None
        # An answer of the model's took its time: a saved note must not throw it away, nor begin another unasked.
        by_model = state.being_written(before) is not None or (
            before.reply is not None and before.reply.mode == "generate"
        )
        if by_model and before.rounds:
            keys = key_of("query"), key_of("run")
            app.tell(say("the notes have changed since this question was run: {} and {} run it again", *keys))
        elif not (state.asks_again(before) or own_way) and before.run == before.shown:
            app.search(before.query, rounds=True)
        if app.view.run != app.view.shown:
            now = living.edited(now, app.view.query, app.view.trace, app.view.run)
    if now != app.view.living:
        app.change(replace(app.view, living=now))


COMMANDS: tuple[Command, ...] = (
    Command(
        "pause", "p", "pause the embedding, or go on with it", "notes", _pause, "pause", _embeds, where=(MAIN, BROWSER),
    ),
)  # fmt: skip
