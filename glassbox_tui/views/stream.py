"""Text on a terminal while it is being written: plain, wrapped at words, and nothing in it is obeyed."""

from __future__ import annotations

from typing import TextIO

from rich.cells import cell_len

from glassbox_tui.views.plain import block, steady


class Stream:
    """Writes pieces of a text as they come. What was written is never moved: no cursor, no colour."""

    def __init__(self, out: TextIO, width: int) -> None:
        self._out, self._width = out, width
        self._column = 0
        self._word = ""  # not written yet: it may go on
        self.text = ""

    def __call__(self, piece: str) -> None:
        self.text += piece
        for char in steady(block(piece)):
            if char in " \n":
                self._end_word()
                self._blank(char)
            elif cell_len(char) > 1:  # an ideograph is a word
                self._end_word()
                self._word = char
                self._end_word()
            else:
                self._word += char
        self._out.flush()

    def end(self) -> None:
        """The rest, and an end of the line."""
        self._end_word()
        self._out.write("\n")
        self._out.flush()

    def _end_word(self) -> None:
        cells = cell_len(self._word)
        if self._column and self._column + cells > self._width:
            self._out.write("\n")
            self._column = 0
        self._out.write(self._word)
        self._column += cells
        self._word = ""

    def _blank(self, char: str) -> None:
        if char == "\n":
            self._out.write("\n")
            self._column = 0
        elif self._column < self._width:
            self._out.write(" ")
            self._column += 1
