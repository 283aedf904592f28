"""Who answers: one place for the decision, and the reason in words."""

from __future__ import annotations

from dataclasses import dataclass

from glassbox_tui.models.generators import choose
from glassbox_tui.settings import Settings


@dataclass(frozen=True, slots=True)
class ActiveGenerator:
    """`mode` is what `Answer.mode` will be where there is evidence: "extract" or "generate"; `reason` is a sentence."""

    mode: str
    reason: str


def active_generator(settings: Settings) -> ActiveGenerator:
    """A model where the settings come to one that can be had. Nothing is loaded."""
    if settings.answers == "extract":
        return ActiveGenerator("extract", "GLASSBOX_ANSWERS is extract: answers are sentences of the notes")
    chosen = choose(settings)
    if chosen.fault or chosen.kind == "none":
        return ActiveGenerator("extract", f"{chosen.fault or chosen.why}; answers are sentences of the notes")
    name = chosen.entry.name if chosen.entry is not None else chosen.server
    return ActiveGenerator("generate", f"{name} writes the answers, {chosen.why}")
