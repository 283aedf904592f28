"""Evidence with its tokens: what late interaction inside a chunk needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.token_codes import read_codes
from glassbox_tui.models.late_interaction import Codes, best_matches_many, quantise
from glassbox_tui.models.protocols import Matrix, TokenEmbedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.text.language import language_of


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit and the codes (tokens, bytes) of its text; `starts[i]`: where token i begins in the hit's text."""

    hit: Hit
    codes: Codes
    starts: NDArray[np.int64]
    language: str


def passages(hits: Sequence[Hit], engine: Engine) -> list[Passage] | None:
    """The hits with their token codes, the stored ones where they fit; None if the embedder shows no tokens."""
    embedder = engine.embedder
    if not isinstance(embedder, TokenEmbedder):
        return None
    return [_passage(hit, engine, embedder) for hit in hits]


def _passage(hit: Hit, engine: Engine, embedder: TokenEmbedder) -> Passage:
    snapshot, language = engine.snapshot, language_of(hit.text)
    if hit.uid in snapshot.row_of:
        chunk = snapshot.chunk(hit.uid)
        # The trace may be older than the index, and what was embedded may differ from the text (an inline picture).
        if chunk.text == hit.text and chunk.index_text.endswith(hit.text):
            codes, _, _ = read_codes(engine.store, embedder.name, embedder.dimension, [chunk.key])
            spans = embedder.token_spans(chunk.index_text)[: len(codes)]
            if len(codes) and len(spans) == len(codes):
                shift = len(chunk.index_text) - len(hit.text)
                return Passage(hit, codes, _starts(spans) - shift, language)
    encoding = embedder.encode_passage(hit.text)
    return Passage(hit, quantise(encoding.states, embedder.token_mean), _starts(encoding.spans), language)


def _starts(spans: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array([start for start, _ in spans], dtype=np.int64)


def meetings(rows: Matrix, passage: Passage, spans: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """(spans, q): how well each query row meets its best token inside each span of the passage; -1 without a token."""
    pieces = [passage.codes[(passage.starts >= start) & (passage.starts < end)] for start, end in spans]
    offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])
    sims, _ = best_matches_many(rows, np.concatenate([passage.codes[:0], *pieces]), offsets)
    return sims.astype(np.float64)
