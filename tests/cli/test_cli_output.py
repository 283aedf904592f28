"""Views on a standard output whose encoding lacks letters: the columns are those of a UTF-8 terminal."""

from __future__ import annotations

import io
import sys
import unicodedata

import pytest
from wcwidth import wcwidth

from glassbox_tui import Engine
from glassbox_tui.commands.output import show, show_text, tolerant_streams
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.views.evidence import evidence
from glassbox_tui.views.xray import xray

NOTES = {
    "渡轮时刻表.md": "# 渡轮 ferry\n\nThe ferry 八点出发。",
    "Ünï-café.md": "# Café ferry\n\nFerry, café and naïve.",
    "हिन्दी-की.md": "# नोट ferry\n\nThe ferry में।",
    "\U0001fae8face.md": "# \U0001fae8 ferry\n\nThe ferry \U0001fa77 sails.",
    "plain.md": "# Plain\n\nThe ferry leaves at nine.",
}


def written(encoding: str, xrayed: bool, monkeypatch: pytest.MonkeyPatch) -> str:
    """What `retrieve` prints to a standard output of this encoding."""
    trace = Engine(HashingEmbedder()).build(NOTES).search("ferry")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding))
    monkeypatch.setenv("COLUMNS", "80")
    tolerant_streams()
    if xrayed:
        show_text(xray(trace, width=80, look="ascii"))
    else:
        show(evidence(trace, width=80, look="ascii"))
    sys.stdout.flush()
    return out.getvalue().decode(encoding)


def _cells(char: str) -> int:
    return 1 if unicodedata.category(char) == "Mc" else max(0, wcwidth(char))


@pytest.mark.parametrize("xrayed", [False, True], ids=["table", "xray"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gb18030", "shift_jis"])
def test_columns_hold_where_the_encoding_lacks_the_letters(
    encoding: str, xrayed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many marks stand in place of a letter as it takes cells."""

    def drawn(char: str) -> str:
        try:
            char.encode(encoding)
        except UnicodeEncodeError:
            return "?" * _cells(char)
        return char

    def lines(text: str) -> list[str]:
        return [line for line in text.splitlines() if " ms" not in line]

    found, wanted = written(encoding, xrayed, monkeypatch), written("utf-8", xrayed, monkeypatch)
    assert all(name[:2] in wanted for name in NOTES)
    assert lines(found) == ["".join(map(drawn, line)) for line in lines(wanted)]


def test_what_is_no_view_is_escaped_and_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "ascii"))
    tolerant_streams()
    show_text("Ж\n")
    print("Ж")
    sys.stdout.flush()
    assert out.getvalue() == b"?\n\\u0416\n"
