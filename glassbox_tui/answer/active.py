"""Which generator answers: one place for the decision, and the reason in words."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from glassbox_tui.settings import Settings


@dataclass(frozen=True, slots=True)
class ActiveGenerator:
    """`mode` is what `Answer.mode` will be where there is evidence: "extract" or "generate"; `reason` is a sentence."""

    mode: str
    reason: str


def active_generator(settings: Settings) -> ActiveGenerator:
    """Extracts serve until llama_cpp and a GGUF file are both there."""
    if importlib.util.find_spec("llama_cpp") is None:
        return ActiveGenerator("extract", "llama-cpp-python is not installed: answers are sentences of the notes")
    if not settings.llm_path:
        return ActiveGenerator("extract", "GLASSBOX_LLM_PATH names no GGUF file: answers are sentences of the notes")
    if not Path(settings.llm_path).expanduser().is_file():
        return ActiveGenerator("extract", f"there is no file {settings.llm_path}: answers are sentences of the notes")
    # What `answer` does is what is said here: it writes nothing of its own yet.
    return ActiveGenerator("extract", "this version quotes the notes and does not generate, although a model is there")
