"""One breakage: what is changed where, and which invariants have to notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """`old` -> `new` in the source of `target` ("room.module:function" or "room.module:Class.method").

    `falls` are the invariants, "group: name", that must not hold then. `model`: only the bundled model shows it; else
    the hashing embedder serves. `fresh`: it is about indexing, so the index is built anew with the broken code.
    `llm`: it takes a language model to show it.
    """

    name: str
    target: str
    old: str
    new: str
    falls: tuple[str, ...]
    model: bool = False
    fresh: bool = False
    llm: bool = False


def broken(
    name: str,
    target: str,
    old: str,
    new: str,
    *falls: str,
    model: bool = False,
    fresh: bool = False,
    llm: bool = False,
) -> Mutation:
    return Mutation(name, target, old, new, falls, model, fresh, llm)
