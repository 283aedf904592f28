"""The weights of the verdict, written by `python -m glassbox_tui.lab.fit_verdict --write`, not by hand."""

from __future__ import annotations

from glassbox_tui.models.verdict_weights import VerdictWeights

LATE = VerdictWeights(
    start=0.665,
    signals={
        "words": (4.881, 0.438),
        "words across": (2.157, 0.051),
        "rare": (0.665, -0.371),
        "literals": (0.261, -0.124),
        "meaning": (1.893, 0.667),
        "words margin": (0.493, 0.269),
        "rerank margin": (13.859, 0.107),
        "agreement": (0.422, 2.051),
        "other language": (2.271, 0.136),
    },
    answered=0.73,
    related=0.15,
    fitted=(
        "2581 searches on literals, docs-site, cmrc-trial, corpus, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.940, "
        "calibration error 0.081; 0.87 of the answerable and 0.12 of the others are called answered"
    ),
)

DENSE = VerdictWeights(
    start=0.754,
    signals={
        "words": (6.675, 0.43),
        "words across": (5.373, 0.052),
        "literals": (0.801, -0.12),
        "words margin": (1.765, 0.261),
        "dense margin": (34.159, 0.023),
        "agreement": (0.419, 1.298),
        "other language": (0.9, 0.153),
    },
    answered=0.73,
    related=0.15,
    fitted=(
        "2567 searches on literals, docs-site, cmrc-trial, corpus, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.928, "
        "calibration error 0.111; 0.86 of the answerable and 0.18 of the others are called answered"
    ),
)

WORDS = VerdictWeights(
    start=1.075,
    signals={
        "words": (4.088, 0.475),
        "rare": (0.24, -0.376),
        "literals": (1.221, -0.116),
        "words margin": (8.112, 0.294),
    },
    answered=0.73,
    related=0.15,
    fitted=(
        "2419 searches on literals, docs-site, cmrc-trial, corpus, mixed, answerable-en, answerable-zh, the "
        "right note there or taken out, each half read with the weights of the other: AUROC 0.949, "
        "calibration error 0.041; 0.83 of the answerable and 0.08 of the others are called answered"
    ),
)
