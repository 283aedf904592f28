"""What comes in at the keyboard is text, whatever it is."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from glassbox_tui.tui.keyboard import KeyboardDecoder

PIECES = st.lists(st.binary(max_size=8), max_size=12)


def decoded(*pieces: bytes) -> tuple[str, int]:
    """The text, and how often it was said that something was left out."""
    said: list[None] = []
    decoder = KeyboardDecoder(lambda: said.append(None))
    text = "".join(decoder.decode(piece) for piece in pieces) + decoder.decode(b"", final=True)
    return text, len(said)


@given(PIECES)
def test_no_bytes_are_an_error_and_the_text_is_always_text(pieces: list[bytes]) -> None:
    decoded(*pieces)[0].encode("utf-8")


@given(st.text(), st.lists(st.integers(0, 200)))
def test_what_is_utf8_arrives_as_it_is_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    if "\x1b[M" in text:
        return
    raw = text.encode("utf-8")
    at = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    assert decoded(*(raw[a:b] for a, b in pairwise(at))) == (text, 0)


def test_a_stray_byte_is_left_out_and_that_is_told() -> None:
    assert decoded(b"bm\xff25") == ("bm25", 1)
    assert decoded("融�".encode() + b"\x80") == ("融�", 1)  # a replacement character somebody pasted is theirs
    assert decoded(b"\xe8\x9e", b"x") == ("x", 1)  # half a character, then another key


def keys(*pieces: bytes) -> list[str]:
    """What Textual takes to be typed."""
    decoder, parser = KeyboardDecoder(), XTermParser()
    messages = [message for piece in pieces for message in parser.feed(decoder.decode(piece))]
    return [m.character or m.key for m in messages if isinstance(m, events.Key)]


@given(st.binary(min_size=3, max_size=3), st.integers(3, 6))
def test_an_old_mouse_types_nothing_and_swallows_nothing(position: bytes, cut: int) -> None:
    """Whatever its three bytes are, and also where they come in two reads: no letter more or less."""
    event = b"\x1b[M" + position
    assert keys(b"ab" + event[:cut], event[cut:] + b"cd") == ["a", "b", "c", "d"]
    assert keys(event + event + b"x") == ["x"]
