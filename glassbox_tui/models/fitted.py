"""The weights of the verdict, written by `python -m glassbox_tui.lab.fit_verdict --write`, not by hand."""

from __future__ import annotations

from glassbox_tui.models.verdict_weights import VerdictWeights

LATE = VerdictWeights(
    start=-0.202,
    signals={
        "words": (3.854, 0.41),
        "words across": (0.809, 0.083),
        "rare": (1.224, -0.395),
        "literals": (0.47, -0.162),
        "meaning": (1.962, 0.637),
        "words margin": (0.97, 0.282),
        "dense margin": (1.959, 0.015),
        "rerank margin": (14.002, 0.091),
        "agreement": (0.406, 1.868),
        "other language": (2.286, 0.219),
    },
    answered=0.65,
    related=0.25,
    fitted=(
        "3233 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.951, "
        "calibration error 0.043; 0.84 of the answerable and 0.07 of the others are called answered"
    ),
)

DENSE = VerdictWeights(
    start=-0.059,
    signals={
        "words": (5.73, 0.409),
        "words across": (3.646, 0.074),
        "rare": (0.482, -0.403),
        "literals": (0.957, -0.159),
        "words margin": (2.204, 0.271),
        "dense margin": (39.155, 0.017),
        "agreement": (0.445, 1.191),
        "other language": (1.213, 0.217),
    },
    answered=0.65,
    related=0.25,
    fitted=(
        "3208 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.948, "
        "calibration error 0.080; 0.86 of the answerable and 0.10 of the others are called answered"
    ),
)

WORDS = VerdictWeights(
    start=0.601,
    signals={
        "words": (3.397, 0.477),
        "rare": (1.063, -0.396),
        "literals": (1.931, -0.159),
        "words margin": (7.825, 0.318),
    },
    answered=0.65,
    related=0.25,
    fitted=(
        "2804 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.970, "
        "calibration error 0.029; 0.86 of the answerable and 0.05 of the others are called answered"
    ),
)
