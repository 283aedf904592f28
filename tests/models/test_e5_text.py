"""Normalising with the way back kept: against a character-by-character reading of the same table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.models.e5_text import make_normaliser, normalise, original_span

TABLE = {ord("Ａ"): "A", ord("\n"): " ", ord("ﬁ"): "fi", ord("㍿"): "株式会社", 0x07: "", ord("]"): "[", ord("^"): "--"}
NORMALISER = make_normaliser(TABLE)

texts = st.text(alphabet=st.sampled_from("abＡ\nﬁ㍿\x07]^中\x00\ud800"), max_size=30)


def by_hand(text: str) -> list[tuple[str, int]]:
    table = {**TABLE, 0: "", 0xD800: " "}
    return [(out, i) for i, c in enumerate(text) for out in table.get(ord(c), c)]


@given(texts)
def test_every_character_comes_from_where_it_says(text: str) -> None:
    normalised, origins = normalise(text, NORMALISER)
    assert list(zip(normalised, origins, strict=True)) == by_hand(text)


@given(texts, st.data())
def test_a_span_leads_back_to_the_characters_it_came_from(text: str, data: st.DataObject) -> None:
    normalised, origins = normalise(text, NORMALISER)
    start = data.draw(st.integers(0, len(normalised)))
    end = data.draw(st.integers(start, len(normalised)))
    first, last = original_span((start, end), origins)
    assert 0 <= first <= last <= len(text)
    sources = [i for _, i in by_hand(text)[start:end]]
    if sources:
        assert (first, last) == (sources[0], sources[-1] + 1)
    else:
        assert first == last
