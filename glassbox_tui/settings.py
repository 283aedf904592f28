"""Every knob in one place: default, environment name, range, one-line meaning.

`Settings` is frozen and passed along explicitly; nothing reads the environment but `load_settings` (and `config.py` for
the interface's own), and nothing happens at import.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from glassbox_tui.errors import GlassboxError

# Whole sentences packed to the chunk size; windows under each heading; paragraph, line, 。, ；, space; fixed windows.
CHUNK_STRATEGIES = ("sentences", "headings", "recursive", "fixed")

ANSWERS = ("auto", "extract")
# feedback: terms of the first hits; the others ask the model, each in its way.
REWRITERS = ("feedback", "rewrite", "decompose", "hyde", "expand")
JUDGES = ("thresholds", "model")
VERDICTS = ("probability", "thresholds")

_PATHS = ("data", "synonyms", "llm_path", "embed_model", "rerank_model")  # fields that are, or may be, a path


class SettingsError(GlassboxError, ValueError):
    """A knob has a value it cannot take; the message says which, what was given and what is allowed."""


@dataclass(frozen=True, slots=True)
class Knob:
    """What a person needs to know of one setting. `low`/`high` bound numbers (inclusive); `choices` bounds words."""

    env: str
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


def knob(
    default: Any,
    env: str,
    meaning: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field with its knob."""
    return field(default=default, metadata={"knob": Knob(env, meaning, low, high, choices)})


