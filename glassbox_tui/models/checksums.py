"""Whether the files of the models that are here are, byte for byte, what they were when they came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from glassbox_tui.models import e5_convert, e5_file, lexicon, manifest
from glassbox_tui.models.errors import ModelError


def model_faults(models_dir: Path) -> Iterator[tuple[str, str, str]]:
    """(name, what is wrong or "", the folder to remove so that it is made anew or "") of each model that is here.

    Reads every byte: a start only compares sizes and times.
    """
    with suppress(ModelError):  # without the wheel there is nothing to check; `models list` says how to get it
        source = e5_file.find()
        yield e5_file.FILE_NAME, _fault(source), ""
    for path in sorted((*models_dir.glob(f"*/{manifest.MANIFEST}"), *models_dir.glob(f"pulled/*/{manifest.MANIFEST}"))):
        folder = path.parent
        if not folder.name.startswith("."):  # set aside, or not finished
            fault = manifest.check(folder, every_byte=True)
            again = (
                ""
                if folder.name in (e5_convert.FOLDER, lexicon.FOLDER)
                else f"; `models pull {folder.name.replace('--', '/')}` helps"
            )
            yield folder.name, fault and fault + again, str(folder) if fault and not again else ""


def _fault(source: Path) -> str:
    try:
        e5_file.verify(source)
    except ModelError as error:
        return str(error)
    return ""
