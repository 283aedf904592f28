"""What stands beside a text keeps its column, however many cells a terminal gives the text.

Terminals disagree on the vowel signs of Indian scripts, on emoji that are younger than they are, and on clusters of
both; one that is set to another charset reads each byte as a character. After such a run the cursor is put where the
run ends by our measure; and it is put on blanks, so that where it is drawn narrower no old character is left behind.
"""

from __future__ import annotations

import re

from rich.cells import cell_len

# Scripts and signs that every terminal measures as we do, and that join nothing.
_SURE = (
    "\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u20a0-\u20bd"
    "\u2190-\u21ff\u2500-\u25fc\u2800-\u28ff\u3000-\u3029\u3030-\u303e\u3041-\u3096\u309b-\u30ff\u3105-\u312d"
    "\u3131-\u3163\u3400-\u4db5\u4e00-\u9fef\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9f\uffe0-\uffe6"
)


def _runs(sure: str) -> re.Pattern[str]:
    """Runs of other characters, with the single blanks between them: what is drawn narrower has its gap at the end."""
    return re.compile(f"[^{sure}\x00-\x1f]+(?: [^{sure}\x00-\x1f]+)*")


_in_unicode, _in_ascii = _runs(_SURE), _runs("\x20-\x7e")
_TOKEN = re.compile(
    r"\x1b\[(\d*)(?:;(\d*))?H|(\x1b(?:\[[^@-~]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)?)|([\x00-\x1a\x1c-\x1f]+)|([^\x00-\x1f]+)",
    re.DOTALL,
)
_KEEPS_PLACE = re.compile(r"\x1b(?:\[[^@-~]*[mJKhlnpqtuc]|\])")


def anchored(data: str, *, ascii_only: bool = False) -> str:
    """`data` with the same effect on a terminal that measures as we do. `ascii_only`: of ASCII alone are we sure.

    Places are known from the moves in `data`; before the first one it is left as it is.
    """
    unsure = _in_ascii if ascii_only else _in_unicode
    if data.isascii() or unsure.search(data) is None:
        return data
    out: list[str] = []
    row, column = 0, 0  # from 1; row 0: not known
    for match in _TOKEN.finditer(data):
        down, right, other, control, text = match.groups()
        if text is not None:
            out.append(_held(text, row, column, unsure) if row else text)
            column += cell_len(text)
            continue
        out.append(match[0])
        if control is not None or (other is not None and not _KEEPS_PLACE.match(other)):
            row = 0
        elif other is None:
            row, column = int(down or 1), int(right or 1)
    return "".join(out)


def _held(text: str, row: int, column: int, unsure: re.Pattern[str]) -> str:
    """`text`, which begins at this place, with the cursor put behind every run that we are not sure of."""
    out: list[str] = []
    done = 0
    for run in unsure.finditer(text):
        start = run.start()
        if start > done and not cell_len(text[start]):
            start -= 1  # a mark goes with its letter
        before, found = text[done:start], text[start : run.end()]
        cells = cell_len(found)
        column += cell_len(before)
        blanks = f"{' ' * cells}\x1b[{row};{column}H" if cells else ""
        column += cells
        out += (before, blanks, found, f"\x1b[{row};{column}H")
        done = run.end()
    return "".join([*out, text[done:]])
