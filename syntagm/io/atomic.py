"""Atomic writes: after a kill, a full disk or a power cut, a file is either complete or unchanged."""

import contextlib
import errno
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from syntagm.errors import RunError, SyntagmError


def write(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically: temporary file in the same folder, fsync, rename, fsync of the folder.

    Raises:
        RunError: the disk is full, the folder can't be written, or `path` is not a regular file (a device, a pipe). An
            existing file is left unchanged.
    """
    write_parts(path, [content])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write content that comes in parts, and so need not fit in memory; otherwise like `write`."""
    if path.is_dir():
        raise RunError(str(path), "is a folder", "the name of a file")
    if path.exists() and not path.is_file():
        # A rename would replace a device such as /dev/null by a file.
        raise RunError(str(path), "is not a regular file", "the name of a file", "Choose another name.")
    target = Path(os.path.realpath(path))
    # Processes in two containers may have the same number, so the number alone names no file of its own.
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    size = 0
    try:
        with open(temporary, "xb") as file:
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
    """Append a line to `path` and fsync it. An incomplete last line that an earlier failure left is ended first.

    Raises:
        RunError: as for `write`; a line that can't be written completely is removed.
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
def replacing(path: Path) -> Iterator[Path]:
    """At the end of the `with` block, replace `path` with a file that the block has written.

    The block gets a path with the same name in a temporary folder next to `path`, and writes its file there.

    Raises:
        RunError: as for `write`. If the block raises an exception, `path` is left unchanged.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            written = Path(folder) / path.name
            try:
                yield written
            except SyntagmError as error:
                # The user doesn't know the temporary folder.
                error.place = error.place.replace(str(written), str(path))
                raise
            put(written, path)
    except OSError as error:
        raise refusal(path, error, 0) from error


def put(written: Path, path: Path) -> None:
    """Move a finished file to its place durably: fsync, rename, fsync of the folder. May raise OSError."""
    with written.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(written, path)
    sync_folder(path.parent)


def refusal(path: Path, error: OSError, needed: int) -> RunError:
    """Return the exception for a file that could not be written, with the cure.

    Arguments:
        path: the file or folder.
        error: the error of the operating system.
        needed: number of bytes that were to be written, for the message.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return RunError(
            str(path), f"no space for {needed:,} bytes ({error.strerror})", "free disk space",
            "Finished work is kept. Free some disk space and run the same command again.",
        )  # fmt: skip
    return RunError(str(path), f"can't be written ({error.strerror})", "a writable folder", "Choose another folder.")


def sync_folder(folder: Path) -> None:
    """Fsync a folder, so that renames in it are durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
