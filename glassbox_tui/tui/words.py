"""The interface's language. English text is the key; `tui/zh.py` holds the Chinese.

The language is the process's, like a locale: it is set once at start (and by one key), and read wherever text is made.
Draw functions stay pure in every other respect.
"""

from __future__ import annotations

from glassbox_tui.tui.zh import ZH

LANGUAGES = ("en", "zh")
_spoken = "en"


def speak(language: str) -> None:
    """Use `language` ("en" or "zh") from now on. Raises ValueError for another."""
    global _spoken
    if language not in LANGUAGES:
        raise ValueError(f"the interface speaks {' and '.join(LANGUAGES)}, not {language!r}")
    _spoken = language


def spoken() -> str:
    return _spoken


def say(text: str, *args: object) -> str:
    """`text` in the interface's language, `args` in its `{}` places. What has no translation stays as it is."""
    template = ZH.get(text, text) if _spoken == "zh" else text
    return template.format(*args) if args else template


def later(text: str) -> str:
    """`text` itself: marks a text that stands in a table and is said when it is shown."""
    return text