@dataclass(frozen=True, slots=True)
class Settings:
    """One run's settings. Numbers are counts of chunks or characters unless the meaning says otherwise."""

    chunk_chars: int = knob(700, "GLASSBOX_CHUNK_CHARS", "longest chunk, in characters", 50, 20_000)
    chunk_overlap: int = knob(
        180, "GLASSBOX_CHUNK_OVERLAP", "characters that neighbouring chunks share at most", 0, 10_000
    )
    chunk_strategy: str = knob(
        "sentences", "GLASSBOX_CHUNK_STRATEGY", "how notes are cut into chunks", choices=CHUNK_STRATEGIES
    )
    rrf_k: int = knob(60, "GLASSBOX_RRF_K", "k of reciprocal rank fusion, 1 / (k + rank)", 1, 10_000)
    top_k: int = knob(8, "GLASSBOX_TOPK", "hits shown and graded as evidence", 1, 1_000)
    fanout: int = knob(30, "GLASSBOX_FANOUT", "depth of each first-stage list", 1, 10_000)
    rerank_depth: int = knob(30, "GLASSBOX_RERANK_DEPTH", "how many fused candidates are reranked", 1, 10_000)
    max_rewrites: int = knob(2, "GLASSBOX_MAX_REWRITES", "rewrite rounds after the first, at most", 0, 20)
    query_weight: float = knob(
        1.0, "GLASSBOX_QUERY_WEIGHT", "weight of round 0's lists in later rounds' fusion", 0.0, 100.0
    )
    feedback: str = knob(
        "fuse",
        "GLASSBOX_FEEDBACK",
        "later rounds: fuse with round 0's lists, or replace them",
        choices=("fuse", "replace"),
    )
    ignore: str = knob(
        "", "GLASSBOX_IGNORE", "patterns as in a .gitignore of files to leave out, with commas or on lines of their own"
    )
    synonyms: str = knob(
        "", "GLASSBOX_SYNONYMS", "a file of your own synonyms; empty: synonyms.txt at the top of the notes folder"
    )
    follow_links: bool = knob(
        False, "GLASSBOX_FOLLOW_LINKS", "1 follows links out of the notes folder; 0 never leaves it"
    )
    bm25_k1: float = knob(1.5, "GLASSBOX_BM25_K1", "BM25 term-frequency saturation", 0.0, 100.0)
    bm25_b: float = knob(0.75, "GLASSBOX_BM25_B", "BM25 length normalisation", 0.0, 1.0)
    bm25_variant: str = knob(
        "lucene", "GLASSBOX_BM25_VARIANT", "BM25 idf: lucene (never negative) or okapi", choices=("lucene", "okapi")
    )
    bm25_note_share: float = knob(
        0.4, "GLASSBOX_BM25_NOTE_SHARE", "share of a chunk's keyword score that its whole note's makes up", 0.0, 1.0
    )
    bm25_floor: float = knob(
        0.15, "GLASSBOX_BM25_FLOOR", "hybrid: least share of the query's idf weight a keyword match must hold", 0.0, 1.0
    )
    min_token_len: int = knob(1, "GLASSBOX_MIN_TOKEN_LEN", "shortest Latin word that is indexed, in characters", 1, 50)
    embed_model: str = knob(
        "", "GLASSBOX_EMBED_MODEL", "embedder by name; empty: the bundled one, else the next that works"
    )
    rerank_model: str = knob("", "GLASSBOX_RERANK_MODEL", "reranker by name; empty: the one that fits the embedder")
    rerank_weight: float | None = knob(
        None,
        "GLASSBOX_RERANK_WEIGHT",
        "weight of the reranker in the second fusion; empty: the model's own",
        0.0,
        1_000.0,
    )
    disable_dense: bool = knob(
        False, "GLASSBOX_DISABLE_DENSE", "1: keyword search alone, no model is loaded and nothing is embedded"
    )
    token_codes: bool = knob(
        True, "GLASSBOX_TOKEN_CODES", "0 keeps no token codes: a third of the disk, and no late interaction to rerank"
    )
    disable_rerank: bool = knob(False, "GLASSBOX_DISABLE_RERANK", "1 switches the rerank stage off")
    require_rerank: bool = knob(False, "GLASSBOX_REQUIRE_RERANK", "1 makes a missing reranker an error")
    llm_path: str = knob("", "GLASSBOX_LLM_PATH", "a GGUF file for generation")
    llm_repo: str = knob("", "GLASSBOX_LLM_REPO", "hub repository that `models pull` takes the GGUF from")
    llm_file: str = knob("", "GLASSBOX_LLM_FILE", "file name inside that repository")
    llm_threads: int = knob(
        0, "GLASSBOX_LLM_THREADS", "generation threads; 0: four, or the allowed CPUs if fewer", 0, 1_024
    )
    llm_context: int = knob(
        0, "GLASSBOX_LLM_CONTEXT", "tokens of prompt and answer; 0: 4096, or what the model can if less", 0, 1_000_000
    )
    llm_answer_tokens: int = knob(320, "GLASSBOX_LLM_ANSWER_TOKENS", "tokens an answer may have", 16, 100_000)
    llm_passages: int = knob(
        0, "GLASSBOX_LLM_PASSAGES", "passages a model is shown; 0: what fits, for the bundled one three", 0, 1_000
    )
    llm_server: str = knob(
        "", "GLASSBOX_LLM_SERVER", "an OpenAI-compatible server on this machine, as http://127.0.0.1:11434"
    )
    llm_server_model: str = knob("", "GLASSBOX_LLM_SERVER_MODEL", "the model to ask it for; empty: the first it lists")
    llm_remote: bool = knob(
        False, "GLASSBOX_LLM_REMOTE", "1 allows a server elsewhere: questions and passages leave this machine"
    )
    answers: str = knob(
        "auto", "GLASSBOX_ANSWERS", "who answers: a model if there is one, or always an extract", choices=ANSWERS
    )
    rewriter: str = knob(
        "feedback", "GLASSBOX_REWRITER", "how a query is rewritten: by feedback, or by the model", choices=REWRITERS
    )
    judge: str = knob(
        "thresholds", "GLASSBOX_JUDGE", "who says whether evidence suffices: thresholds or the model", choices=JUDGES
    )
    verdict: str = knob(
        "probability",
        "GLASSBOX_VERDICT",
        "how evidence is judged: by a calibrated probability, or by three thresholds",
        choices=VERDICTS,
    )
    llm_rerank_depth: int = knob(
        8, "GLASSBOX_LLM_RERANK_DEPTH", "how many candidates a model reranks; the rest keep fused order", 2, 100
    )
    data: str = knob("", "GLASSBOX_DATA", "folder of indexes, models and logs; empty: the user data folder")

    @property
    def data_dir(self) -> Path:
        """Where everything this program writes lives. Never inside the notes unless the user says so."""
        return (
            Path(self.data).expanduser()
            if self.data
            else Path(platformdirs.user_data_dir("glassbox-tui", appauthor=False))
        )

    @property
    def models_dir(self) -> Path:
        return self.data_dir / "models"


