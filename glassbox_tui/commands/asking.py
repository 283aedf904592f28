"""Questions before long work. Where nobody can be asked, what is about to happen is said, and it happens."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from glassbox_tui.commands.output import tell

if TYPE_CHECKING:
    from glassbox_tui.retrieval.engine import Engine

YES = ("y", "yes", "是", "好")


def held_back(engine: Engine) -> bool:
    """Whether the embedding is to wait: another embedder would embed a large index anew, and the person said no."""
    plan = engine.new_embedder()
    if plan is None:
        return False
    tell([str(plan)])
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print("Embed them now? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in YES:
        return False
    tell(["they wait: keywords search meanwhile, and the next command asks again"])
    return True
