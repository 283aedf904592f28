"""`config`, and that the commands obey the config file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassbox_tui import cli


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("GLASSBOX_CONFIG", str(path))
    return path


def test_config_tells_each_value_and_where_it_is_from(
    config_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config_file.write_text('[settings]\ntop_k = 12\nrrf_k = 30\n[ui]\ntheme = "dark"\n[keys]\ncolumns = "f3"\n')
    monkeypatch.setenv("GLASSBOX_RRF_K", "40")
    assert cli.main(["config", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == str(config_file)
    assert found["settings"]["top_k"] == {"value": 12, "origin": "file", "env": "GLASSBOX_TOPK"}
    assert found["settings"]["rrf_k"] == {"value": 40, "origin": "environment", "env": "GLASSBOX_RRF_K"}
    assert found["settings"]["fanout"]["origin"] == "default"
    assert found["ui"]["theme"]["value"] == "dark"
    assert found["keys"] == {"columns": ["f3"]}
    assert cli.main(["config"]) == 0
    assert str(config_file) in capsys.readouterr().out.replace("\n", "")


@pytest.mark.parametrize("command", [["config"], ["retrieve", "q"], ["status"], ["selftest"]])
def test_a_wrong_config_file_is_wrong_use_with_one_sentence(
    config_file: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    config_file.write_text("[settings]\ntopk = 3\n")
    assert cli.main(command) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"glassbox-tui: {config_file}, line 2: [settings] topk: there is no key 'topk': did you mean top_k?\n"
    )


def test_hostile_keys_are_shown_and_never_obeyed(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config_file.write_text('[settings]\n"\\u001b[31m" = 1\n')
    assert cli.main(["config"]) == 2
    assert "\x1b" not in capsys.readouterr().err
