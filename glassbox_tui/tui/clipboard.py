"""Text to the terminal's clipboard by OSC 52, the one way that reaches through SSH. Not every terminal obeys.

The text travels as base64, so nothing in it can be read as a command.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

# Base64 characters in one sequence: what hterm and others accept, the least of those that accept a page of text.
LIMIT = 74_994
LIMIT_BYTES = LIMIT // 4 * 3


def osc52(text: str, *, tmux: bool = False, limit: int = LIMIT_BYTES) -> tuple[str, bool]:
    """(sequence, cut): what sets the clipboard to `text`; `cut` if only its first `limit` bytes of UTF-8 went in.

    In tmux the sequence is sent twice: as it is, which tmux obeys if `set-clipboard` is on, and wrapped to be passed
    through to the terminal, which it does if `allow-passthrough` is on.
    """
    data = text.encode("utf-8", "replace")
    cut = len(data) > limit
    if cut:
        data = data[:limit].decode("utf-8", "ignore").encode()  # not in the middle of a character
    plain = f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\x07"
    if not tmux:
        return plain, cut
    return plain + "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\", cut


def in_tmux(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("TMUX"))