def knobs(kind: Any = Settings) -> dict[str, Knob]:
    """Field name -> its knob, in the order they are documented; of Settings, or of another dataclass made of knobs."""
    return {f.name: f.metadata["knob"] for f in fields(kind)}


def load_settings(
    environ: Mapping[str, str] | None = None, *, file: Mapping[str, Any] | None = None, **overrides: Any
) -> Settings:
    """Settings from `file` (what the config file says, already checked), the environment, `overrides`: the last wins.

    An override of None is not given. Raises SettingsError, naming the variable, the value and what it may be.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    values = {**(file or {}), **from_environment(Settings, environ), **given}
    settings = Settings(**values)
    try:
        check(settings)
    except SettingsError as error:
        # Each value of the file is sound by itself: two of them may still contradict each other.
        told = file and any(knobs()[name].env in str(error) for name in file)
        raise SettingsError(f"{error} (the config file has a say in it)") if told else error from None
    return settings


def from_environment(kind: Any, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The fields of a dataclass of knobs that the environment sets, parsed. Raises SettingsError."""
    env = os.environ if environ is None else environ
    types = {f.name: str(f.type) for f in fields(kind)}
    given = {name: (knob, env.get(knob.env, "").strip()) for name, knob in knobs(kind).items()}
    return {name: parse(raw, types[name], knob) for name, (knob, raw) in given.items() if raw}


def fault(value: Any, knob: Knob) -> str | None:
    """What is wrong with a value of the right type: one clause that says what is allowed; None if nothing is."""
    if knob.choices and value not in knob.choices:
        return f"{value!r} is not one of {', '.join(knob.choices)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        # `not (low <= value)` also catches nan.
        if knob.low is not None and not value >= knob.low:
            return f"{value} is too small, the least is {knob.low:g}"
        if knob.high is not None and not value <= knob.high:
            return f"{value} is too large, the most is {knob.high:g}"
    return None


def check(settings: Settings) -> None:
    """Raise SettingsError if any value is outside its knob's range, or two of them contradict each other."""
    for name, knob in knobs().items():
        if wrong := fault(getattr(settings, name), knob):
            raise SettingsError(f"{knob.env}: {wrong}")
    for name in _PATHS:
        try:
            Path(getattr(settings, name)).expanduser()
        except RuntimeError:  # ~name of nobody
            raise SettingsError(f"{knobs()[name].env}: there is no home for {getattr(settings, name)!r}") from None
    if settings.chunk_overlap >= settings.chunk_chars:
        raise SettingsError(
            f"GLASSBOX_CHUNK_OVERLAP ({settings.chunk_overlap}) must be smaller than"
            f" GLASSBOX_CHUNK_CHARS ({settings.chunk_chars})"
        )


def parse(raw: str, type_name: str, knob: Knob) -> Any:
    """The value that a text, as it stands in the environment, means. Raises SettingsError."""
    kind = type_name.partition(" ")[0]
    try:
        if kind == "int":
            return int(raw)
        if kind == "float":
            return float(raw)
    except ValueError:
        wanted = "a whole number" if kind == "int" else "a number"
        raise SettingsError(f"{knob.env}: {raw!r} is not {wanted}") from None
    if kind == "bool":
        low = raw.lower()
        if low in {"1", "true", "yes", "on"}:
            return True
        if low in {"0", "false", "no", "off"}:
            return False
        raise SettingsError(f"{knob.env}: {raw!r} is neither 1 nor 0")
    return raw
