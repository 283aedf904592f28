"""A cross-encoder's logit as a probability, and as a word for people. Pure functions."""

from __future__ import annotations

import math

# Odds of three to one for, and three to one against. Calibrated they are not: the words say how sure the model is.
HIGH, LOW = 0.75, 0.25


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-logit), in [0, 1], for any finite logit."""
    if logit >= 0.0:
        return 1.0 / (1.0 + math.exp(-logit))
    power = math.exp(logit)  # of a negative number, so that it cannot overflow
    return power / (1.0 + power)


def relevance(probability: float) -> str:
    """ "high" from 0.75, "low" below 0.25, else "medium". ValueError for what is no probability.

    Only for scores of the scale "probability" (CatalogEntry.scale): a cosine of .8 says nothing of the kind.
    """
    if not 0.0 <= probability <= 1.0:
        raise ValueError(f"{probability} is not between 0 and 1")
    if probability >= HIGH:
        return "high"
    return "low" if probability < LOW else "medium"
