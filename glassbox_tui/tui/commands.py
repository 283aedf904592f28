"""What a command is. Every action of the app is one: it has a key, a line in the help and an entry in the palette."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from glassbox_tui.tui.state import View

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp

Condition = Callable[[View], bool]
# The screens that have keys of their own.
MAIN, BROWSER, MODELS = "main", "browser", "models"


def always(view: View) -> bool:
    return True


def _never(view: View) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Command:
    """`id` is what the config file calls it; `keys` are Textual's key names, comma-separated.

    `title` is a short imperative, `hint` the word for the hints line (""; not shown there). Both are English and are
    translated when shown. `when` tells whether it can do anything now: if not, hints and palette leave it out. `run`
    is called with the app. `priority`: the key acts in the query box and in every screen, too. `where`: the screens
    whose key it is, by the names they give themselves. `urgent` makes the word for the hints line while the app waits
    for such a key ("": it does not): those stand first.
    """

    id: str
    keys: str
    title: str
    group: str
    run: Callable[[GlassboxApp], object]
    hint: str = ""
    when: Condition = always
    priority: bool = False
    where: tuple[str, ...] = (MAIN,)
    urgent: Callable[[View], str] = _never
