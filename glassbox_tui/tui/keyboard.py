"""What the terminal sends, as text: also where it is no UTF-8, which would end Textual's reading of the keyboard.

Three things send other bytes: a line that garbles, a terminal set to another charset, and mice of the oldest kind
(`ESC [ M` and three bytes, a column past 95 being one over 127). The positions of those mice mean nothing to Textual,
but a pair of them may be a letter in UTF-8: they are blanked before anything is decoded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

_OLD_MOUSE = re.compile(rb"\x1b\[M(.{0,3})", re.DOTALL)
_NO_UTF8 = re.compile("[\udc80-\udcff]")


class KeyboardDecoder:
    """An incremental decoder that leaves out what is no UTF-8, and calls `left_out` when it does.

    `ended` is called where nothing was read although there was something to read: the terminal is gone.
    """

    def __init__(self, left_out: Callable[[], None] = lambda: None, ended: Callable[[], None] = lambda: None) -> None:
        self._left_out = left_out
        self._ended = ended
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._awaited = 0  # bytes of a mouse's position that are still to come

    def decode(self, data: bytes, final: bool = False) -> str:
        """The text of `data`; the beginning of a character waits for the rest, unless this is `final`."""
        if not data and not final:
            self._ended()
        blank = min(self._awaited, len(data))
        self._awaited -= blank
        data = _OLD_MOUSE.sub(self._blanked, b"!" * blank + data[blank:])
        text, count = _NO_UTF8.subn("", self._decode(data, final))
        if count:
            self._left_out()
        return text

    def _blanked(self, event: re.Match[bytes]) -> bytes:
        self._awaited = 3 - len(event[1])
        return b"\x1b[M" + b"!" * len(event[1])
