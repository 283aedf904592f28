"""The token list: what each word of the question met in the chunk, how strongly, and what that adds to the score."""

from __future__ import annotations

from rich.text import Text

from glassbox_tui.retrieval.trace import Hit, Round
from glassbox_tui.tui.cells import DIM, HEAD, KEY, fit, short_zero, wrap
from glassbox_tui.tui.words import say
from glassbox_tui.views.matching import Meeting, WordShare, token_shares
from glassbox_tui.views.plain import line as plain

_WORD_CELLS = (6, 16)  # the least and the most that the words' column takes
_NUMBER_CELLS = 7


def token_list(hit: Hit, now: Round, query: str, width: int) -> list[Text]:
    """A line per word of `query`, in its order, then what no token made, then the sum: the rerank score."""
    place = hit.stages.get("rerank")
    shares = token_shares(hit, now, query)
    if place is None or not shares:
        return wrap(Text(_why_none(hit, now), DIM), width)
    if not any(share.meetings for share in shares):
        return wrap(Text(say("this reranker reads the text as a whole: it gives one score and no tokens"), DIM), width)
    least, most = _WORD_CELLS
    longest = max(Text(plain(share.word)).cell_len for share in shares)
    column = max(least, min(longest, most))
    head = f"{fit(say('word'), column)} {fit(say('adds'), _NUMBER_CELLS, right=True)}  {say('met, at which cosine')}"
    lines = [Text(head, DIM)]
    for share in shares:
        lines.extend(_share_lines(share, column, width))
    total = Text(f"{fit(say('sum'), column)} {fit(_four(place.score), _NUMBER_CELLS, right=True)}  ", HEAD)
    return [*lines, total.append(say("the rerank score"), "not bold dim")]


def _share_lines(share: WordShare, column: int, width: int) -> list[Text]:
    line = Text(fit(plain(share.word) or "-", column), KEY if share.meetings else "")
    line.append(f" {fit(_four(share.share), _NUMBER_CELLS, right=True)}  ", "not bold")
    if not share.meetings:
        line.append(plain(share.note), DIM)
    else:
        # The blank before a word counts, but says nothing to a person.
        told = [m for m in share.meetings if m.piece] or list(share.meetings)
        for i, met in enumerate(told):
            line.append("  " if i else "").append_text(_met(met, alone=len(told) == 1))
    return wrap(line, width, indent=column + _NUMBER_CELLS + 3)


def _met(met: Meeting, *, alone: bool) -> Text:
    text = Text("" if alone else f"{plain(met.piece)}: ", DIM)
    if met.cosine is None:
        return text.append("-", DIM)
    text.append(plain(met.met).strip() or say("a blank"), "not dim")
    if met.span is None and met.met.strip():
        text.append(say(" (heading)"), DIM)
    text.append(f" {short_zero(f'{met.cosine:.2f}')}", DIM)
    if met.stands is not None:
        text.append(f"  {plain(met.stands)} ".replace("   ", "  ") + say("stands here"), DIM)
    return text


def _why_none(hit: Hit, now: Round) -> str:
    if now.stage("rerank") is None:
        return say("the rerank stage did not run: there are no tokens to show")
    if hit.stages.get("rerank") is None:
        return say("the rerank stage did not see this chunk: there are no tokens to show")
    return say("this search kept no parts of the rerank score")


def _four(value: float) -> str:
    return short_zero(f"{value:.4f}")
