"""That onnxruntime reports to nobody, and that it is said where it may. (tests/e2e/test_offline.py watches it.)"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from glassbox_tui.models.telemetry import stores

ROOT = Path(__file__).resolve().parents[2]
ENGINE = "from glassbox_tui import Engine; print(Engine(settings=S).notices)"
SETTINGS = "from glassbox_tui.settings import Settings; S = Settings(disable_dense=True, disable_rerank=True)"
DOCTOR = """
import json
from glassbox_tui.models.telemetry import telemetry
print(json.dumps(telemetry()))
"""


def python(home: Path, code: str, **env: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_", "GLASSBOX_"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | {"HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("switch", ["", "0", "1"])
def test_importing_any_part_switches_it_off_before_the_library_is_there(tmp_path: Path, switch: str) -> None:
    wrong, seen = json.loads(python(tmp_path, DOCTOR, ORT_DISABLE_TELEMETRY=switch))
    assert wrong == ""
    assert seen.startswith("off: ORT_DISABLE_TELEMETRY=1 was set before onnxruntime ")
    assert list(tmp_path.iterdir()) == []  # what it would write first is a device id in the home


def test_what_an_earlier_run_left_is_named_and_stays(tmp_path: Path) -> None:
    left = tmp_path / ".cache" / "Microsoft" / "DeveloperTools" / ".onnxruntime"
    left.mkdir(parents=True)
    (left / "deviceid").write_text("x")
    wrong, seen = json.loads(python(tmp_path, DOCTOR))
    assert (wrong, str(left) in seen) == ("", True)
    assert (left / "deviceid").read_text() == "x"


def test_a_program_that_loads_it_first_is_told(tmp_path: Path) -> None:
    """Then it is too late to switch it off: silence would break the promise."""
    late = python(tmp_path, f"import onnxruntime; {SETTINGS}; {ENGINE}")
    assert "onnxruntime was imported before glassbox_tui" in late
    assert python(tmp_path, f"{SETTINGS}; import onnxruntime; {ENGINE}").strip() == "()"
    assert python(tmp_path, f"import onnxruntime; {SETTINGS}; {ENGINE}", ORT_DISABLE_TELEMETRY="1").strip() == "()"


def test_doctor_does_not_call_it_off_where_it_is_on(tmp_path: Path) -> None:
    wrong, seen = json.loads(python(tmp_path, f"import onnxruntime\n{DOCTOR}"))
    assert "onnxruntime" in wrong
    assert seen == ""


def test_it_is_looked_for_where_the_users_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tmp_path / "Microsoft" / "DeveloperTools" / ".onnxruntime" in stores()
