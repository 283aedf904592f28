"""The config file: what it says is obeyed, and whatever is wrong with it is one sentence that leads to the place."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.config import Config, Ui, config_path, language, load_ui, parsed, read_config
from glassbox_tui.settings import SettingsError, load_settings
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.keymap import keymap

KEYS = {"columns": "v", "quit": "q", "query": "slash", "panel_hits": "1", "accept": "enter", "run": "enter"}
COMMANDS = [
    *(Command(id, key, id, "group", print) for id, key in KEYS.items()),
    Command("recall", "ctrl+r", "from anywhere", "group", print, priority=True),
    Command("open", "o", "in the reader", "group", print, where=("reader",)),
]


def wrong(text: str) -> str:
    with pytest.raises(SettingsError) as error:
        parsed(Path("/c/config.toml"), text.encode())
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_environment_wins_over_the_file_and_the_command_line_over_both() -> None:
    config = parsed(Path("c"), b"[settings]\ntop_k = 12\nrrf_k = 30\nbm25_b = 1\nchunk_chars = 500\n")
    settings = load_settings({"GLASSBOX_RRF_K": "40", "GLASSBOX_BM25_B": "0.5"}, file=config.settings, bm25_b=0.25)
    assert (settings.top_k, settings.rrf_k, settings.bm25_b, settings.chunk_chars) == (12, 40, 0.25, 500)
    ui = load_ui({"GLASSBOX_THEME": "dark"}, file=parsed(Path("c"), b'[ui]\ntheme="16"\nmouse=false\n').ui)
    assert (ui.theme, ui.mouse, ui.history) == ("dark", False, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("top_k = 3", "config.toml, line 1: there is no key 'top_k': there are settings, ui, keys"),
        ("[setings]\ntop_k = 3", "line 1: there is no section 'setings': did you mean settings?"),
        ("ui = 3", "line 1: ui is a section: write [ui] on a line of its own"),
        ("[settings]\n\ntopk = 3", "line 3: [settings] topk: there is no key 'topk': did you mean top_k?"),
        ("[settings]\ntop_k = 0", "line 2: [settings] top_k: 0 is too small, the least is 1"),
        ("[settings]\ntop_k = true", "line 2: [settings] top_k: True is not a whole number"),
        ('[settings]\ntop_k = "8"', "line 2: [settings] top_k: '8' is not a whole number"),
        ("[settings]\nbm25_b = nan", "line 2: [settings] bm25_b: nan is too small, the least is 0"),
        ("[settings]\ndisable_rerank = 1", "line 2: [settings] disable_rerank: 1 is not true or false"),
        ("[settings]\ndata = 1", "line 2: [settings] data: 1 is not a text in quotes"),
        ("[settings]\nfeedback = 'mix'", "'mix' is not one of fuse, replace"),
        ("[ui]\n# language = 1\nlanguage = 'de'", "line 3: [ui] language: 'de' is not one of auto, en, zh"),
        ("[ui]\ntheme = 16", 'line 2: [ui] theme: 16 is not one of "terminal", "16", "mono", "dark", "light"'),
        ("[keys]\nquit = 3", 'line 2: [keys] quit: 3 is not a key in quotes ("f3"), a list of them'),
        ("[keys]\nquit = ['q', '']", "is not a key in quotes"),
        ("[settings\n", "not TOML:"),
        (f"a = {'9' * 5000}\n", "not TOML:"),
        ("[settings]\ntop_k = 1\ntop_k = 2\n", "Cannot overwrite a value (at line 3"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_line(text: str, said: str) -> None:
    assert said in wrong(text)


def test_bytes_that_are_no_text_name_their_line() -> None:
    with pytest.raises(SettingsError, match="line 3: not UTF-8"):
        parsed(Path("c"), b"[ui]\n\ntheme = '\xff'\n")


def test_no_file_is_no_error_unless_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert read_config({}) == Config(config_path({}))
    with pytest.raises(SettingsError, match="GLASSBOX_CONFIG: there is no file"):
        read_config({"GLASSBOX_CONFIG": str(tmp_path / "no.toml")})
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        read_config({"GLASSBOX_CONFIG": str(tmp_path)})
    with pytest.raises(SettingsError, match="no home for"):
        read_config({"GLASSBOX_CONFIG": "~nobody-of-that-name/c"})
    (tmp_path / "big.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(SettingsError, match="larger than 1,000,000 bytes"):
        read_config({"GLASSBOX_CONFIG": str(tmp_path / "big.toml")})


def test_a_contradiction_of_two_sound_values_names_both_and_the_file() -> None:
    with pytest.raises(SettingsError, match=r"OVERLAP \(180\) must be smaller than GLASSBOX_CHUNK_CHARS \(100\).*file"):
        load_settings({}, file={"chunk_chars": 100})


@given(st.binary(max_size=200))
def test_whatever_the_bytes_are_it_is_a_config_or_one_sentence(raw: bytes) -> None:
    try:
        parsed(Path("c"), raw)
    except SettingsError as error:
        assert str(error)


@given(st.text(alphabet="[]=\"'.{}#,\n settings ui keys top_k theme 1 true", max_size=80))
def test_whatever_the_text_is_it_is_a_config_or_one_sentence(text: str) -> None:
    try:
        parsed(Path("c"), text.encode())
    except SettingsError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("option", "environ", "spoken"),
    [
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ("auto", {"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW.Big5"}, "zh"),
        ("auto", {}, "en"),
        ("auto", {"LANG": "C"}, "en"),
        ("zh", {"LANG": "C"}, "zh"),
        ("en", {"LC_ALL": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_language_is_the_options_or_the_locales(option: str, environ: dict[str, str], spoken: str) -> None:
    assert language(dataclasses.replace(Ui(), language=option), environ) == spoken


# -- keys --------------------------------------------------------------------------------------------------------------


def keys(text: str) -> dict[str, str]:
    return keymap(parsed(Path("/c/config.toml"), b"[keys]\n" + text.encode()), COMMANDS)


def test_keys_are_written_as_people_write_them() -> None:
    moved = keys(
        'columns = ["c", "F3", "ctrl+g"]\nquery = "?"\nquit = []\npanel_hits = ["pgdn", " ", "Q", "shift+tab"]'
    )
    assert moved == {
        "columns": "c,f3,ctrl+g",
        "query": "question_mark",
        "quit": "",
        "panel_hits": "pagedown,space,Q,shift+tab",
    }


def test_a_key_may_mean_one_thing_here_and_another_there() -> None:
    assert keys('columns = "o"') == {"columns": "o"}
    with pytest.raises(SettingsError, match="the key 'ctrl\\+r' is recall's"):
        keys('open = "ctrl+r"')


def test_the_apps_own_keys_do_not_meet() -> None:
    """Each command moved to its own key: whatever two would share on one screen would be refused."""
    from glassbox_tui.tui.registry import COMMANDS as ALL

    every = {command.id: tuple(filter(None, command.keys.split(","))) for command in ALL}
    assert keymap(Config(Path("c"), keys=every), ALL) == {c.id: c.keys for c in ALL}


def test_two_commands_may_change_places_and_defaults_may_share_a_key() -> None:
    assert keys('columns = "q"\nquit = "v"') == {"columns": "q", "quit": "v"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('colums = "v"', "/c/config.toml, line 2: [keys] colums: there is no command 'colums': did you mean columns?"),
        ('columns = "q"', "line 2: [keys] columns: the key 'q' is quit's: give that command another in [keys]"),
        ('quit = "x"\ncolumns = "x"', "line 3: [keys] columns: the key 'x' is quit's"),
        ('query = "1"', "the key '1' is panel_hits's"),
        ('columns = "/"', "the key '/' is query's"),
        ('columns = "hyper"', "'hyper' is no key: write a character"),
        ('columns = "ctrl+"', "is no key"),
        ('columns = "ctrl+c"', "ctrl+c quits from anywhere and cannot be given to a command"),
        ('columns = "ctrl+m"', "a terminal sends the same for ctrl+m and enter"),
    ],
)
def test_keys_that_cannot_be_are_one_sentence(text: str, said: str) -> None:
    with pytest.raises(SettingsError) as error:
        keys(text)
    assert said in str(error.value)
