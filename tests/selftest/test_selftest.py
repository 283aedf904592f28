"""The selftest as people and scripts use it: with the bundled model, as JSON, as a list, with parts missing."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from glassbox_tui import cli
from glassbox_tui.answer.active import active_generator
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.generators import bundled_file, has_library
from glassbox_tui.progress import Progress
from glassbox_tui.selftest.bench import Bench
from glassbox_tui.selftest.check import NOT_RUN, Check, Fallen, Group, NotRun, need, need_all, need_close
from glassbox_tui.selftest.report import report
from glassbox_tui.selftest.run import invariants, run, to_dict
from glassbox_tui.settings import Settings, load_settings

GROUPS = ["chunking", "embedding", "sparse", "fusion", "index", "retrieval", "asking", "loop", "rerank"]
GROUPS += ["language model", "generation"]


@pytest.fixture(scope="module")
def checks(e5: E5Embedder) -> tuple[Check, ...]:
    """One run with the bundled model, as everyone gets it."""
    return run(load_settings())


def test_every_invariant_holds_and_runs_with_the_bundled_model(checks: tuple[Check, ...]) -> None:
    assert len(checks) >= 44
    absent = () if has_library() and bundled_file() else ("language model",)
    not_run = [c for c in checks if c.detail.startswith(NOT_RUN) and c.group not in absent]
    assert [(c.name, c.detail) for c in (*not_run, *(c for c in checks if not c.ok))] == []
    assert list(dict.fromkeys(c.group for c in checks)) == GROUPS
    assert len({(c.group, c.name) for c in checks}) == len(checks) == len(invariants())


def test_details_say_in_words_and_numbers_what_was_compared(checks: tuple[Check, ...]) -> None:
    assert all(len(c.detail.split()) >= 3 for c in checks if c.name != "a required reranker is there")
    assert sum(any(d.isdigit() for d in c.detail) for c in checks) > 0.8 * len(checks)


def test_nothing_of_the_users_is_touched_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, scratch, told = tmp_path / "data", tmp_path / "tmp", list[Progress]()
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    found = run(Settings(data=str(data), embed_model="hashing"), told.append)
    assert [p.relative_to(data).as_posix() for p in data.rglob("*")] == ["models"]
    assert list(scratch.iterdir()) == []
    assert (told[-1].phase, told[-1].done, told[-1].total) == ("check", len(found), len(found))


def test_json_is_one_document_of_the_promised_shape(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GLASSBOX_EMBED_MODEL", "hashing")
    assert cli.main(["selftest", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document.keys() == {"checks", "passed", "failed"}
    assert all(row.keys() == {"group", "name", "ok", "detail"} for row in document["checks"])
    assert (document["passed"], document["failed"]) == (len(document["checks"]), 0) == (len(invariants()), 0)
    assert any(row["detail"].startswith("not run: ") and row["ok"] for row in document["checks"])


def test_a_required_reranker_that_is_missing_is_the_one_fall_and_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GLASSBOX_EMBED_MODEL", "hashing")
    monkeypatch.setenv("GLASSBOX_REQUIRE_RERANK", "1")
    assert cli.main(["selftest"]) == 1
    out = capsys.readouterr().out
    assert "fallen: rerank: a required reranker is there" in out
    assert out.count("fallen: ") == 1
    assert f"{len(invariants()) - 1} of {len(invariants())} hold" in out


def test_a_model_that_cannot_be_had_falls_with_the_reason_and_the_rest_still_runs() -> None:
    found = run(replace(load_settings(), embed_model="no-such-model"))
    fell = [c for c in found if not c.ok]
    assert fell and all("no-such-model" in c.detail for c in fell)
    assert all(c.ok for c in found if c.group == "fusion")


def test_switching_rerank_off_is_no_fall_and_other_knobs_do_not_sway_it() -> None:
    """The invariants test the program: whoever likes one hit and no overlap has no broken program."""
    odd = load_settings(embed_model="hashing", disable_rerank=True, top_k=1, fanout=1, chunk_overlap=0, max_rewrites=0)
    found = {(c.group, c.name): c for c in run(odd)}
    assert [(c.name, c.detail) for c in found.values() if not c.ok] == []
    assert "GLASSBOX_DISABLE_RERANK" in found["rerank", "it runs on every question"].detail


def test_an_invariant_in_five_lines(tmp_path: Path) -> None:
    group = Group("mine")

    @group.holds("one is one")
    def _(bench: Bench) -> str:
        return "1 = 1"

    @group.holds("it falls")
    def _(bench: Bench) -> str:
        raise Fallen("1 is not 2")

    @group.holds("it breaks")
    def _(bench: Bench) -> str:
        return str({}["key"])

    @group.holds("it is not there")
    def _(bench: Bench) -> str:
        raise NotRun("no such part")

    outcome = [invariant.check(Bench(Settings(), tmp_path, tmp_path)) for invariant in group.invariants]
    assert outcome == [
        Check("mine", "one is one", True, "1 = 1"),
        Check("mine", "it falls", False, "1 is not 2"),
        Check("mine", "it breaks", False, "KeyError: 'key'"),
        Check("mine", "it is not there", True, "not run: no such part"),
    ]
    assert to_dict(outcome)["passed"] == to_dict(outcome)["failed"] == 2


def test_nothing_to_check_and_nan_are_falls() -> None:
    with pytest.raises(Fallen, match="nothing to check"):
        need_all([])
    with pytest.raises(Fallen, match="nan"):
        need_close(float("nan"), 1.0, 1e-9, "the score")
    with pytest.raises(Fallen, match="reason"):
        need([], "reason")
    assert need_all([(True, ""), (True, "")]) == 2


@pytest.mark.parametrize("ascii", [False, True])
def test_the_list_shows_details_as_text(ascii: bool) -> None:
    hostile = Check("rerank", "a [red]name[/red]", False, "\x1b[31mred\x1b[0m [bold]x[/bold] \u202e")
    console = Console(width=100, force_terminal=True, no_color=False, markup=False, emoji=False, highlight=False)
    with console.capture() as capture:
        console.print(report([Check("loop", "fine", True, "1 = 1"), hostile], ascii=ascii))
    out = capture.get()
    assert "[red]name[/red]" in out and "[bold]x[/bold]" in out
    assert "\x1b[31mred\x1b[0m" not in out and "\u202e" not in out
    assert ("FAIL" in out) is ascii and ("✗" in out) is not ascii
    assert "1 of 2 hold" in out


def test_the_active_generator_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    nothing, gone = active_generator(Settings()), str(tmp_path / "gone.gguf")
    assert nothing.mode == "extract" and "with-llm" in nothing.reason
    missing = active_generator(Settings(llm_path=gone))
    assert missing.mode == "extract" and gone in missing.reason
    assert "GLASSBOX_ANSWERS" in active_generator(Settings(answers="extract")).reason
    served = active_generator(Settings(llm_server="http://127.0.0.1:1"))
    assert served.mode == "generate" and "127.0.0.1:1" in served.reason
