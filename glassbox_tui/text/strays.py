"""Marks around a question that are no part of it: what is embedded goes without them.

A model reads `/how does it renew` and `how does it renew?` as other texts than the bare question, and ranks by the
slash. The rule: from both ends of a query white space and the marks of `_STRAY` go, until a letter or a digit comes, or
a mark that belongs to the word behind or before it:

    kept before a word   #103 #tag   @nasa   .gitignore   --verbose   -5   +49   $HOME   ~/notes   /etc/hosts
    kept behind a word   C++   C#   U.S.   50%

A slash belongs to a path, which has another one: `/etc/hosts` stays, `/lease` is a lease. A query without a letter or
digit (an emoji, ->) is left as it is. Inside the query nothing is touched, and what a person sees is what they typed.
"""

from __future__ import annotations

import re

_STRAY = "/\\\\>|<*#`\"'“”‘’「」『』^~=_.,;:!?…。，、；：！？·•–—-"
_KEPT_BEFORE = re.compile(r"(?<![#@$.])[#@$.]\w|--?[^\W_]|\+\d|~/|_+\w|/[^\s/]+/[^\s/]")
_leading = re.compile(f"[\\s{_STRAY}]")
_DOTTED = re.compile(r"(?:^|[\s(])(?:[^\W\d_]\.)+$")  # U.S., e.g.


def bare(query: str) -> str:
    """`query` without stray marks at its ends."""
    if not any(char.isalnum() for char in query):
        return query
    while (left := _cut(query)) != query:  # what was cut behind may have made the path: of `/5/:` the slash stays not
        query = left
    return query


def _cut(query: str) -> str:
    """Both ends cut once. Another pass begins where this one ended, so that all of them together are linear."""
    start, end = 0, len(query)
    while _leading.match(query, start) and not _belongs_ahead(query, start):
        start += 1
    while end > start and _leading.match(query, end - 1) and not _belongs_behind(query, start, end):
        end -= 1
    return query[start:end]


def _belongs_ahead(query: str, at: int) -> bool:
    """Whether the mark at `at` begins a literal. Reads a word at most."""
    if query[at].isspace() or not _KEPT_BEFORE.match(query, at):
        return False
    return query[at] != "-" or query[at : at + 2] == "--" or query[at + 1].isdigit()


def _belongs_behind(query: str, start: int, end: int) -> bool:
    """Whether the mark before `end` ends a literal: C#, U.S., __init__."""
    mark, before = query[end - 1], query[end - 2 : end - 1]
    if mark in "#_":
        return before.isalnum() or (mark == "_" and before == "_")
    return mark == "." and _DOTTED.search(query, max(start, end - 12), end) is not None
