"""Texts made from the commands: the hints line and the help. Both name the keys as they are now."""

from __future__ import annotations

from rich.text import Text

from glassbox_tui.tui import registry
from glassbox_tui.tui.cells import DIM, HEAD, KEY, cut, wrap
from glassbox_tui.tui.commands import MAIN
from glassbox_tui.tui.keys import all_keys_of, key_of, shown
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import say

# These two keep their place at the right end, however narrow it is: whoever sees them finds everything else.
LAST = ("palette", "help", "quit", "browser_leave", "model_leave")
# What the next step most often is, after what is urgent; the rest follows in the registry's order.
_FIRST = ("stop_answer", "run", "query", "down", "open", "read", "copy", "columns", "notes")
_KEYS = 15  # cells of the help's first column
_WHILE_TYPING = (("run", "run"), ("down", "move"), ("palette", "commands"), ("recall", "history"))
_PAIRS = {
    "down": "up",
    "round_before": "round_next",
    "sort_before": "sort_next",
    "next_found": "found_before",
    "next_chunk": "chunk_before",
    "model_kind_next": "model_kind_before",
}


def hints(view: View, width: int, height: int, where: str = MAIN) -> list[Text]:
    """The keys that do something now, as many as fit; help and quit always."""
    return [_typing_hints(view, width) if view.typing and where == MAIN else hints_of(view, width, where)]


def _typing_hints(view: View, width: int) -> Text:
    """In the query box a letter is text: only keys that no text is made of, and behind esc those that need it first."""
    head, tail = Text(), hint_of("leave", "out, then")
    for id in ("help", "quit"):
        tail.append_text(hint_of(id, registry.command(id).hint))
    for id, word in _WHILE_TYPING:
        key = next((k for k in all_keys_of(id).split(", ") if len(k) > 1), "")
        hint = Text(f" {key}", KEY).append(f" {say(word)} ", DIM)
        useful = key and registry.command(id).when(view)
        if useful and head.cell_len + hint.cell_len + tail.cell_len <= width:
            head.append_text(hint)
    return cut(head.append_text(tail), width)


def hints_of(view: View, width: int, where: str = MAIN, tail: Text | None = None) -> Text:
    """As many hints as fit, what is urgent first, then `tail`, whole (None: palette, help and quit)."""
    commands = [c for c in registry.useful(view, where) if (c.hint or c.urgent(view)) and key_of(c.id)]
    commands.sort(key=lambda c: (not c.urgent(view), _FIRST.index(c.id) if c.id in _FIRST else len(_FIRST)))
    if tail is None:
        tail = Text().join(hint_of(c.id, c.hint) for c in commands if c.id in LAST)
    line = Text()
    for c in (c for c in commands if c.id not in LAST):
        hint = hint_of(c.id, c.urgent(view) or c.hint)
        if line.cell_len + hint.cell_len + tail.cell_len <= width:
            line.append_text(hint)
    return cut(line.append_text(tail), width)


def hint_of(id: str, word: str) -> Text:
    """A command's key (both, where two belong together) and a word for it."""
    pair = _PAIRS.get(id)
    key = key_of(id) + (f" {key_of(pair)}" if pair else "")
    return Text(f" {key}", KEY).append(f" {say(word)} ", DIM)


def help_lines(width: int, where: str = MAIN) -> list[Text]:
    """Each command that has a key, by group: those of all screens on the main one, else the screen's own."""
    lines = [
        Text(say("{} and {} scroll, {} closes this.", *map(shown, ("pagedown", "pageup", "escape"))), DIM),
        *wrap(Text(say("Letter keys act whenever the query box is not focused."), HEAD), width),
    ]
    told = [c for c in registry.COMMANDS if key_of(c.id) and (where == MAIN or where in c.where)]
    for group in dict.fromkeys(c.group for c in told):
        lines += [Text(), Text(say(group), HEAD)]
        for c in (c for c in told if c.group == group):
            first, *more = wrap(Text(say(c.title)), width - _KEYS)
            lines.append(Text(f"{all_keys_of(c.id):>{_KEYS - 2}}  ", KEY).append(first.plain, "not bold"))
            lines += [Text(" " * _KEYS).append_text(line) for line in more]
    return lines
