"""How well a probability does: does it tell the two apart, and is it as often right as it says? Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

BINS = 10


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """Chance that a present value exceeds an absent one, ties counting half (Mann-Whitney U). nan without both."""
    if not present or not absent:
        return float("nan")
    ranked = sorted([(value, True) for value in present] + [(value, False) for value in absent])
    total, i = 0.0, 0
    while i < len(ranked):
        j = i
        while j < len(ranked) and ranked[j][0] == ranked[i][0]:
            j += 1
        middle = (i + 1 + j) / 2  # the mean of the ranks i + 1 .. j
        total += middle * sum(is_present for _, is_present in ranked[i:j])
        i = j
    return (total - len(present) * (len(present) + 1) / 2) / (len(present) * len(absent))


def calibration_error(probabilities: Sequence[float], happened: Sequence[bool], bins: int = BINS) -> float:
    """Expected calibration error: over bins of equal width, the mean distance between what was said and what happened,
    weighted by the bins' sizes (Naeini et al. 2015, "Obtaining Well Calibrated Probabilities Using Bayesian Binning").
    """
    groups: dict[int, list[tuple[float, bool]]] = {}
    for p, y in zip(probabilities, happened, strict=True):
        groups.setdefault(min(int(p * bins), bins - 1), []).append((p, y))
    return sum(abs(sum(p for p, _ in g) - sum(y for _, y in g)) for g in groups.values()) / max(1, len(probabilities))
