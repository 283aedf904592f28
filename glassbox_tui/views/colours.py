"""A colour for each leading chunk, steady from one picture to the next: who stays in it keeps its colour."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from glassbox_tui.retrieval.trace import Round

# The terminal's own, without red (what is bad), black and the greys. As many as a picture has coloured chunks.
PALETTE = (
    "cyan",
    "green",
    "yellow",
    "magenta",
    "blue",
    "bright_cyan",
    "bright_green",
    "bright_yellow",
    "bright_magenta",
    "bright_blue",
)
_REMEMBERED = 300

_Key = tuple[str, str]  # (uid, content); one of them empty: known by the other alone


@dataclass(frozen=True, slots=True)
class Colours:
    """`by_uid`: an index into PALETTE for each leading chunk of the picture on show.

    `shown` holds the same by all the keys that a chunk may be known again by, `known` also those of pictures before.
    """

    by_uid: Mapping[str, int] = field(default_factory=dict)
    shown: Mapping[_Key, int] = field(default_factory=dict)
    known: Mapping[_Key, int] = field(default_factory=dict)

    def name(self, uid: str) -> str:
        """The rich name of the chunk's colour, empty if it has none."""
        at = self.by_uid.get(uid)
        return "" if at is None else PALETTE[at]


def carried(before: Colours, round_: Round) -> Colours:
    """The colours of the first ten of the round's final list.

    Who was in the last picture keeps its colour; who was in one before gets it back unless it is taken by now; a
    newcomer's follows from its text, so that it is mostly the same in the next session. No two share one.
    """
    final = round_.stage("final")
    contents = {hit.uid: hit.content for hit in round_.hits}
    keys = {c.uid: _keys(c.uid, contents.get(c.uid, "")) for c in (final.candidates if final else ())[: len(PALETTE)]}
    chosen: dict[str, int] = {}
    for memory in (before.shown, before.known):
        for nth in range(3):
            for uid, own in keys.items():
                colour = memory.get(own[nth])
                if uid not in chosen and colour is not None and colour not in chosen.values():
                    chosen[uid] = colour
    for uid, own in keys.items():
        if uid not in chosen:
            chosen[uid] = _free(own[1][1] or uid, set(chosen.values()))
    shown = {key: chosen[uid] for uid, own in keys.items() for key in own if any(key)}
    known = {**shown, **{key: colour for key, colour in before.known.items() if key not in shown}}
    return Colours(chosen, shown, dict(islice(known.items(), _REMEMBERED)))


def _keys(uid: str, content: str) -> tuple[_Key, _Key, _Key]:
    """The surest first, as in `views.compare`: both; the text; the place."""
    return (uid, content), ("", content), (uid, "")


def _free(name: str, taken: set[int]) -> int:
    start = zlib.crc32(name.encode("utf-8", "surrogatepass"))
    return next(at for i in range(len(PALETTE)) if (at := (start + i) % len(PALETTE)) not in taken)
