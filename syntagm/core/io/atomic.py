"""Atomic writes: after a kill, a full disk or a power cut, a file is either complete or unchanged.

No link is followed, because it may lead to a file of somebody else: a link in the place of a file is replaced by the file, and
one in the place of a folder inside of a folder that Syntagm writes is refused (`inside`).

A temporary file or folder is locked (flock) as long as its writer lives. So the first write of a later process to the same
folder can tell what killed processes left there, and deletes it.
"""

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from syntagm.core.errors import RunError, SyntagmError
from syntagm.core.io import regular

# `.results.csv.0123456789abcdef.syntagm`. The name alone is unique: two containers may have processes of one number.
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.syntagm", re.DOTALL)
# The folders to which this process has written, and which it has swept.
_swept: set[Path] = set()
_CURE = "Choose another name, or delete it."


def write(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically: temporary file in the same folder, fsync, rename, fsync of the folder."""
    write_parts(path, [content])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write content that comes in parts, and so need not fit in memory; otherwise like `write`."""
    _refuse_irreplaceable(path)
    size = 0
    try:
        with _temporary(path) as (temporary, file):
            for part in parts:
                size += len(part)
                file.write(part)
            _sync(file)
            _rename(temporary, path)
    except OSError as error:
        raise refusal(path, error, size) from error


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write several files: write each to a temporary file, then rename them in the given order."""
    # Existing files are left unchanged until all temporary files are complete.
    for path in contents:
        _refuse_irreplaceable(path)
    temporaries: list[Path] = []
    with contextlib.ExitStack() as stack:
        for path, content in contents.items():
            with _refused(path, len(content)):
                temporary, file = stack.enter_context(_temporary(path))
                temporaries.append(temporary)
                file.write(content)
                _sync(file)
        for path, temporary in zip(contents, temporaries, strict=True):
            with _refused(path):
                _rename(temporary, path)


def append(path: Path, *lines: str, sync: bool = True) -> None:
    """Append lines to `path` and fsync them if `sync`. An incomplete last line that an earlier failure left is ended first."""
    # A link, or a file that has a second name (a hard link), is replaced by a copy first: the other file stays as it
    # is.
    content = "".join(f"{line}\n" for line in lines).encode()
    with _refused(path, len(content)):
        _part_from_others(path)
        with open(path, "ab+", opener=without_following) as file:
            before = file.seek(0, os.SEEK_END)
            if before and (file.seek(before - 1), file.read(1))[1] != b"\n":
                content = b"\n" + content
            try:
                file.write(content)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
        if not before:
            sync_folder(path.parent)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """At the end of the `with` block, replace `path` with a file that the block has written."""
    # The block gets a path with the same name in a temporary folder next to `path`, and writes its file there.
    _refuse_irreplaceable(path)
    with _refused(path), scratch(path) as folder:
        written = folder / path.name
        try:
            yield written
        except SyntagmError as error:
            # The user doesn't know the temporary folder.
            error.place = error.place.replace(str(written), str(path))
            raise
        put(written, path)


@contextlib.contextmanager
def scratch(path: Path) -> Iterator[Path]:
    """Yield a new temporary folder next to `path`, and delete it at the end of the `with` block. May raise OSError."""
    _sweep_once(path.parent)
    while True:
        folder = _name(path)
        folder.mkdir()
        with contextlib.suppress(FileNotFoundError):  # deleted by `sweep` of another process before it was locked
            descriptor = os.open(folder, os.O_RDONLY)
            if _lock(descriptor, folder):
                break
            os.close(descriptor)
    try:
        yield folder
    finally:
        _delete_folder(folder)
        os.close(descriptor)


def put(written: Path, path: Path) -> None:
    """Move a finished file to its place durably: fsync, rename, fsync of the folder. May raise OSError."""
    with regular.opened(written) as file:
        os.fsync(file.fileno())
    _rename(written, path)


def move(files: Mapping[Path, Path]) -> None:
    """Move finished files, whose content is durable already, to their places: target -> file. Fsync each folder once."""
    for path, written in files.items():
        with _refused(path):
            os.replace(written, path)
    for folder in {path.parent for path in files}:
        with _refused(folder):
            sync_folder(folder)


def make_folder(folder: Path) -> list[Path]:
    """Create a folder and its missing parents durably, and return those that are new, the innermost first."""
    with _refused(folder):
        new = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in new:
                sync_folder(path.parent)
        except OSError:
            for path in new:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise
        return new


def inside(folder: Path, *names: str) -> Path:
    """Return the path of a folder inside of a folder that Syntagm writes; refuse a link in its place, or on the way."""
    path = folder
    for name in names:
        path /= name
        if os.path.islink(path):
            cure = f"Put the folder itself there. To keep {folder} on another disk, make {folder} a link."
            raise RunError(str(path), f"a link to {os.path.realpath(path)}", "a folder that Syntagm wrote", cure)
    return path


@contextlib.contextmanager
def used_folder(folder: Path) -> Iterator[None]:
    """Create a folder for the `with` block. At its end, delete the new folders in which nothing was written."""
    new = make_folder(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # a folder that is not empty stays, and so do its parents
            for path in filter(Path.exists, new):
                path.rmdir()


def sweep(folder: Path) -> None:
    """Delete the temporary files and folders that killed processes left in a folder."""
    # Files of living processes are locked. The writing functions of this module sweep each folder once per process.
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(entry.path) for entry in entries if _TEMPORARY.fullmatch(entry.name)]:
            _delete_abandoned(path)


def refusal(path: Path, error: OSError, needed: int) -> RunError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        size = f" for {needed:,} bytes" if needed else ""
        return RunError(
            str(path), f"no space{size} ({error.strerror})", "free disk space",
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


@contextlib.contextmanager
def _refused(path: Path, needed: int = 0) -> Iterator[None]:
    """Convert an error of the operating system to that of `refusal`."""
    try:
        yield
    except OSError as error:
        raise refusal(path, error, needed) from error


def _refuse_irreplaceable(path: Path) -> None:
    if path.is_dir():
        raise RunError(str(path), "is a folder", "the name of a file", _CURE)
    if path.exists() and not path.is_file():
        # A rename would replace /dev/null by a file, or the link /dev/stdout.
        raise RunError(str(path), "is not a regular file", "the name of a file", _CURE)


def _part_from_others(path: Path) -> None:
    """Replace a link, or a file that has a second name, by a copy. May raise OSError."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode) or status.st_nlink > 1:
        write(path, regular.content(path) if path.exists() else b"")


def without_following(path: str, flags: int) -> int:
    """Open a file that is no link, as an opener of `open`; a pipe does not wait."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Open a new temporary file next to `path`; delete it at the end of the `with` block if it was not renamed."""
    _sweep_once(path.parent)
    while True:
        temporary = _name(path)
        file = open(temporary, "xb")  # noqa: SIM115, closed below
        if _lock(file.fileno(), temporary):
            break
        file.close()
    try:
        yield temporary, file
    finally:
        # An error of the block counts, not those of tidying up after it.
        with contextlib.suppress(OSError):
            temporary.unlink()
        with contextlib.suppress(OSError):
            file.close()


def _sweep_once(folder: Path) -> None:
    if (key := Path(os.path.abspath(folder))) not in _swept:
        _swept.add(key)
        sweep(folder)


def _name(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.urandom(8).hex()}.syntagm")


def _lock(descriptor: int, path: Path) -> bool:
    """Lock a new temporary file or folder. Return False if another process has meanwhile deleted it with `sweep`."""
    with contextlib.suppress(OSError):  # some network file systems have no locks; nothing is swept there
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _delete_abandoned(path: Path) -> None:
    """Delete a temporary file or folder unless a living process has locked it, or it can't be locked or deleted."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                _delete_folder(path)
            else:
                path.unlink()
        finally:
            os.close(descriptor)


def _delete_folder(folder: Path) -> None:
    """Delete a temporary folder, under a name that is new: who knows the old one might make a file while it is emptied."""
    with contextlib.suppress(OSError):
        folder = folder.rename(_name(folder.with_name("deleted")))
    shutil.rmtree(folder, ignore_errors=True)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _rename(written: Path, path: Path) -> None:
    os.replace(written, path)
    sync_folder(path.parent)
