"""The weights of the verdict, written by `python -m glassbox_tui.lab.fit_verdict --write`, not by hand."""

from __future__ import annotations

from glassbox_tui.models.verdict_weights import VerdictWeights

LATE = VerdictWeights(
    start=-1.034,
    signals={
        "words": (3.876, 0.41),
        "words across": (0.698, 0.083),
        "rare": (2.112, -0.395),
        "literals": (6.0, 0.0),
        "meaning": (0.99, 0.637),
        "words margin": (1.206, 0.282),
        "dense": (4.37, 0.067),
        "dense margin": (2.873, 0.015),
        "rerank margin": (13.572, 0.091),
        "agreement": (0.361, 1.868),
        "other language": (2.36, 0.0),
        "chinese": (0.843, 0.0),
    },
    answered=0.63,
    related=0.12,
    fitted=(
        "3233 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.944, "
        "calibration error 0.049; 0.84 of the answerable and 0.08 of the others are called answered"
    ),
)

DENSE = VerdictWeights(
    start=-0.914,
    signals={
        "words": (4.876, 0.409),
        "words across": (1.998, 0.074),
        "rare": (2.184, -0.403),
        "literals": (6.0, 0.0),
        "words margin": (2.091, 0.271),
        "dense": (2.991, 0.069),
        "dense margin": (38.699, 0.017),
        "agreement": (0.308, 1.191),
        "other language": (1.661, 0.0),
        "chinese": (1.212, 0.0),
    },
    answered=0.63,
    related=0.12,
    fitted=(
        "3208 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.945, "
        "calibration error 0.059; 0.86 of the answerable and 0.09 of the others are called answered"
    ),
)

WORDS = VerdictWeights(
    start=0.346,
    signals={
        "words": (2.632, 0.477),
        "rare": (2.825, -0.396),
        "literals": (6.0, 0.0),
        "words margin": (7.434, 0.318),
        "chinese": (1.06, 0.0),
    },
    answered=0.63,
    related=0.12,
    fitted=(
        "2804 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.966, "
        "calibration error 0.022; 0.87 of the answerable and 0.06 of the others are called answered"
    ),
)
