"""The Chinese interface: English text as the code says it -> Chinese, with the same `{}` places in the same number."""

from __future__ import annotations

from typing import Final

ZH: Final[dict[str, str]] = {}
