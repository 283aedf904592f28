"""Every model with its place and its state: here or not, in use or not, and why. Nothing is loaded to find out."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from glassbox_tui.models import catalog, e5_convert, e5_file, fastembed_models, manifest
from glassbox_tui.models.catalog import E5, HASHING, LATE_INTERACTION, CatalogEntry
from glassbox_tui.settings import Settings

_EMBED, _RERANK, _LLM = "GLASSBOX_EMBED_MODEL", "GLASSBOX_RERANK_MODEL", "GLASSBOX_LLM_PATH"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """`present`: on this machine and whole. `in_use`: what the settings choose. `why` is a sentence on both."""

    entry: CatalogEntry
    present: bool
    in_use: bool
    why: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    present: bool
    path: str = ""
    fault: str = ""


def model_rows(settings: Settings) -> list[ModelRow]:
    """One row a model, by kind, what is in use first; folders and files that the settings name among them."""
    entries = catalog.all_entries(settings)
    places = {entry.name: _place(entry, settings.models_dir) for entry in entries}
    for kind, named in (("embedder", settings.embed_model), ("reranker", settings.rerank_model)):
        folder = Path(named).expanduser()
        if named and folder.is_dir() and all(named != entry.name for entry in entries):
            limit = fastembed_models.local_token_limit(folder)
            entries.append(CatalogEntry(named, kind, 0, limit, "unknown", 0.0, source=str(folder), purpose="a folder"))
            places[named] = _Place(True, str(folder))
    if settings.llm_path:
        file = Path(settings.llm_path).expanduser()
        if all(places[e.name].path != str(file) for e in entries):
            entries.append(CatalogEntry(str(file), "generator", 0, 0, "unknown", 0.0, purpose="a GGUF file"))
            places[str(file)] = _Place(file.is_file(), str(file), "" if file.is_file() else "there is no such file")
    chosen = _chosen(settings, entries, places)
    rows = [_row(entry, places[entry.name], chosen) for entry in entries]
    order = {"embedder": 0, "reranker": 1, "generator": 2}
    return sorted(rows, key=lambda row: (order[row.entry.kind], not row.in_use, not row.present))


def _row(entry: CatalogEntry, place: _Place, chosen: dict[str, str]) -> ModelRow:
    if place.present and entry.repo and entry.kind != "generator" and place.path:
        limit = fastembed_models.local_token_limit(Path(place.path))
        entry = replace(entry, token_limit=limit or entry.token_limit)
    reason = chosen.get(entry.name)
    knob = {"embedder": _EMBED, "reranker": _RERANK, "generator": _LLM}[entry.kind]
    if place.fault:
        again = f"; `glassbox-tui models pull {entry.name}` fetches it anew" if entry.repo else ""
        why = f"damaged: {place.fault}{again}"
    elif reason is not None:
        why = reason
    elif place.present:
        why = f"here; {knob}={place.path if entry.kind == 'generator' else entry.name} chooses it"
    elif entry is E5:
        why = f"not here: pip install {e5_file.WHEEL}=={e5_file.WHEEL_VERSION} brings it"
    elif entry.name == LATE_INTERACTION.name:
        why = f"needs {E5.name} as embedder"
    else:
        why = f"not here: `glassbox-tui models pull {entry.name}` fetches it"
    return ModelRow(entry, place.present, reason is not None, why, place.path)


def _place(entry: CatalogEntry, models_dir: Path) -> _Place:
    """Where a model's files lie, and whether they are what they should be."""
    if entry is E5:
        folder = models_dir / e5_convert.FOLDER
        if not manifest.check(folder):
            return _Place(True, str(folder))
        return _Place(importlib.util.find_spec(e5_file.WHEEL) is not None)
    if not entry.repo:
        return _Place(True)
    folder = catalog.folder_of(entry, models_dir)
    fault = manifest.check(folder)
    if not fault:
        return _Place(True, str(folder / entry.files[0] if entry.kind == "generator" else folder))
    if fault != "missing":
        return _Place(False, str(folder), fault)
    cached = catalog.fastembed_cache(models_dir) / f"models--{entry.repo.replace('/', '--')}" / "snapshots"
    found = next((snapshot for snapshot in cached.glob("*") if (snapshot / entry.files[0]).exists()), None)
    return _Place(found is not None, str(found or ""))


def _chosen(settings: Settings, entries: Sequence[CatalogEntry], places: dict[str, _Place]) -> dict[str, str]:
    """Name -> why, of what the settings choose; as `catalog.open_embedder` and its sisters do it."""
    chosen: dict[str, str] = {}
    embedder, why = _chosen_embedder(settings, places)
    chosen[embedder] = why
    if settings.disable_rerank:
        pass
    elif settings.rerank_model and settings.rerank_model not in catalog.LATE_NAMES:
        chosen[settings.rerank_model] = f"in use: {_RERANK} names it"
    elif embedder == E5.name:
        chosen[LATE_INTERACTION.name] = "in use: it goes with the bundled embedder"
    if settings.llm_path:
        path = str(Path(settings.llm_path).expanduser())
        for entry in entries:
            if entry.kind == "generator" and places[entry.name].path == path:
                chosen[entry.name] = f"named by {_LLM}"
    return chosen


def _chosen_embedder(settings: Settings, places: dict[str, _Place]) -> tuple[str, str]:
    named = settings.embed_model.strip()
    if named:
        name = E5.name if named in catalog.E5_NAMES else HASHING.name if named in catalog.HASHING_NAMES else named
        return name, f"in use: {_EMBED} names it"
    if places[E5.name].present:
        return E5.name, f"in use: {_EMBED} names no other"
    for name in catalog.NEXT:
        if places[name].present:
            return name, f"in use: {E5.name} is not here, and {_EMBED} names no other"
    return HASHING.name, f"in use: no other embedder is here, and {_EMBED} names none"
