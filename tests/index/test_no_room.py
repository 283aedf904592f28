"""A disk without room, a place that takes no writing: the last good state serves, in one clear sentence (I1)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from folders import indexed
from test_updates import engine_on, picture

from glassbox_tui.errors import GlassboxError

# No file may grow beyond the limit, as on a disk that is full: writes fail with "File too large", for root too.
UNDER_A_LIMIT = """
import json, resource, sys
from pathlib import Path
from test_updates import engine_on, picture, warm
from glassbox_tui.errors import GlassboxError
warm()
notes, data, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
said = {"error": "", "hits": [], "notices": []}
try:
    with engine_on(notes, data) as engine:
        said["notices"] = engine.notices
        try:
            engine.update()
        except GlassboxError as error:
            said["error"] = str(error)
        said["hits"] = [hit.path for hit in engine.search("thing7").hits]
except GlassboxError as error:
    said["error"] = "open: " + str(error)
print(json.dumps(said))
"""


@pytest.fixture
def built(tmp_path: Path) -> tuple[Path, Path, Path]:
    return indexed(tmp_path, 10)


def under_a_limit(notes: Path, data: Path, limit: int) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, notes, data, str(limit)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_where_nothing_at_all_can_be_written_the_index_is_read_as_it_stands(built: tuple[Path, Path, Path]) -> None:
    notes, data, file = built
    (notes / "new.md").write_text("thing7 " * 30)
    before = file.read_bytes()
    said = under_a_limit(notes, data, 0)
    assert said["hits"] and "new.md" not in said["hits"] and said["hits"][0] == "7.md"  # type: ignore[index]
    assert "cannot be written" in str(said["notices"]) and "as it stands" in str(said["notices"])
    assert str(file) in str(said["error"]) and "cannot be written" in str(said["error"])
    assert file.read_bytes() == before
    with engine_on(notes, data) as engine:  # and when there is room again
        assert engine.update().added == 1
        assert "new.md" in {hit.path for hit in engine.search("thing7").hits}


@pytest.mark.parametrize("more", [0, 50_000, 200_000])
def test_a_disk_that_fills_up_in_an_update_leaves_the_last_good_state(
    built: tuple[Path, Path, Path], more: int
) -> None:
    notes, data, file = built
    with engine_on(notes, data) as engine:
        before = picture(engine)
    for i in range(10, 60):
        (notes / f"{i}.md").write_text(f"# Note {i}\n\n" + f"Another sentence about thing{i}, {i * 13}. " * 40)
    said = under_a_limit(notes, data, max(file.stat().st_size, 40_000) + more)
    assert "index.sqlite" in str(said["error"]) and "\n" not in str(said["error"])
    assert said["hits"][0] == "7.md"  # type: ignore[index]
    with engine_on(notes, data) as engine:
        assert engine.notices == ()  # not damaged
        kept = picture(engine)
        known = {chunk.uid for chunk in before["chunks"]}
        assert [chunk for chunk in kept["chunks"] if chunk.uid in known] == list(before["chunks"])
        engine.update()
        assert engine.search("thing59").hits[0].path == "59.md"


def test_a_first_index_without_room_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("words")
    said = under_a_limit(tmp_path / "notes", tmp_path / "data", 0)
    assert str(said["error"]).startswith("open: cannot use the index") and "\n" not in str(said["error"])


def test_an_index_of_somebody_else_is_read_and_never_written(
    built: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may run as root, whom no mode stops: the refusal is played at the system call."""
    notes, data, file = built
    (notes / "new.md").write_text("thing7")
    before = file.read_bytes()

    def refuse(self: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(self))

    monkeypatch.setattr(Path, "chmod", refuse)
    with engine_on(notes, data) as engine:
        assert "cannot be written (Operation not permitted)" in engine.notices[0]
        with pytest.raises(GlassboxError, match=r"cannot be written: Operation not permitted"):
            engine.update()
        assert engine.search("thing7").hits[0].path == "7.md"
    assert file.read_bytes() == before
