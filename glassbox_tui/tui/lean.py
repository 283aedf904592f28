"""Fewer bytes for the same picture: what a terminal is told about colours, said only where it changes.

Textual closes every run of text with a reset and opens the next with all it wants, the default colours by name among
it. Over a slow line that is a third of what an arrow key sends.
"""

from __future__ import annotations

import re

# A "select graphic rendition", a move of the cursor, anything else that begins with an escape, a run of text.
_TOKEN = re.compile(
    r"\x1b\[([\d;]*)m|(\x1b\[[\d;]*H)|(\x1b(?:\[[^@-~]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)?)|([^\x1b]+)", re.DOTALL
)
# "The default colour" changes nothing where no other was asked for since the reset: what would have asked for one.
_ASKED = {"39": re.compile("3[0-8]|9[0-7]"), "49": re.compile("4[0-8]|10[0-7]")}


def lean(data: str) -> str:
    """`data` with the same effect on a terminal whose attributes are reset, and leaving them reset."""
    out: list[str] = []
    now: tuple[str, ...] = ()  # what the terminal has been told
    wanted: tuple[str, ...] = ()

    def settle() -> None:
        nonlocal now
        if wanted != now:
            more = wanted[len(now) :] if wanted[: len(now)] == now else ("0", *wanted)
            out.append(f"\x1b[{';'.join(more)}m")
            now = wanted

    for match in _TOKEN.finditer(data):
        rendition, move, other, text = match.groups()
        if rendition is not None:
            wanted = _after(wanted, rendition)
        elif move is not None:
            out.append(move)
        else:
            settle()  # erasing, too, paints with the background that is set
            out.append(other if other is not None else text)
    wanted = ()
    settle()
    return "".join(out)


def _after(before: tuple[str, ...], rendition: str) -> tuple[str, ...]:
    """The attributes in force after `rendition`, as the parameters that bring them about from a reset."""
    params = rendition.split(";")
    kept = list(before)
    at = 0
    while at < len(params):
        param = params[at]
        # 38 and 48 take a colour along: 5 and its number, or 2 and three of them.
        size = {"5": 3, "2": 5}.get(params[at + 1] if at + 1 < len(params) else "", 1) if param in {"38", "48"} else 1
        if param in {"", "0"}:
            kept = []
        elif param not in _ASKED or any(_ASKED[param].fullmatch(other) for other in kept):
            kept += params[at : at + size]
        at += size
    return tuple(kept)
