"""Files that survive a kill, a full disk and a power cut: written whole, or not at all."""

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from syntagm.errors import RunError

# As often as a folder may vanish under us before it can't be had.
_TRIES = 100


def write(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: temporary file beside it, fsync, rename, fsync of the folder.

    Raises:
        RunError: the disk is full, the folder can't be written, or `path` is no plain file (a device, a pipe); what stood
            there before still does.
    """
    write_parts(path, [content])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Like `write`, for content that is made part by part and need not fit in memory."""
    if path.is_dir():
        raise RunError(str(path), "is a folder", "the name of a file")
    if path.exists() and not path.is_file():
        # A rename would put a file in the place of a device such as /dev/null.
        raise RunError(str(path), "is no plain file", "the name of a file", "Choose another name.")
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    size = 0
    try:
        with open(temporary, "wb") as file:
            for part in parts:
                size += len(part)
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        sync_folder(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise refusal(path, error, size) from error
        raise


def append(path: Path, line: str) -> None:
    """Add one line to `path` and fsync it. A line cut short by an earlier failure is ended first.

    Raises:
        RunError: as `write`; a line that could not be written whole is taken back.
    """
    content = line.encode() + b"\n"
    try:
        with open(path, "ab+") as file:
            before = file.seek(0, os.SEEK_END)
            if before and (file.seek(before - 1), file.read(1))[1] != b"\n":
                content = b"\n" + content
            try:
                file.write(content)
                file.flush()
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except OSError as error:
        raise refusal(path, error, len(content)) from error


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder, made if it does not exist, against other processes; its file `lock` says who holds it.

    If in the end nothing is in the folder that was not there before, what was made in order to hold it is taken away again.

    Raises:
        RunError: it can't be made or written, or another process holds it.
    """
    lock, fresh, made = _locked(folder)
    try:
        before = set(os.listdir(folder))
        try:
            _sign(folder / "lock", lock)
            yield
        finally:
            with contextlib.suppress(OSError):
                if fresh and set(os.listdir(folder)) <= before:
                    (folder / "lock").unlink()
                    _take_away(made)
        os.ftruncate(lock, 0)
    finally:
        os.close(lock)


def _locked(folder: Path) -> tuple[int, bool, list[Path]]:
    """The lock, held; whether its file is new; the folders that were made for it, from the outside in.

    Only who holds the lock takes its file away, and whoever gets the lock looks whether its file still stands: so no two
    processes hold one folder. A file that is not new may be in use by others, and stays.
    """
    made: list[Path] = []
    error: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for _ in range(_TRIES):
        try:
            _make(folder, made)
            lock, fresh = _opened(folder / "lock")
        except FileNotFoundError as found:  # taken away by the process that had made it, or never to be had
            error = found
            continue
        except OSError as found:
            error = found
            break
        try:
            if _hold(folder, lock):
                return lock, fresh, made
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
    _take_away(made)
    raise refusal(folder, error, 0) from error


def _make(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it; those that were not there are added to `made`, from the outside in."""
    if not folder.parent.is_dir():
        _make(folder.parent, made)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        made.append(folder)


def _opened(path: Path) -> tuple[int, bool]:
    """A file, open, and whether it is new."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644), True
    except FileExistsError:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644), False


def _hold(folder: Path, lock: int) -> bool:
    """Take the lock. It holds nothing if its file was taken away by the process that held it before."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(lock, 200).decode().strip() or "another process"
        cure = "Wait for it, or choose another."
        raise RunError(str(folder), f"in use by {holder}", "a free folder", cure) from None
    except OSError as error:  # some network file systems have no locks
        raise refusal(folder / "lock", error, 0) from error
    try:
        return os.path.samestat(os.stat(folder / "lock"), os.fstat(lock))
    except FileNotFoundError:
        return False


def _take_away(made: list[Path]) -> None:
    """Take away folders, the last one first, up to the first that holds anything."""
    with contextlib.suppress(OSError):
        for folder in reversed(made):
            folder.rmdir()


def _sign(path: Path, lock: int) -> None:
    name = f"process {os.getpid()} on {socket.gethostname()}\n".encode()
    try:
        os.ftruncate(lock, 0)
        os.write(lock, name)
    except OSError as error:
        raise refusal(path, error, len(name)) from error


def refusal(path: Path, error: OSError, needed: int) -> RunError:
    """The error of a file that could not be written, with the cure."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return RunError(
            str(path), f"no space for {needed:,} bytes ({error.strerror})", "free disk space",
            "What is finished is kept; make room and give the same command again.",
        )  # fmt: skip
    return RunError(str(path), f"can't be written ({error.strerror})", "a writable folder", "Choose another folder.")


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
