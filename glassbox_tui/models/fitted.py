"""The weights of the verdict, written by `python -m glassbox_tui.lab.fit_verdict --write`, not by hand."""

from __future__ import annotations

from glassbox_tui.models.verdict_weights import VerdictWeights

LATE = VerdictWeights(
    start=0.565,
    signals={
        "words": (1.261, 0.427),
        "words across": (6.639, 0.006),
        "rare": (1.102, -0.417),
        "literals": (0.262, -0.125),
        "meaning": (2.977, 0.634),
        "words margin": (2.933, 0.257),
        "rerank margin": (13.985, 0.109),
        "agreement": (0.164, 2.156),
        "other language": (1.588, 0.087),
    },
    answered=0.73,
    related=0.15,
    fitted=(
        "2628 searches on literals, answerable-en, docs-site, answerable-zh, cmrc-trial, corpus, mixed, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.952, "
        "calibration error 0.033; 0.83 of the answerable and 0.07 of the others are called answered"
    ),
)

DENSE = VerdictWeights(
    start=0.664,
    signals={
        "words": (4.071, 0.439),
        "words across": (18.878, 0.005),
        "literals": (0.58, -0.122),
        "words margin": (4.723, 0.267),
        "dense": (2.265, 0.081),
        "dense margin": (20.395, 0.024),
        "agreement": (0.352, 1.391),
        "other language": (-1.727, 0.068),
    },
    answered=0.73,
    related=0.15,
    fitted=(
        "2597 searches on literals, answerable-en, docs-site, answerable-zh, cmrc-trial, corpus, mixed, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.943, "
        "calibration error 0.050; 0.83 of the answerable and 0.08 of the others are called answered"
    ),
)

WORDS = VerdictWeights(
    start=0.826,
    signals={
        "words": (3.931, 0.467),
        "rare": (0.608, -0.379),
        "literals": (0.967, -0.11),
        "words margin": (7.24, 0.279),
    },
    answered=0.73,
    related=0.15,
    fitted=(
        "2448 searches on literals, answerable-en, docs-site, answerable-zh, cmrc-trial, corpus, mixed, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.933, "
        "calibration error 0.035; 0.80 of the answerable and 0.07 of the others are called answered"
    ),
)
