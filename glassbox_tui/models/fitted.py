"""The weights of the verdict, written by `python -m glassbox_tui.lab.fit_verdict --write`, not by hand."""

from __future__ import annotations

from glassbox_tui.models.verdict_weights import VerdictWeights

LATE = VerdictWeights(
    start=-0.996,
    signals={
        "words": (3.908, 0.423),
        "words across": (1.659, 0.072),
        "rare": (1.633, -0.396),
        "literals": (6.0, 0.0),
        "named": (3.5, 0.0),
        "names": (0.767, 0.0),
        "meaning": (0.419, 0.638),
        "words margin": (0.301, 0.284),
        "dense": (6.742, 0.067),
        "dense margin": (1.194, 0.015),
        "rerank margin": (17.631, 0.091),
        "agreement": (0.305, 1.868),
        "other language": (2.332, 0.0),
        "chinese": (0.752, 0.0),
    },
    answered=0.63,
    related=0.12,
    fitted=(
        "3233 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.958, "
        "calibration error 0.045; 0.86 of the answerable and 0.09 of the others are called answered"
    ),
)

DENSE = VerdictWeights(
    start=-0.749,
    signals={
        "words": (4.452, 0.42),
        "words across": (2.484, 0.064),
        "rare": (2.055, -0.403),
        "literals": (6.0, 0.0),
        "named": (3.5, 0.0),
        "names": (1.35, 0.0),
        "words margin": (1.718, 0.274),
        "dense": (2.623, 0.069),
        "dense margin": (43.22, 0.017),
        "agreement": (0.309, 1.191),
        "other language": (1.513, 0.0),
        "chinese": (0.996, 0.0),
    },
    answered=0.63,
    related=0.12,
    fitted=(
        "3208 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.960, "
        "calibration error 0.058; 0.88 of the answerable and 0.09 of the others are called answered"
    ),
)

WORDS = VerdictWeights(
    start=0.607,
    signals={
        "words": (2.897, 0.481),
        "rare": (2.247, -0.396),
        "literals": (6.0, 0.0),
        "named": (3.5, 0.0),
        "names": (1.396, 0.0),
        "words margin": (7.568, 0.32),
        "chinese": (0.819, 0.0),
    },
    answered=0.63,
    related=0.12,
    fitted=(
        "2804 searches on corpus, literals, docs-site, cmrc-trial, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.972, "
        "calibration error 0.039; 0.88 of the answerable and 0.07 of the others are called answered"
    ),
)
