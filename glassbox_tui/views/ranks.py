"""Where the stages put a hit, in few cells: how far it moved, its ranks as bars, the hits in one stage's order."""

from __future__ import annotations

from collections.abc import Sequence

from glassbox_tui.retrieval.trace import ALL_STAGES, STAGES, Hit, Round
from glassbox_tui.views.look import Look, arrows, levels

ABSENT_BAR = "."


def ran(round_: Round) -> tuple[str, ...]:
    """The stages that ran, in order: no column and no picture may claim another. The usual, where nothing was found."""
    seen = tuple(name for name in ALL_STAGES if round_.stage(name) is not None)
    return seen if round_.hits and seen else STAGES


def movement(hit: Hit, stage: str, stages: Sequence[str], look: Look = "unicode") -> str:
    """`▴3`: three ranks better than in the stage before (of `stages`, those that ran), `▾2` two worse.

    Empty where it kept its rank or one of the two did not see it.
    """
    at = stages.index(stage)
    before, now = (hit.stages.get(stages[at - 1]) if at else None), hit.stages.get(stage)
    if before is None or now is None or before.rank == now.rank:
        return ""
    rose, fell = arrows(look)
    return f"{rose if now.rank < before.rank else fell}{abs(before.rank - now.rank)}"


def spark(hit: Hit, stages: Sequence[str] = STAGES, look: Look = "unicode") -> str:
    """One bar per stage, the taller the better: rank 1, to 3, to 8, beyond; a dot where the stage did not see it."""
    low, fair, good, best = levels(look)
    ranks = [None if (place := hit.stages.get(name)) is None else place.rank for name in stages]
    return "".join(
        ABSENT_BAR if r is None else best if r == 1 else good if r <= 3 else fair if r <= 8 else low for r in ranks
    )


def in_order_of(stage: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits by their rank in `stage`; those that it did not see come last, in the order given."""
    return tuple(sorted(hits, key=lambda h: (1, 0) if (p := h.stages.get(stage)) is None else (0, p.rank)))
