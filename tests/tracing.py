"""Programs traced call by call (strace), native code included, in a network namespace without interfaces."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# What can make, change or take away a file. (Writing needs an open first.)
_FILES = (
    "open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat,"
    "truncate,unlink,unlinkat,rmdir,chmod,fchmodat,chown,lchown,fchownat,utime,utimes,utimensat,setxattr,lsetxattr"
)
_CALLS = f"trace=%network,{_FILES}"
_CALL = re.compile(r"^(?:\d+\s+)?(\w+)\((.*)$")
_STRING = re.compile(r'(?:(?:AT_FDCWD|-?\d+)<((?:[^>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"')
_ADDRESS = re.compile(r'(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]*)"')
_WRITES = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)")
_OPENS = {"open", "openat", "openat2"}
LOCAL = {"AF_UNIX", "AF_NETLINK", "AF_LOCAL"}


def traced(command: Sequence[str], log: Path) -> list[str]:
    """The command line that runs `command` without a network, each of its system calls of interest written to `log`."""
    alone = ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]
    options = ["-f", "-qq", "-y", "-s", "4096", "--seccomp-bpf", "-e", "signal=none", "-e", _CALLS]
    return ["unshare", *alone, "strace", *options, "-o", str(log), *command]


def why_not() -> str:
    """Why nothing can be traced here; "" if it can."""
    try:
        done = subprocess.run(traced(["true"], Path(os.devnull)), capture_output=True, text=True, timeout=30)
    except OSError as error:
        return f"cannot start {error.filename}: {error.strerror}"
    return "" if done.returncode == 0 else done.stderr.strip().partition("\n")[0] or "strace is not allowed to trace"


@dataclass(frozen=True)
class Seen:
    """A trace: each socket that was no local one, each address that was named, each path that may have changed.

    Only what could leave the machine is an address: `::1` or 127.0.0.1 cannot.
    """

    sockets: tuple[str, ...]
    addresses: tuple[str, ...]
    changed: tuple[str, ...]

    def outside(self, *allowed: Path) -> list[str]:
        """The changed paths that lie in none of the folders. Devices are no files: a terminal, /dev/null."""
        inside = tuple(f"{os.path.realpath(folder)}/" for folder in allowed) + tuple(f"{folder}/" for folder in allowed)
        devices = re.compile(r"/dev/(null|tty|ptmx|pts/\d+)\Z")
        return sorted({p for p in self.changed if not f"{p}/".startswith(inside) and not devices.match(p)})


def read_trace(log: Path) -> Seen:
    """A finished trace. A call that failed counts: it was tried."""
    sockets: list[str] = []
    addresses: list[str] = []
    changed: list[str] = []
    with log.open(encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if (found := _CALL.match(line)) is None:
                continue  # the second half of a call that another thread's interrupted; the first had its arguments
            name, rest = found.groups()
            addresses += (address for address in _ADDRESS.findall(rest) if not address.startswith(("127.", "::1")))
            if name in ("socket", "socketpair"):
                if rest.partition(",")[0] not in LOCAL:
                    sockets.append(line.strip())
            elif name in _FILES.split(",") and (name not in _OPENS or _WRITES.search(_STRING.sub("", rest))):
                changed += _paths(rest)
    return Seen(tuple(sockets), tuple(addresses), tuple(changed))


def _paths(rest: str) -> Iterator[str]:
    for found in _STRING.finditer(rest):
        yield os.path.normpath(os.path.join(found[1] or "", found[2]))  # noqa: PTH118  (text, of no file of ours)
