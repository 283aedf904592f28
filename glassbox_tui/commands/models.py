"""`models list`, with or without measuring, and `models pull`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from glassbox_tui.models import hub, speed
from glassbox_tui.models.catalog import find
from glassbox_tui.models.entries import LLM_RERANKERS
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.generators import choose
from glassbox_tui.models.gguf import check
from glassbox_tui.models.listing import model_rows
from glassbox_tui.models.measuring import measure_here
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.progress import ProgressFn
from glassbox_tui.settings import Settings


def rows(settings: Settings) -> list[ModelRow]:
    """Every model with its state. Nothing is loaded and nothing is asked of a hub."""
    return model_rows(settings)


def notices(settings: Settings) -> list[str]:
    """What is wrong with the file of the speeds, if anything is."""
    return [fault for fault in [speed.read(settings.models_dir)[1]] if fault]


def measure(name: str, settings: Settings, progress: ProgressFn, say: Callable[[str], None]) -> int:
    """Measure the model of that name, "" all that are here, one after another; how many could not be.

    Rerankers that are made of the generator are left out of all: each asks it a dozen times, which may take minutes.

    `say` hears why. Raises ModelError if the one that was named cannot be measured.
    """
    names = (
        [name]
        if name
        else [row.entry.name for row in model_rows(settings) if row.present and row.entry.name not in LLM_RERANKERS]
    )
    failed = 0
    for each in names:
        try:
            _, notice = measure_here(each, settings, progress)
        except ModelError as error:
            if name:
                raise
            failed += 1
            notice = str(error)
        if notice:
            say(notice)
    return failed


def pull(name: str, settings: Settings, progress: ProgressFn, say: Callable[[str], None]) -> Path:
    """Fetch a model to where the program looks for it, and return that place.

    `say` hears the licence before anything is fetched. Raises ModelError: no such name, no hub, a wrong checksum, ...
    """
    entry = find(name, settings)
    if not entry.repo:
        raise ModelError(f"{entry.name} needs no pull: {entry.source}")
    offer = hub.ask(entry)
    same = entry.licence.lower() in (offer.licence.lower(), "unknown")
    listed = "" if same else f" (in the catalog: {entry.licence})"
    say(f"{entry.name}: licence {offer.licence}{listed}")
    count = "1 file" if len(offer.files) == 1 else f"{len(offer.files)} files"
    say(f"fetching {count}, {offer.size / 1e6:,.1f} MB, from {offer.endpoint}/{offer.repo} at {offer.revision[:12]}")
    folder = hub.pull(entry, offer, settings.models_dir, progress)
    if entry.kind != "generator":
        knob = "GLASSBOX_EMBED_MODEL" if entry.kind == "embedder" else "GLASSBOX_RERANK_MODEL"
        say(f"{entry.name} is here and its checksums are right; {knob}={entry.name} uses it")
        return folder
    file = folder / entry.files[0]
    try:
        for name in entry.files:
            check(folder / name)
    except ModelError:
        shutil.rmtree(folder, ignore_errors=True)  # or it would be chosen, and fail, at every start
        raise
    say(f"{entry.name} is here and its checksums are right; {_use_of(file, settings)}")
    return file


def _use_of(file: Path, settings: Settings) -> str:
    """Whether a language model that was pulled serves from now on; if not, why not."""
    chosen = choose(settings)
    if chosen.path == file and not chosen.fault:
        return "it is used from now on"
    if chosen.kind == "none" or chosen.path == file:
        return f"but it cannot be used yet: {chosen.fault or chosen.why}"
    other = chosen.server or (chosen.entry.name if chosen.entry else "another")
    return f"{other} stays {chosen.why}; GLASSBOX_LLM_PATH={file} uses this one"
