"""What the app costs on a folder of notes, through a pseudo-terminal of 120x40; not a test, for it takes the time.

python tests/bench/app_figures.py NOTES      (indexed before, or it is waited for)
"""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from terminal import Terminal  # noqa: E402 - the path first

QUESTION = "what is the pressure distribution over a blunt body at high speed"
QUIET = 0.15  # seconds without a byte after which what a key caused is over


def pressed(app: Terminal, key: str) -> tuple[float, int]:
    """(ms until the last byte, bytes) of what `key` causes. Nothing is drawn here: that would be this script's time."""
    app.type(key)
    begun = last = time.monotonic()
    caused = b""
    while not caused or time.monotonic() - last < QUIET:
        if select.select([app._master], [], [], 0.005)[0]:
            caused += os.read(app._master, 65536)
            last = time.monotonic()
    return (last - begun) * 1000, len(caused)


def main(notes: str) -> None:
    begun = time.monotonic()
    env = {**os.environ, "TERM": "xterm-256color", "GLASSBOX_RESTORE": "0"}
    app = Terminal([sys.executable, "-m", "glassbox_tui", notes], env, cwd=ROOT)
    try:
        for words in ("glassbox", "type a question", r"dense 100%"):
            app.until(words)
            print(f"{words!r} on screen after {(time.monotonic() - begun) * 1000:.0f} ms")
        app.until_quiet(2)
        typed = [pressed(app, key) for key in QUESTION]
        print(f"a typed character: {median(ms for ms, _ in typed):.0f} ms, {median(n for _, n in typed):.0f} bytes")
        print(f"  at most {max(ms for ms, _ in typed):.0f} ms, {max(n for _, n in typed)} bytes")
        pressed(app, "\x1b")
        moved = [pressed(app, "\x1b[B") for _ in range(7)] + [pressed(app, "\x1b[A") for _ in range(7)]
        print(f"an arrow key: {median(ms for ms, _ in moved):.0f} ms, at most {max(n for _, n in moved)} bytes")
        before, end = len(app.sent), time.monotonic() + 10
        while time.monotonic() < end:
            app._read(0.2)
        print(f"10 idle seconds: {len(app.sent) - before} bytes")
        begun = time.monotonic()
        app.type("q")
        app.ended()
        print(f"quit: {(time.monotonic() - begun) * 1000:.0f} ms")
    finally:
        app.close()


if __name__ == "__main__":
    main(sys.argv[1])
