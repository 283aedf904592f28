"""YAML front matter: where the body starts and what the note calls itself. Broken front matter costs one warning."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

MAX_CHARS = 32_768
MAX_DEPTH = 50
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_KEY = re.compile(r"^[\w\"'][^:\n]{0,80}:(?:[ \t]|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`text[body_start:]` is the body; `title` is None when the front matter names none that can be read."""

    title: str | None
    body_start: int
    warning: str | None


def front_matter(text: str) -> FrontMatter:
    """Split front matter off. A block between two `---` lines that holds no keys is prose and stays in the body.

    The YAML is only composed into nodes, never turned into objects: no date can fail, `title: 007` stays "007", and an
    alias bomb stays a handful of references. Size and depth are bounded.
    """
    opened = _OPEN.match(text)
    if opened is None:
        return FrontMatter(None, 0, None)
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        return _all_body("front matter opens with --- and is never closed")
    if closed.start() - opened.end() > MAX_CHARS:
        return _all_body(f"front matter is longer than {MAX_CHARS} characters")
    block = text[opened.end() : closed.start()]
    if not block.strip():
        return FrontMatter(None, closed.end(), None)
    return _read(block, closed.end())


def _read(block: str, body_start: int) -> FrontMatter:
    try:
        _check_depth(block)
        node = yaml.compose(block, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if _KEY.search(block):
            return FrontMatter(
                None, body_start, f"front matter cannot be read ({_where(error)}); its title is not used"
            )
        return _all_body("the block between --- lines at the top is no front matter")
    if node is None:  # only comments
        return FrontMatter(None, body_start, None)
    if not isinstance(node, yaml.MappingNode):
        return _all_body("the block between --- lines at the top is no front matter")
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value.strip().lower() == "title":
            if not isinstance(value, yaml.ScalarNode):
                return FrontMatter(None, body_start, "the title in the front matter is no text; it is not used")
            named = "" if value.tag == "tag:yaml.org,2002:null" else " ".join(value.value.split())
            return FrontMatter(named or None, body_start, None)
    return FrontMatter(None, body_start, None)


def _all_body(why: str) -> FrontMatter:
    return FrontMatter(None, 0, f"{why}; the whole note is taken as body")


def _check_depth(block: str) -> None:
    """Composing recurses, parsing does not: bound the depth first."""
    depth = 0
    for event in yaml.parse(block, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    # The block starts on the note's second line; marks count from 0.
    return f"line {mark.line + 2}: {problem}" if mark is not None else str(problem).partition("\n")[0]
