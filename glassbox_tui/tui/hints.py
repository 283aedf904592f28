"""Texts made from the commands: the hints line and the help. Both name the keys as they are now."""

from __future__ import annotations

from rich.text import Text

from glassbox_tui.tui import registry
from glassbox_tui.tui.cells import DIM, HEAD, KEY, cut
from glassbox_tui.tui.commands import MAIN
from glassbox_tui.tui.keys import all_keys_of, key_of
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import say

# These two keep their place at the right end, however narrow it is: whoever sees them finds everything else.
LAST = ("palette", "help", "quit", "browser_leave")
_PAIRS = {
    "round_before": "round_next",
    "sort_before": "sort_next",
    "next_found": "found_before",
    "next_chunk": "chunk_before",
}


def hints(view: View, width: int, height: int, where: str = MAIN) -> list[Text]:
    """The keys that do something now, as many as fit; help and quit always."""
    return [hints_of(view, width, where)]


def hints_of(view: View, width: int, where: str = MAIN, tail: Text | None = None) -> Text:
    """As many hints as fit, what is urgent first, then `tail`, whole (None: palette, help and quit)."""
    commands = [c for c in registry.useful(view, where) if (c.hint or c.urgent(view)) and key_of(c.id)]
    commands.sort(key=lambda c: not c.urgent(view))
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


def help_lines(where: str = MAIN) -> list[Text]:
    """One line per command that has a key, by group: those of all screens on the main one, else the screen's own."""
    lines = [Text(say("Letter keys act whenever the query box is not focused."), HEAD)]
    told = [c for c in registry.COMMANDS if key_of(c.id) and (where == MAIN or where in c.where)]
    for group in dict.fromkeys(c.group for c in told):
        lines += [Text(), Text(say(group), HEAD)]
        commands = (c for c in told if c.group == group)
        lines += [Text(f"{all_keys_of(c.id):>13}  ", KEY).append(say(c.title), "not bold") for c in commands]
    return [*lines, Text(), Text(say("esc closes this"), DIM)]
