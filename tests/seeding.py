"""The dictionary's table in a data folder of a test's own: making it takes seconds, and is seldom the point."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from glassbox_tui.models.lexicon import FOLDER, open_lexicon
from glassbox_tui.settings import Settings

Seed = Callable[[Path], Path]


def seeder(shared: Path) -> Seed:
    """Gives a data folder the table of the data folder `shared`, where it is made when it is first asked for."""
    models = Settings(data=str(shared)).models_dir

    def seed(data: Path) -> Path:
        if not (models / FOLDER).is_dir():
            open_lexicon(models).close()
        shutil.copytree(models / FOLDER, Settings(data=str(data)).models_dir / FOLDER, copy_function=os.link)
        return data

    return seed
