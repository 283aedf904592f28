"""The calibration of the scores: what it promises, how it is kept, and what happens where it cannot be kept."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from glassbox_tui.models import calibration, token_means
from glassbox_tui.models.calibration import Calibration, dense_offsets, late_offsets
from glassbox_tui.models.e5 import E5Embedder, open_e5
from glassbox_tui.models.late_interaction import decode_tokens, dequantise, prepare_query
from glassbox_tui.settings import load_settings

QUESTIONS = ["when does the ferry leave", "轮渡几点出发", "nginx 502 怎么办"]


@pytest.fixture
def small() -> Calibration:
    codes = np.arange(5 * 4, dtype=np.uint8).reshape(5, 4)
    means = {"cjk": np.ones(16, np.float32), "other": np.full(16, 0.5, np.float32)}
    return Calibration(means, ("cjk", "other", "cjk"), codes, np.array([0, 2, 3, 5]), decode_tokens(codes))


@pytest.mark.parametrize("question", QUESTIONS)
def test_average_texts_of_all_languages_score_alike(e5: E5Embedder, question: str) -> None:
    made = e5.calibration
    assert {"cjk", "other"} <= set(made.languages)
    vector = e5.embed_query(question)
    offsets = dense_offsets(made, vector)
    dense = {language: float(made.means[language] @ vector) + offsets[language] for language in offsets}
    assert max(dense.values()) - min(dense.values()) < 1e-6
    assert sum(offsets.values()) == pytest.approx(0.0, abs=1e-6)  # nothing is given on the whole

    rows = prepare_query(e5.encode_query(question).states, e5.token_mean)
    weights = np.full(len(rows), 1.0 / len(rows))
    moved = late_offsets(made, rows, weights)
    scores: dict[str, list[float]] = {}
    for i, language in enumerate(made.languages):  # by plain arithmetic, text by text
        tokens = dequantise(made.codes[made.offsets[i] : made.offsets[i + 1]])
        scores.setdefault(language, []).append(float((rows @ tokens.T).max(axis=1).mean()) + moved[language])
    averages = [float(np.mean(values)) for values in scores.values()]
    assert max(averages) - min(averages) < 1e-4


def test_what_is_written_is_read(tmp_path: Path, small: Calibration) -> None:
    path = tmp_path / "c.npz"
    calibration.write(path, small)
    found = calibration.read(path)
    assert found is not None
    assert found.languages == small.languages
    assert found.codes.tobytes() == small.codes.tobytes()
    assert found.offsets.tolist() == small.offsets.tolist()
    assert {k: v.tolist() for k, v in found.means.items()} == {k: v.tolist() for k, v in small.means.items()}
    assert [p.name for p in tmp_path.iterdir()] == ["c.npz"]


def test_a_cut_file_is_made_again_and_never_believed(tmp_path: Path, small: Calibration) -> None:
    path = tmp_path / "c.npz"
    calibration.write(path, small)
    body = path.read_bytes()
    for length in range(0, len(body), 13):
        path.write_bytes(body[:length])
        assert calibration.read(path) is None
    assert calibration.read(tmp_path / "absent.npz") is None


def test_a_full_disk_leaves_the_old_file_and_no_litter(
    tmp_path: Path, small: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.npz"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        calibration.write(path, small)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("c.npz", b"old")]


def test_a_place_that_cannot_be_written_is_said_and_the_model_serves(
    tmp_path: Path, e5: E5Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in load_settings().models_dir.glob("multilingual-e5*"):
        if folder.is_dir():
            (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.setattr(token_means, "calibration_texts", lambda: (QUESTIONS[0], QUESTIONS[1]))

    def refuse(path: Path, _: Calibration) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(calibration, "write", refuse)
    embedder, (notice,) = open_e5(tmp_path)
    assert str(tmp_path) in notice
    assert "Read-only file system" in notice
    assert embedder.calibration.languages == ("other", "cjk")
    assert embedder.embed_query("x").tobytes() == e5.embed_query("x").tobytes()
