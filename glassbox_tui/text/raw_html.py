"""How far raw HTML reaches that is not done when its block is.

To CommonMark a block of HTML that begins with `<details>` ends at the next blank line, also within a `<pre>` or a
comment that opened in it: what follows there is read as markdown, and no browser shows it as a heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ENDS = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("pre", "script", "style", "textarea")}
_ENDS["!--"] = re.compile("-->")
_opening = re.compile(r"<(!--|(?:pre|script|style|textarea)(?=[\s>]))", re.IGNORECASE)


def raw_until(text: str) -> Callable[[int, int], int]:
    """A function (start, end) of a block of HTML in `text` -> where what it opened closes; `end` if within the block.

    What is never closed reaches nowhere. To be asked by rising start: then all answers together are linear in the text.
    """
    nowhere: set[str] = set()  # what does not close any more

    def until(start: int, end: int) -> int:
        at = start
        while opened := _opening.search(text, at, end):
            name = opened[1].lower()
            closed = None if name in nowhere else _ENDS[name].search(text, opened.end())
            if closed is None:
                nowhere.add(name)
                at = opened.end()
            elif closed.end() > end:
                return closed.end()
            else:
                at = closed.end()
        return end

    return until
