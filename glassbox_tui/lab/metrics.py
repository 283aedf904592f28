"""Ranking metrics, with the definitions of trec_eval, so that figures compare with anyone's.

`ranking` is a list of distinct ids, best first; `grades` maps relevant ids to a gain (0 or absent: not relevant).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def recall(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Share of the relevant ids among the first k. 0 when nothing is relevant."""
    relevant = {uid for uid, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def success(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """1 if anything relevant is among the first k, else 0."""
    return float(any(grades.get(uid, 0) > 0 for uid in ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """1 / rank of the first relevant id among the first k, else 0."""
    return next((1.0 / rank for rank, uid in enumerate(ranking[:k], 1) if grades.get(uid, 0) > 0), 0.0)


def ndcg(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """DCG of the first k over the best DCG there can be, gain / log2(rank + 1) (Järvelin and Kekäläinen 2002)."""
    ideal = _dcg(sorted((g for g in grades.values() if g > 0), reverse=True)[:k])
    return _dcg([max(grades.get(uid, 0.0), 0.0) for uid in ranking[:k]]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
