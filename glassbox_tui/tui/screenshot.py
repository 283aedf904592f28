"""The README's picture, from the real app on the bundled notes: python -m glassbox_tui.tui.screenshot OUT.svg"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from glassbox_tui.notes.bundled import bundled_corpus
from glassbox_tui.settings import load_settings
from glassbox_tui.tui.app import make_app
from glassbox_tui.tui.backend import opener

QUESTION = "为什么混合检索要用 RRF 而不是加权分数相加"
SIZE = (120, 40)
SECONDS = 120.0


async def take(question: str) -> str:
    """The app's screen as SVG once `question` was run with its answer. Raises TimeoutError."""
    notes = bundled_corpus()
    app = make_app(opener(notes, load_settings()), notes="~/notes", ascii=False)
    async with asyncio.timeout(SECONDS), app.run_test(size=SIZE) as pilot:
        while app.view.progress is not None or app.view.info is None:
            await pilot.pause(0.1)
        await pilot.press(*question, "enter")
        while app.view.reply is None:
            await pilot.pause(0.1)
        await pilot.press("escape")
        return app.export_screenshot(title="glassbox-tui")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(asyncio.run(take(QUESTION)), encoding="utf-8")
