"""A setting that the app writes into the config file comes out as meant, and all else stays as it stands there."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.config import read_config, save_setting
from glassbox_tui.settings import SettingsError


def at(path: Path) -> dict[str, str]:
    return {"GLASSBOX_CONFIG": str(path)}


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\n",
        "# only a remark",
        "[settings]\n",
        "[settings]\r\ntop_k = 12\r\n",
        '[ui]\nlanguage = "zh"\n',
        '# a\n[settings] # b\nembed_model = "old" # c\ntop_k = 12\n\n[keys]\nquit = "f9"\n',
        '[keys]\nquit = ["f9"]\n\n  [settings]\n  top_k = 12',
        "\ufeff[settings]\ntop_k = 12\n",
    ],
    ids=range(9),
)
def test_it_is_set_and_all_else_stays(tmp_path: Path, before: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(before.encode())
    old = tomllib.loads(before.removeprefix("\ufeff").replace("\r\n", "\n"))
    assert save_setting("embed_model", "hashing", at(file)) == file
    text = file.read_text("utf-8-sig")
    assert tomllib.loads(text) == {**old, "settings": {**old.get("settings", {}), "embed_model": "hashing"}}
    assert [line for line in before.splitlines() if line.lstrip().startswith("#")] == [
        line for line in text.splitlines() if line.lstrip("\ufeff ").startswith("#")
    ]
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_and_folder_that_are_not_there_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "config.toml"
    save_setting("rerank_model", "llm-listwise", at(file))
    assert read_config(at(file)).settings == {"rerank_model": "llm-listwise"}


def test_a_link_stays_one_and_who_may_read_it_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "link.toml"
    real.write_text("")
    real.chmod(0o640)
    link.symlink_to(real)
    save_setting("embed_model", "hashing", at(link))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "hashing" in real.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "settings.top_k = 12\n",
        "settings = { top_k = 12 }\n",
        'settings.embed_model = "old"\n',
        '[settings]\nembed_model = """\nold"""\n',
        '[settings]\nignore = """\n[settings]\n"""\n',
        "[settings]\nnonsense = 1\n",
        "[settings\n",
    ],
    ids=range(7),
)
def test_what_cannot_be_changed_safely_is_left_alone_or_comes_out_right(tmp_path: Path, text: str) -> None:
    """Never a file that says something else: it is changed as meant, or not at all, with the line to write."""
    file = tmp_path / "config.toml"
    file.write_text(text)
    try:
        save_setting("embed_model", "hashing", at(file))
    except SettingsError as error:
        assert file.read_text() == text
        assert str(file) in str(error)
    else:
        before, after = tomllib.loads(text)["settings"], tomllib.loads(file.read_text())["settings"]
        assert after == {**before, "embed_model": "hashing"}


def test_what_is_no_file_says_which_line_to_write() -> None:
    with pytest.raises(SettingsError, match=r'embed_model = "hashing" under .settings. in /dev/null'):
        save_setting("embed_model", "hashing", at(Path("/dev/null")))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_any_name_or_path_comes_back(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    file = tmp_path_factory.mktemp("config") / "config.toml"
    file.write_text("[settings]\ntop_k = 12\n")
    save_setting("embed_model", value, at(file))
    assert read_config(at(file)).settings == {"top_k": 12, "embed_model": value}
