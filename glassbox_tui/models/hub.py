"""`models pull`: the only place that reaches the network. What comes in is checked before a start can see it.

Files are fetched beside the place where they are looked for, into a folder ending in .part; each is compared with the
checksum the hub gives (sha256 of a large file, git's sha1 of a small one); the finished folder gets its name at last.
A pull that was cut resumes where it stopped: the name of a half file says of which content it is the half.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from glassbox_tui.models import manifest
from glassbox_tui.models.catalog import folder_of
from glassbox_tui.models.entries import CatalogEntry
from glassbox_tui.models.errors import ModelError
from glassbox_tui.progress import Progress, ProgressFn

_SECONDS = 15.0  # to answer the first question; a hub that cannot do that will not send megabytes
_MEGABYTE = 1_000_000
_CHUNK = 1 << 16  # the client writes no less at a time: what a cut connection loses; its own 10 MB are a lot to lose
# Faults of the disk, which are not the hub's.
_LOCAL = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """`checksum`: 64 hex digits of a sha256, or 40 of git's sha1 of a blob."""

    name: str
    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What a hub has of a model. `revision`: the commit, so that all files are of one state."""

    endpoint: str
    repo: str
    revision: str
    licence: str
    files: tuple[RemoteFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def ask(entry: CatalogEntry, endpoint: str | None = None) -> Offer:
    """What the hub offers of `entry`; `endpoint` None: HF_ENDPOINT, or huggingface.co. Raises ModelError."""
    hub = _hub()
    api = hub.HfApi(endpoint=endpoint)
    endpoint = str(api.endpoint)
    with _in_words(f"{endpoint}/{entry.repo}", f"no model hub could be reached at {endpoint}"):
        info = api.model_info(entry.repo, files_metadata=True, timeout=_SECONDS)
    there = {str(sibling.rfilename): sibling for sibling in info.siblings or ()}
    missing = [name for name in entry.files if name not in there]
    if missing:
        raise ModelError(f"{endpoint}/{entry.repo} has no {', '.join(missing)}: {entry.name} cannot be had from there")
    names = [*entry.files, *(name for name in entry.side_files if name in there)]
    card = info.card_data
    licence = (card.get("license_name") or card.get("license")) if card is not None else None
    files = tuple(_remote(there[name], entry) for name in names)
    return Offer(endpoint, entry.repo, str(info.sha), str(licence or entry.licence), files)


def pull(entry: CatalogEntry, offer: Offer, models_dir: Path, progress: ProgressFn) -> Path:
    """Fetch what `offer` lists, or what is missing of it, and return the folder. Raises ModelError; safe to repeat."""
    folder = folder_of(entry, models_dir)
    if _is_that(folder, offer):
        return folder
    work = folder.with_name(f"{folder.name}.part")
    try:
        work.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(folder):
            _enough_room(work, offer)
            done = 0
            for file in offer.files:
                if not _kept(file, folder, work):
                    _fetch(file, offer, work, progress, done)
                done += file.size
            _finish(work, folder, entry, offer)
    except OSError as error:
        raise ModelError(f"cannot write {error.filename or work}: {error.strerror or error}") from None
    return folder


def _is_that(folder: Path, offer: Offer) -> bool:
    return not manifest.check(folder) and manifest.read(folder).get("revision") == offer.revision


def _kept(file: RemoteFile, folder: Path, work: Path) -> bool:
    """Whether `work` has the file, after a look at what an older or damaged pull left in `folder`."""
    target, old = work / file.name, folder / file.name
    if target.is_file() and _checksum(target, file) == file.checksum:
        return True
    if not old.is_file() or old.stat().st_size != file.size or _checksum(old, file) != file.checksum:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy2(old, target)
    return True


def _fetch(file: RemoteFile, offer: Offer, work: Path, progress: ProgressFn, before: int) -> None:
    """Bring one file whole into `work`. `before`: bytes of the files that came first."""
    target = work / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f"{target.name}.{file.checksum[:12]}.half")
    with half.open("ab") as stream:
        have = stream.tell()
        if have > file.size:
            stream.truncate(0)
            have = 0

        def report(position: int) -> None:
            done, total = (before + position) // _MEGABYTE, max(1, offer.size // _MEGABYTE)
            progress(Progress("pull", min(done, total), total, f"{file.name} (MB)"))

        report(have)
        if have < file.size:
            _download(file, offer, _Watched(stream, report), have)
        stream.flush()
        os.fsync(stream.fileno())
    found = _checksum(half, file)
    if found != file.checksum:
        half.unlink()
        raise ModelError(
            f"{offer.endpoint}/{offer.repo}/{file.name} came with the checksum {found} where {file.checksum} was "
            "promised: it was thrown away; pull again, or from another hub (HF_ENDPOINT)"
        )
    half.replace(target)


def _download(file: RemoteFile, offer: Offer, stream: Any, have: int) -> None:
    from huggingface_hub.file_download import http_get

    hub = _hub()
    url = hub.hf_hub_url(offer.repo, file.name, revision=offer.revision, endpoint=offer.endpoint)
    # Compressed on the way, a range would be one of the compressed bytes.
    headers = {**hub.utils.build_hf_headers(), "Accept-Encoding": "identity"}
    with _in_words(url, f"{url} could not be fetched", "; what came is kept: pull again to go on from there"):
        http_get(url, stream, resume_size=have, headers=headers, expected_size=file.size)


def _finish(work: Path, folder: Path, entry: CatalogEntry, offer: Offer) -> None:
    names = {file.name for file in offer.files}
    for path in sorted(work.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(work).as_posix() not in names:
            path.unlink()  # halves of another revision
    about = {"model": entry.name, "repo": offer.repo, "revision": offer.revision, "licence": offer.licence}
    manifest.write(work, about, names)
    shutil.rmtree(folder, ignore_errors=True)
    work.rename(folder)


def _remote(sibling: Any, entry: CatalogEntry) -> RemoteFile:
    large = getattr(sibling, "lfs", None)
    checksum = str((large.sha256 if large is not None else sibling.blob_id) or "").lower()
    if len(checksum) not in (40, 64) or not isinstance(sibling.size, int):
        raise ModelError(f"the hub gives no size and checksum for {entry.repo}/{sibling.rfilename}: it is not fetched")
    return RemoteFile(str(sibling.rfilename), sibling.size, checksum)


def _checksum(path: Path, file: RemoteFile) -> str:
    if len(file.checksum) == 64:
        return manifest.sha256(path)
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _enough_room(work: Path, offer: Offer) -> None:
    have = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    free = shutil.disk_usage(work).free
    if offer.size - have > free:
        raise ModelError(
            f"{offer.repo} needs {(offer.size - have) / _MEGABYTE:,.0f} MB and {work} has room for "
            f"{free / _MEGABYTE:,.0f}: make room, or choose another place with GLASSBOX_DATA"
        )


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(str(folder.with_name(f".{folder.name}.lock")), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ModelError(f"another process is pulling into {folder}: wait for it, then pull again") from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _in_words(what: str, failed: str, more: str = "") -> Iterator[None]:
    """Whatever the hub's client raises becomes one sentence."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError:
        raise ModelError(f"{what} asks for consent to its terms: give it on the hub and set HF_TOKEN") from None
    except errors.RepositoryNotFoundError:
        raise ModelError(f"{what} does not exist, or not for everyone (HF_TOKEN opens private ones)") from None
    except errors.OfflineModeIsEnabled:
        raise ModelError("HF_HUB_OFFLINE forbids to reach a hub: unset it to pull a model") from None
    except errors.HfHubHTTPError as error:
        code = getattr(error.response, "status_code", "an error")
        raise ModelError(f"{what} could not be fetched: the hub answered {code}{more}") from None
    except Exception as error:  # httpx, requests or the system, by the version of the hub's client
        if isinstance(error, OSError) and error.errno in _LOCAL:
            raise
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ModelError(
            f"{failed} ({reason}){more}; HF_ENDPOINT names another hub, and GLASSBOX_EMBED_MODEL, "
            "GLASSBOX_RERANK_MODEL and GLASSBOX_LLM_PATH take a local copy"
        ) from None


def _hub() -> Any:
    """The hub's client, which writes nothing on the screen; `glassbox_tui.offline` has told it to tell nobody of us."""
    import huggingface_hub

    utils: Any = huggingface_hub.utils
    utils.logging.set_verbosity_error()
    utils.disable_progress_bars()
    huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE = _CHUNK
    return huggingface_hub


class _Watched:
    """A file that tells how far it was written."""

    def __init__(self, stream: IO[bytes], report: Callable[[int], None]) -> None:
        self._stream = stream
        self._report = report

    def write(self, data: bytes) -> int:
        count = self._stream.write(data)
        self._report(self._stream.tell())
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
