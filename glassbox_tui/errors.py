"""The one base of the errors a user can cause: their message is a clear sentence, shown as it is, never a traceback."""

from __future__ import annotations


class GlassboxError(Exception):
    """Says what went wrong, where, and what to do about it, in words for the person at the keyboard."""


class UsageError(GlassboxError):
    """The command line asks for something that makes no sense; the message says what."""
