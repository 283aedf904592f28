"""Which program opens a note at a line, and how it is told the line. No shell ever sees a file's name."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import FrameType

from glassbox_tui.tui.words import say

_FALLBACKS = ("less", "vi", "vim", "nano", "more")
# How a program is told the line, by its name. `+12 FILE` is understood by most that run in a terminal.
_PLUS = frozenset(
    {"vi", "vim", "nvim", "view", "vimx", "nvi", "vis", "elvis", "gvim", "nano", "pico", "mg", "emacs", "emacsclient"}
    | {"zile", "jmacs", "less", "more", "most", "kak", "joe", "jstar", "jove", "ne", "micro", "mcedit", "gedit", "xed"}
)
_COLON = frozenset({"hx", "helix", "subl", "sublime_text", "zed", "lapce", "amp"})  # FILE:12
_GOTO = frozenset({"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"})  # --goto FILE:12
_WINDOWED = dict.fromkeys((*_GOTO, "subl", "zed"), "--wait")  # else they return at once


@dataclass(frozen=True, slots=True)
class Opener:
    """`command` opens the file; or `problem` says in one sentence why nothing does."""

    command: tuple[str, ...] = ()
    problem: str = ""


def opener(
    environ: Mapping[str, str], path: Path, line: int, which: Callable[[str], str | None] = shutil.which
) -> Opener:
    """The command that opens `path` at the 1-based `line`: $VISUAL, $EDITOR, $PAGER, else what is installed.

    A variable may hold arguments, quoted as for a shell. A program that is not known gets the file alone.
    """
    for variable in ("VISUAL", "EDITOR", "PAGER"):
        value = environ.get(variable, "").strip()
        if not value:
            continue
        try:
            words = shlex.split(value)
        except ValueError as error:
            return Opener(problem=say("${} cannot be read: {}", variable, error))
        if not words:
            continue
        if which(words[0]) is None:
            return Opener(problem=say("${} names {}, which is not installed", variable, repr(words[0])))
        return Opener(tuple(at_line(words, path, line)))
    for name in _FALLBACKS:
        if which(name) is not None:
            return Opener(tuple(at_line([name], path, line)))
    return Opener(problem=say("no editor was found: set EDITOR to the one you use"))


def at_line(words: Sequence[str], path: Path, line: int) -> list[str]:
    """An editor's command line for a file at a line. `path` must be absolute, so that it is never read as an option."""
    name, file = PurePath(words[0]).name.removesuffix(".exe"), str(path.absolute())
    base = [*words]
    wait = _WINDOWED.get(name)
    if wait is not None and wait not in words and "-w" not in words:
        base.append(wait)
    if name in _PLUS:
        return [*base, f"+{line}", file]
    if name in _COLON:
        return [*base, f"{file}:{line}"]
    if name in _GOTO:
        return [*base, "--goto", f"{file}:{line}"]
    return [*base, file]


def run_in_terminal(command: Sequence[str], terminal: int | None) -> str:
    """Run an editor on the terminal itself (a file descriptor; None: our own output) until it ends.

    Returns "" or a sentence on how it failed. Keys that interrupt or stop are the editor's while it runs; a request to
    terminate ends the editor, after which the app hears of it.
    """
    try:
        editor = subprocess.Popen(command, stdin=0 if terminal is not None else None, stdout=terminal, stderr=terminal)
    except (OSError, ValueError) as error:
        return say("{} cannot be run: {}", command[0], getattr(error, "strerror", None) or error)
    with _signals_for(editor), _modes_kept(0 if terminal is not None else None):
        status = editor.wait()
    return say("{} ended with status {}", command[0], status) if status > 0 else ""


@contextmanager
def _modes_kept(terminal: int | None) -> Iterator[None]:
    """Afterwards the terminal is as it was, even if the editor died before it could see to that."""
    modes = None
    if terminal is not None:
        with suppress(termios.error):
            modes = termios.tcgetattr(terminal)
    try:
        yield
    finally:
        if terminal is not None and modes is not None:
            with suppress(termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, modes)


@contextmanager
def _signals_for(editor: subprocess.Popen[bytes]) -> Iterator[None]:
    # A handler and not SIG_IGN, which a program that is started later would inherit.
    def leave_to_editor(number: int, frame: FrameType | None) -> None:
        pass

    def end_editor(number: int, frame: FrameType | None) -> None:
        editor.terminate()
        apps = before[number]  # it sees to it that an editor which stays does not keep the app
        if callable(apps):
            apps(number, frame)

    wanted: dict[int, Callable[[int, FrameType | None], None]] = {
        signal.SIGINT: leave_to_editor,
        signal.SIGQUIT: leave_to_editor,
        signal.SIGTERM: end_editor,
    }
    before = {number: signal.getsignal(number) for number in wanted}
    try:
        for number, handler in wanted.items():
            signal.signal(number, handler)
    except ValueError:  # not in the main thread, where the signals are somebody else's
        yield
        return
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
