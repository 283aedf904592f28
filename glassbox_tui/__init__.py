"""Search your own notes and see how every result was found.

from glassbox_tui import Engine
trace = Engine().build("notes/").search("why fuse ranks and not scores")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassbox_tui.offline import stay_offline

if TYPE_CHECKING:
    from glassbox_tui.retrieval.engine import Engine
    from glassbox_tui.retrieval.trace import Trace

__version__ = "0.1.0"
__all__ = ["Engine", "Trace", "__version__"]

stay_offline()  # before any part of the package can load a model's runtime


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: `glassbox-tui --version` must not wait for numpy.
    if name == "Engine":
        from glassbox_tui.retrieval.engine import Engine

        return Engine
    if name == "Trace":
        from glassbox_tui.retrieval.trace import Trace

        return Trace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
