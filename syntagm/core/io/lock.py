"""Locking of folders against other processes. A lock ends when its process ends."""

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from syntagm.core.errors import RunError
from syntagm.core.io import atomic

# A lock is empty, or names the process that has it, or that was killed with it.
_NAME = b"process "


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder during the `with` block; create the folder if necessary. The file `lock` in it names the process."""
    # If the block leaves nothing new in the folder, because its work was refused, the new lock and new folders are
    # deleted.
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
        new = not path.exists()
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        except OSError as error:
            if not folder.exists():
                continue  # another process has just deleted the folder, which it had created
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise _foreign(path) from error
            raise atomic.refusal(folder, error, 0) from error
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, lock)
            _acquire(folder, lock)
            status = os.fstat(lock)
            # The process that held the lock may have deleted the file since it was opened: nobody else would see this lock.
            if not _is_there(path, status):
                continue
            if status.st_nlink > 1:  # a hard link: the file is somebody else's, too, and only our name of it is deleted
                _unlink(path)
                continue
            if not stat.S_ISREG(status.st_mode) or not _NAME.startswith(os.pread(lock, len(_NAME), 0)):
                raise _foreign(path)
            stack.pop_all()
            return lock, new


def _acquire(folder: Path, lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 200, 0).decode(errors="replace").strip() or "another process"
        cure = "Wait until it has finished, or choose another folder."
        raise RunError(str(folder), f"in use by {holder}", "a free folder", cure) from None
    except OSError as error:  # some network file systems have no locks
        raise atomic.refusal(folder / "lock", error, 0) from error


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise atomic.refusal(path, error, 0) from error


def _is_there(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), status)
    except FileNotFoundError:
        return False


def _foreign(path: Path) -> RunError:
    """Return the exception for something that is no lock. Locking would change it, or the file that it leads to."""
    found = "a link" if path.is_symlink() else "something else than a lock"
    return RunError(str(path), found, "the lock of a folder", "Rename or delete it, and run the same command again.")


def _sign(path: Path, lock: int) -> None:
    name = _NAME + f"{os.getpid()} on {socket.gethostname()}\n".encode()
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, name, 0)
    except OSError as error:
        raise atomic.refusal(path, error, len(name)) from error
