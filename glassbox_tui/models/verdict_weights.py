"""The weights of a verdict: what each signal adds to the log-odds that the answer is in the evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VerdictWeights:
    """A logistic regression: log-odds = `start` + the sum over signals of weight * (value - usual value).

    `signals`: signal -> (weight, usual value). The usual value lies halfway between the averages of questions with an
    answer and of those without, so that a share tells by its sign what it speaks for. `answered`, `related`: the least
    probability of these levels. `fitted` says how all this was found.
    """

    start: float
    signals: Mapping[str, tuple[float, float]]
    answered: float
    related: float
    fitted: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """The weights at hand, by what there is to judge by. None: none were fitted for the models that serve.

    `late`: words, cosines and late interaction. `dense`: words and cosines. `words`: words alone, for every index.
    """

    words: VerdictWeights
    dense: VerdictWeights | None = None
    late: VerdictWeights | None = None

    def of(self, ran: Collection[str]) -> VerdictWeights:
        """The weights that know most of the stages that ran."""
        if self.late is not None and "rerank" in ran and "dense" in ran:
            return self.late
        return self.dense if self.dense is not None and "dense" in ran else self.words
