"""Every setting, away from its default: on a new index and on an old one, twice on each, and back again.

However an index came about, a search on it finds what it finds on one that was made for these settings.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from small_models import write_embedder, write_pooling, write_reranker

from glassbox_tui import Engine, cli
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.settings import Knob, Settings, knobs, load_settings

QUESTION = "混合检索 rank fusion kettle"
NOTES = {  # long enough to be cut
    "a.md": "# 融合\n\n混合检索用 RRF 融合两份名单。\n\n## Why ranks\n\nRank fusion needs no scores to compare. "
    + "x " * 90,
    "b.md": "# Kettle\n\nThe kettle boils at 100 degrees.\n\n| part | price |\n| --- | --- |\n| lid | 3 |\n",
    "sub/c.txt": "A kettle is not a rank. 水壶不是名次。\n",
}

# Nobody can tell what else a word may be: a knob whose value is a word needs its others here. {} is a folder.
WORDS: dict[str, tuple[str, ...]] = {
    "ignore": ("b.md", "sub/"),
    "embed_model": ("{}/embedder", "no such model", "multilingual-e5-small@nothing"),
    "rerank_model": ("{}/reranker", "llm-pointwise", "late-interaction", "no such model"),
    "llm_path": ("{}/no.gguf",),
    "llm_repo": ("some/repository",),
    "llm_file": ("some.gguf",),
    "llm_server": ("http://127.0.0.1:9", "no address"),
    "llm_server_model": ("some model",),
    "data": ("{}/elsewhere",),
    "synonyms": ("{}/synonyms.txt", "{}/no.txt"),
}
# What else has to be said so that the value is allowed.
BESIDE = {"chunk_chars": {"GLASSBOX_CHUNK_OVERLAP": "10"}, "chunk_overlap": {"GLASSBOX_CHUNK_CHARS": "20000"}}


def values(name: str, knob: Knob) -> Iterator[str]:
    """Values of a knob that are not its default, as the environment would say them: of numbers an end of the range."""
    default = getattr(Settings(), name)
    if knob.choices:
        others = knob.choices
    elif isinstance(default, bool):
        others = ("0", "1")
    elif knob.low is not None and knob.high is not None:
        ends = (f"{knob.low:g}", f"{knob.high:.0f}")
        others = tuple(end for end in ends if float(end) != default)[:1]
    else:
        others = WORDS[name]  # KeyError: say there what it may be
    for value in others:
        if load_settings({knob.env: value} | BESIDE.get(name, {})) != Settings():
            yield value


EVERY = [(name, value) for name, knob in knobs().items() for value in values(name, knob)]


class Done(NamedTuple):
    """A command's exit code, what stood on standard output, and on standard error."""

    code: int
    out: str
    err: str

    @property
    def found(self) -> Any:
        """Of `retrieve --json`: what every stage made of every hit. Times differ, and so do notices."""
        if self.code:
            return self.code, self.err
        hits = json.loads(self.out)["rounds"][-1]["hits"]
        return [(hit["uid"], hit["start"], hit["end"], hit["stages"]) for hit in hits]


class Place(NamedTuple):
    """A notes folder, an index made with the defaults (to be copied), what is found on it, and where all this lies."""

    notes: Path
    folder: Path
    old: Path
    found: Any


def run(*args: str, **env: str) -> Done:
    """One command in this process, with this environment; anything but an exit code is the test's failure."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        for name, value in env.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.StringIO())
        with contextlib.redirect_stderr(io.StringIO()) as err:
            code = cli.main(list(args))
    return Done(code, out.getvalue(), err.getvalue())


def search(notes: Path, env: dict[str, str]) -> Done:
    return run("retrieve", QUESTION, "--notes", str(notes), "--json", **env)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("settings")
    notes = folder / "notes"
    (notes / "sub").mkdir(parents=True)
    for name, text in NOTES.items():
        (notes / name).write_text(text, "utf-8")
        os.utime(notes / name, (1_700_000_000, 1_700_000_000))  # settled: an update may go by size and time
    write_embedder(folder / "embedder", 24)
    write_pooling(folder / "embedder", 24)
    write_reranker(folder / "reranker")
    old = folder / "old"
    return Place(notes, folder, old, search(notes, base(old)).found)


def base(data: Path) -> dict[str, str]:
    return {"GLASSBOX_DATA": str(data), "GLASSBOX_EMBED_MODEL": "hashing", "GLASSBOX_CONFIG": os.devnull}


@pytest.mark.parametrize(("name", "value"), EVERY, ids=[f"{name}={value}" for name, value in EVERY])
def test_a_setting_holds_on_a_new_index_and_on_an_old_one_and_leaves_no_trace(
    place: Place, tmp_path: Path, name: str, value: str
) -> None:
    changed = {knobs()[name].env: value.format(place.folder)} | BESIDE.get(name, {})
    new, old = tmp_path / "new", tmp_path / "old"
    shutil.copytree(place.old, old)
    on_new, on_old = search(place.notes, base(new) | changed), search(place.notes, base(old) | changed)
    assert on_new.found == on_old.found
    for data in (new, old):  # and once more: there is nothing left to do, and nothing else to find
        again = run("index", str(place.notes), "--json", **base(data) | changed)
        if again.code == 0:
            report = json.loads(again.out)
            assert [report[what] for what in ("added", "changed", "removed", "embedded", "pending")] == [0] * 5
        assert search(place.notes, base(data) | changed).found == on_new.found
    asked = run("ask", QUESTION, "--notes", str(place.notes), "--json", **base(old) | changed)
    assert asked.code == on_old.code, asked.err
    assert run("status", "--notes", str(place.notes), **base(old) | changed).code in (0, on_old.code)
    assert search(place.notes, base(old)).found == place.found
    assert on_new.code in (0, 1)
    assert on_new.code == 0 or len(on_new.err.strip().splitlines()) == 1, on_new.err  # one sentence


@pytest.mark.parametrize(
    ("changed", "embedded"), [({"disable_dense": True}, False), ({"token_codes": False}, True)], ids=["dense", "codes"]
)
def test_so_do_those_that_the_real_embedder_meets(
    place: Place, tmp_path: Path, changed: dict[str, Any], embedded: bool, e5: E5Embedder
) -> None:
    """Vectors of 384 dimensions, and token codes, on a folder whose next start has no use for them."""

    def found(data: str, settings: dict[str, Any], embedder: E5Embedder | None) -> Any:
        made = Settings(data=str(tmp_path / data), **settings)
        with Engine.open(place.notes, made, embedder=embedder) as engine:
            engine.update()
            return [(hit.uid, hit.stages) for hit in engine.search(QUESTION).rounds[-1].hits]

    before = found("old", {}, e5)
    own = e5 if embedded else None
    assert found("old", changed, own) == found("old", changed, own) == found("new", changed, own)
    assert found("old", {}, e5) == before
