"""Files that survive a kill, a full disk and a power cut: written whole, or not at all."""

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from syntagm.errors import RunError


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

    Raises:
        RunError: it can't be made or written, or another process holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise refusal(folder, error, 0) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(lock, 200).decode().strip() or "another process"
            cure = "Wait for it, or choose another."
            raise RunError(str(folder), f"in use by {holder}", "a free folder", cure) from None
        except OSError as error:  # some network file systems have no locks
            raise refusal(folder / "lock", error, 0) from error
        _sign(folder / "lock", lock)
        yield
        os.ftruncate(lock, 0)
    finally:
        os.close(lock)


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
