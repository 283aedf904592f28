"""Another generator for the session: the engine's and its siblings', at once, or nothing changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from glassbox_tui import Engine
from glassbox_tui.models import generators
from glassbox_tui.models.entries import SMOLLM2
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import load_settings
from glassbox_tui.tui.backend import BY_HAND, EngineBackend


@pytest.mark.llm
def test_it_writes_from_then_on_in_this_folder_and_the_next(tmp_path: Path) -> None:
    bundled = generators.bundled_file()
    assert bundled is not None
    other = tmp_path / "other.gguf"
    other.symlink_to(bundled)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    settings = load_settings({"GLASSBOX_DATA": str(tmp_path / "data"), "GLASSBOX_LLM_PATH": str(other)})
    engine = Engine(HashingEmbedder(), settings=settings)
    backend = EngineBackend(engine)
    with engine:
        assert engine.chat is not None and engine.chat.name == "other"
        with pytest.raises(ModelError, match="not here: "):
            backend.use_generator("Qwen2.5-0.5B-Instruct")
        assert engine.chat.name == "other"
        said = backend.use_generator(SMOLLM2.name)
        assert said.startswith(SMOLLM2.name)
        assert engine.chat.name == SMOLLM2.name
        used = [row for row in backend.models().rows if row.in_use and row.entry.kind == "generator"]
        assert [(row.entry.name, row.why) for row in used] == [(SMOLLM2.name, BY_HAND)]
        next_folder = backend.sibling(tmp_path / "b")
        used = [row for row in next_folder.models().rows if row.in_use and row.entry.kind == "generator"]
        assert [(row.entry.name, row.why) for row in used] == [(SMOLLM2.name, BY_HAND)]
        next_folder.close()


def test_what_cannot_be_had_changes_nothing(tmp_path: Path) -> None:
    engine = Engine(HashingEmbedder(), settings=load_settings({"GLASSBOX_DATA": str(tmp_path)}))
    before = engine.settings
    with pytest.raises(ModelError, match="there is no model file"):
        engine.use_model(tmp_path / "no.gguf")
    assert engine.settings == before
