"""Locking of folders against other processes. A lock ends when its process ends."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from syntagm.errors import RunError
from syntagm.io import atomic


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder during the `with` block; create the folder if necessary. The file `lock` in it names the process.

    If the block leaves nothing new in the folder, because its work was refused, the new lock and new folders are deleted.

    Raises:
        RunError: the folder can't be created or written, or another process has locked it.
    """
    with atomic.used_folder(folder):
        lock, new = _taken(folder)
        try:
            before = _names(folder)
            _sign(folder / "lock", lock)
            yield
            # The work is done: a name that stays in the file does no harm, because it counts only while the file is locked.
            with contextlib.suppress(OSError):
                os.ftruncate(lock, 0)
        finally:
            with contextlib.suppress(OSError, RunError):  # the block may have deleted the folder
                if new and _names(folder) <= before:
                    (folder / "lock").unlink()
            os.close(lock)


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError as error:
        raise atomic.refusal(folder, error, 0) from error


def _taken(folder: Path) -> tuple[int, bool]:
    """Open and lock the file `lock` of a folder. Return its descriptor, and whether the file is new."""
    path = folder / "lock"
    while True:
        atomic.make_folder(folder)
        try:
            new = not path.exists()
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            if not folder.exists():
                continue  # another process has just deleted the folder, which it had created
            raise atomic.refusal(folder, error, 0) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_nlink:
                return lock, new
            # The process that held the lock has deleted the file since it was opened: nobody else would see this lock.
            os.close(lock)
        except BlockingIOError:
            holder = os.read(lock, 200).decode(errors="replace").strip() or "another process"
            os.close(lock)
            cure = "Wait until it has finished, or choose another folder."
            raise RunError(str(folder), f"in use by {holder}", "a free folder", cure) from None
        except OSError as error:  # some network file systems have no locks
            os.close(lock)
            raise atomic.refusal(path, error, 0) from error


def _sign(path: Path, lock: int) -> None:
    name = f"process {os.getpid()} on {socket.gethostname()}\n".encode()
    try:
        os.ftruncate(lock, 0)
        os.write(lock, name)
    except OSError as error:
        raise atomic.refusal(path, error, len(name)) from error
