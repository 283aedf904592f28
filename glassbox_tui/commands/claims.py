"""`eval --claims`: how well the claim check tells true from false, on claims made from the notes themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassbox_tui.answer.claims import Claim, check
from glassbox_tui.answer.statements import Statement
from glassbox_tui.commands.evaluate import opened
from glassbox_tui.index.sparse import idf
from glassbox_tui.lab.calibration import auroc
from glassbox_tui.lab.claim_sets import LabelledClaim, made_claims, read_claims
from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.settings import Settings
from glassbox_tui.text.tokens import content_terms

MADE = 100
WIDE = 100


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled claim as it was judged: "true" with its note among the evidence, or a way of being false."""

    kind: str
    label: str
    claim: Claim


def claims_report(notes: Path, labelled: Path | None, settings: Settings, progress: ProgressFn) -> dict[str, Any]:
    """The document of `eval --claims --json`. `labelled`: a claims.jsonl by hand, besides what is made from the notes.

    Raises LabError and what an engine raises.
    """
    by_hand = read_claims(labelled) if labelled else []
    with opened(notes, settings, progress) as engine:
        judged = judge_claims(engine, [*by_hand, *made_claims(_texts(engine), MADE, rareness(engine))], progress)
        return {"notes": "/".join(notes.parts[-2:]), "embedder": engine.embedder.name, **report(judged)}


def judge_claims(engine: Engine, claims: Sequence[LabelledClaim], progress: ProgressFn) -> list[Judged]:
    """Each claim and its false twins against what a search for it finds, its note among it; and without its note.

    "removed": the same claim, the best evidence there is once its note is taken out. "elsewhere": another claim of
    the same kind, from a note that is not among the evidence.
    """
    found: list[Judged] = []
    for done, labelled in enumerate(claims):
        progress(Progress("ask", done, len(claims), "claims"))
        # All that was found: the note may stand far down, and whether it is found is not what is measured here.
        hits = engine.search(labelled.text, top_k=WIDE, max_rewrites=0, explain=False).hits
        near = hits[: engine.settings.top_k]
        if all(hit.path != labelled.note for hit in near):
            near = (*near[:-1], *[hit for hit in hits if hit.path == labelled.note][:1])
        far = [hit for hit in hits if hit.path != labelled.note][: engine.settings.top_k]
        said = {"true": labelled.text, **labelled.false}
        stranger = _stranger(claims, done, near)
        if stranger:
            said["elsewhere"] = stranger
        for evidence, texts in ((near, said), (far, {"removed": labelled.text})):
            verdicts = check([Statement(text, ()) for text in texts.values()], evidence, {}, engine)
            found += [Judged(labelled.kind, label, claim) for label, claim in zip(texts, verdicts, strict=True)]
    return found


def _stranger(claims: Sequence[LabelledClaim], at: int, hits: Sequence[Hit]) -> str | None:
    """The next claim of this kind whose note is not among the hits."""
    paths = {hit.path for hit in hits}
    later = (*claims[at + 1 :], *claims[:at])
    return next((c.text for c in later if c.kind == claims[at].kind and c.note not in paths), None)


def report(judged: Sequence[Judged]) -> dict[str, Any]:
    """AUROC of true claims against each way of being false, and how each was called, by kind of claim."""
    groups: dict[str, dict[str, list[Claim]]] = defaultdict(lambda: defaultdict(list))
    for one in judged:
        groups[one.kind][one.label].append(one.claim)
    return {"kinds": {kind: _kind(by_label) for kind, by_label in sorted(groups.items()) if by_label["true"]}}


def _kind(by_label: dict[str, list[Claim]]) -> dict[str, Any]:
    true = [claim.support for claim in by_label["true"]]
    rows = {}
    for label, claims in by_label.items():
        row: dict[str, Any] = {"claims": len(claims)}
        row |= {v: sum(c.verdict == v for c in claims) / len(claims) for v in ("supported", "weak", "unsupported")}
        if label != "true":
            row["auroc"] = auroc(true, [claim.support for claim in claims])
        rows[label] = row
    return rows


def _texts(engine: Engine) -> dict[str, str]:
    """The notes' texts as far as chunks hold them, by path."""
    texts: dict[str, str] = defaultdict(str)
    ends: dict[str, int] = defaultdict(int)
    for chunk in engine.snapshot.chunks:
        new = chunk.text[max(0, ends[chunk.path] - chunk.start) :]
        texts[chunk.path] += ("" if ends[chunk.path] >= chunk.start else "\n") + new
        ends[chunk.path] = max(ends[chunk.path], chunk.end)
    return dict(texts)


def rareness(engine: Engine) -> Callable[[str], float]:
    sparse = engine.snapshot.sparse
    return lambda word: min((idf(sparse, term) for term in content_terms(word)), default=0.0)
