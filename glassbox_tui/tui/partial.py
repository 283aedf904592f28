"""Redraw from the first changed cell on. Textual redraws a changed line from the left edge of its widget, frame too.

`ChopsUpdate` is Textual's own and not part of its interface; the project asks for a version below 9 for such reasons,
and a test sees that what is sent begins where the change does.
"""

from __future__ import annotations

from rich.console import Console
from textual import _compositor
from textual._compositor import ChopsUpdate


class FromTheChange(ChopsUpdate):
    """The update whose spans begin where they say."""

    def render_segments(self, console: Console) -> str:
        sent: list[str] = []
        for y, first, last in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                start, stop = max(x, first), min(end, last)
                if strip is not None and start < stop:
                    sent += [f"\x1b[{y + 1};{start + 1}H", strip.crop(start - x, stop - x).render(console)]
        return "".join(sent)


def redraw_from_the_change() -> None:
    """Use it for every partial update of this process."""
    _compositor.ChopsUpdate = FromTheChange  # type: ignore[misc]
