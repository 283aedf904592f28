"""Why a model cannot be had, in one sentence."""

from __future__ import annotations

from glassbox_tui.errors import GlassboxError


class ModelError(GlassboxError):
    """A model is missing, damaged or unknown; the message says which, where, and what to do."""
