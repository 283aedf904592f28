"""What the app remembers: private, whole, and never a reason not to start."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOSTILE, sample_trace, sample_trace_probable, sample_trace_two_rounds

from glassbox_tui.tui.features.history import choice
from glassbox_tui.tui.memory import DAMAGED, KEPT, LARGEST, Asked, asked, load_state, recall, remember, save_state

CHECKS = {"query": lambda v: isinstance(v, str), "panel": lambda v: v in ("hits", "loop")}
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def entry(query: str, hour: int = 0) -> Asked:
    return Asked(query, NOON.replace(hour=hour).isoformat(), True, 0.5, 1)


def test_what_was_saved_is_there_again_and_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "session.json"
    save_state(path, {"query": HOSTILE, "panel": "loop"})
    assert load_state(path, CHECKS) == ({"query": HOSTILE, "panel": "loop"}, "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["session.json"]


def test_no_file_is_nothing_and_no_notice(tmp_path: Path) -> None:
    assert load_state(tmp_path / "no", CHECKS) == ({}, "")
    assert recall(tmp_path / "no") == ()


@pytest.mark.parametrize("raw", [b"{", b"[]", b"3", b"\xff\xfe", b"[" * 100_000, b'{"query": "a"'])
def test_a_damaged_file_is_ignored_with_a_notice(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "s").write_bytes(raw)
    assert load_state(tmp_path / "s", CHECKS) == ({}, DAMAGED)


def test_values_of_another_version_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "s").write_text('{"query": 3, "panel": "loop", "new": 1}')
    assert load_state(tmp_path / "s", CHECKS) == ({"panel": "loop"}, "")


def test_where_nothing_can_be_written_nothing_breaks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    save_state(tmp_path / "file" / "s", {"query": "a"})
    remember(tmp_path / "file" / "h", entry("a"))
    assert recall(tmp_path / "file" / "h") == ()
    assert load_state(tmp_path / "file" / "s", CHECKS) == ({}, DAMAGED)


def test_a_trace_is_remembered_with_its_verdict() -> None:
    first, second = asked(sample_trace(), NOON), asked(sample_trace_two_rounds(), NOON)
    assert (first.sufficient, first.coverage, first.rounds) == (True, 0.82, 1)
    assert (second.query, second.sufficient, second.coverage, second.rounds) == ("redlock 选型", False, 0.52, 2)
    assert first.when == "2026-01-02T12:00:00+00:00"
    assert (first.level, first.probability) == ("", None)
    third = asked(sample_trace_probable(), NOON)
    assert (third.level, third.probability) == ("answered", pytest.approx(0.93, abs=0.005))
    assert choice(third).aside.startswith("answered here 93%  20")
    assert choice(first).aside.startswith("sufficient")


def test_a_question_from_before_there_were_probabilities_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "h"
    remember(path, asked(sample_trace_probable(), NOON))
    row = json.loads(path.read_text("ascii"))
    del row["level"], row["probability"]
    path.write_text(json.dumps(row) + "\n", "ascii")
    assert [(e.level, e.probability, e.sufficient) for e in recall(path)] == [("", None, True)]


def test_each_question_once_the_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "h"
    for hour, query in enumerate(("a", "b", "a", HOSTILE)):
        remember(path, entry(query, hour))
    assert recall(path) == (entry(HOSTILE, 3), entry("a", 2), entry("b", 1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_lines_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "h"
    remember(path, entry("a"))
    with path.open("a") as file:
        file.write('{"query": "torn')
        file.write('\n[]\n{"query": 3}\n' + "[" * 9000 + "\n" + json.dumps({"query": "x", "when": "now"}) + "\n")
    remember(path, entry("b"))
    assert [e.query for e in recall(path)] == ["b", "a"]


def test_the_history_is_capped_and_its_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "h"
    for number in range(KEPT + 10):
        remember(path, entry(f"question {number}"))
    assert len(recall(path)) == KEPT
    line = path.read_bytes().splitlines(keepends=True)[-1]
    with path.open("ab") as file:
        file.write(line * (LARGEST * 2 // len(line)))
    remember(path, entry("last"))
    assert path.stat().st_size < LARGEST // 2
    assert [e.query for e in recall(path)] == ["last", f"question {KEPT + 9}"]


def test_two_apps_never_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "h"
    code = (
        "import sys; from pathlib import Path; from glassbox_tui.tui.memory import Asked, remember\n"
        "for n in range(200):\n"
        "    remember(Path(sys.argv[1]), Asked(sys.argv[2] * 300 + str(n), '2026-01-02', True, 0.5, 1))"
    )
    apps = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "ab"]
    assert [app.wait() for app in apps] == [0, 0]
    assert len(recall(path)) == 400


@given(st.binary(max_size=300))
def test_whatever_the_file_holds_the_history_can_be_read(raw: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(raw)
        file.flush()
        assert all(e.query.strip() for e in recall(Path(file.name)))
        load_state(Path(file.name), CHECKS)
