"""Files that survive a kill, a full disk and a power cut: written whole, or not at all."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from syntagm.errors import RunError, SyntagmError


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
def replacing(path: Path) -> Iterator[Path]:
    """Give a path of the same name in a folder of its own beside `path`; the file written there is put in place at the end.

    Raises:
        RunError: as `write`; what is raised within goes on, and what stood at `path` before still does.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            written = Path(folder) / path.name
            try:
                yield written
            except SyntagmError as error:
                # Who reads the message knows nothing of the folder.
                error.place = error.place.replace(str(written), str(path))
                raise
            put(written, path)
    except OSError as error:
        raise refusal(path, error, 0) from error


def put(written: Path, path: Path) -> None:
    """Put a finished file in its place, to last: fsync, rename, fsync of the folder. May raise OSError."""
    with written.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(written, path)
    sync_folder(path.parent)


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
