"""Nothing reaches the network: whole commands run in processes in which any socket to a host is refused, noted (I7)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_models import write_embedder, write_reranker

from glassbox_tui.models import manifest
from glassbox_tui.models.catalog import find, folder_of
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.settings import load_settings

# Python imports sitecustomize before anything else. Unix sockets stay: they reach no host, and asyncio wakes up by one.
GUARD = """
import os, socket, sys

def refuse(what):
    # urllib3 tries on import whether this machine could bind an IPv6 address: refused as well, but it reaches no one.
    probe = sys._getframe(2).f_code.co_name == "_has_ipv6"
    with open(os.devnull if probe else os.environ["SOCKET_LOG"], "a") as log:
        log.write(what + "\\n")
    raise OSError("this process may not reach a network")

class Guarded(socket.socket):
    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        if fileno is None and family != socket.AF_UNIX:
            refuse(f"socket {family}")
        super().__init__(family, type, proto, fileno)

socket.socket = socket.SocketType = Guarded
for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr"):
    setattr(socket, name, lambda *host, **_: refuse(f"look-up of {host}"))
"""


class Cell:
    """Runs glassbox-tui behind the guard; `log` is what reached for a network."""

    def __init__(self, home: Path) -> None:
        (home / "guard").mkdir()
        (home / "guard" / "sitecustomize.py").write_text(GUARD)
        self.log = home / "log"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("GLASSBOX_", "HF_"))}
        self.env |= {
            "PYTHONPATH": str(home / "guard"),
            "SOCKET_LOG": str(self.log),
            "GLASSBOX_DATA": str(home / "data"),
        }

    def run(self, *args: str, code: int = 0, **env: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "glassbox_tui", *args],
            env=self.env | env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    @property
    def reached(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def cell(tmp_path: Path, e5: E5Embedder) -> Cell:
    made = Cell(tmp_path)
    models = tmp_path / "data" / "models"
    models.mkdir(parents=True)
    for part in load_settings().models_dir.glob("multilingual-e5*"):
        (models / part.name).symlink_to(part)
    return made


@pytest.fixture
def notes(tmp_path: Path) -> str:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at noon. 轮渡中午出发。\n", "utf-8")
    (folder / "bread.txt").write_text("Bread is baked before sunrise.\n")
    return str(folder)


def test_the_guard_guards(cell: Cell) -> None:
    cell.run("models", "pull", "BAAI/bge-small-zh-v1.5", code=1)
    assert "huggingface.co" in cell.reached


def test_every_command_works_without_a_network(cell: Cell, notes: str) -> None:
    assert "2 added" in cell.run("index", notes)
    assert "ferry.md" in cell.run("retrieve", "when does the ferry leave", "--notes", notes)
    answer = json.loads(cell.run("ask", "轮渡几点出发", "--notes", notes, "--json"))
    assert answer["index"]["embedder"].startswith("multilingual-e5-small")
    assert "ferry.md" in answer["rounds"][0]["hits"][0]["path"]
    assert "2 searchable notes" in cell.run("status", "--notes", notes)
    assert "multilingual-e5-small" in cell.run("models", "list")
    assert cell.reached == ""


def test_models_that_were_pulled_work_without_a_network(cell: Cell, notes: str) -> None:
    settings = load_settings({"GLASSBOX_DATA": cell.env["GLASSBOX_DATA"]})
    embedder, reranker = find("BAAI/bge-small-zh-v1.5", settings), find("BAAI/bge-reranker-base", settings)
    for entry in (embedder, reranker):
        folder = folder_of(entry, settings.models_dir)
        if entry is embedder:
            write_embedder(folder, 512, entry.files[0])
        else:
            write_reranker(folder, entry.files[0])
        manifest.write(folder, {}, entry.files)
    env = {"GLASSBOX_EMBED_MODEL": embedder.name, "GLASSBOX_RERANK_MODEL": reranker.name}
    trace = json.loads(cell.run("retrieve", "the ferry at noon", "--notes", notes, "--json", **env))
    assert trace["index"]["embedder"].startswith(embedder.name)
    assert trace["index"]["reranker"].startswith(reranker.name)
    (best,) = [hit for hit in trace["rounds"][0]["hits"] if hit["stages"]["rerank"]["rank"] == 1]
    assert best["path"] == "ferry.md"
    assert cell.reached == ""
