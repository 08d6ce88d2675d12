"""What may lie in the place of a file, and is none: a pipe, a socket, a device, a folder, a file of terabytes."""

import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

HUGE = 2**43


class Hangs(BaseException):
    """Nothing came for many seconds. No handler of errors catches it."""


@contextmanager
def no_waiting(seconds: float = 30) -> Iterator[None]:
    """Raise `Hangs` if the `with` block takes longer: it waits for a pipe, or reads a file without end."""

    def late(*_: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _socket(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as one:
        # The name of a socket has at most 107 bytes.
        one.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


KINDS: Mapping[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "more than": _sparse,
}


def put(kind: str, path: Path) -> None:
    """Put something of this kind in the place of a file or folder."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    KINDS[kind](path)
