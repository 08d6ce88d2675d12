"""Opening of files to read: regular files only, and never more of one than a limit.

In the place of a file there may be a device without end such as /dev/zero, a pipe or a socket to which nobody writes, or a
sparse file of terabytes. Reading it would take forever, or all memory. So all readers open their files here. A file is
opened without waiting, and then the open file is asked what it is: nothing else can be put in its place in between.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

# The largest file that is read as a whole.
MAX_BYTES = 2**30
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def opened(path: str | Path, limit: int | None = None) -> BufferedReader:
    """Open a regular file to read its bytes. Links are followed."""
    descriptor, _ = _open(path, limit)
    return open(descriptor, "rb")


def content(path: str | Path, limit: int = MAX_BYTES) -> bytes:
    """Read a regular file as a whole; the arguments and errors are those of `opened`."""
    descriptor, size = _open(path, limit)
    try:
        # One byte more than there should be tells the end. Files of /proc have more than their size, which is 0.
        parts, remaining = [], limit + 1
        while remaining and (part := os.read(descriptor, min(remaining, max(size + 1, 65_536)))):
            parts.append(part)
            remaining -= len(part)
    finally:
        os.close(descriptor)
    if not remaining:
        raise _too_large(path, limit)
    return b"".join(parts)


def checked(path: str | Path, limit: int | None = None) -> str | Path:
    """Return the path of a regular file, for a library that opens files by their names; see `opened`."""
    opened(path, limit).close()
    return path


def _open(path: str | Path, limit: int | None) -> tuple[int, int]:
    """Open a file; return its descriptor and its size."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError as error:  # a NUL or half a surrogate pair, which no name of a file has
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        # A socket can't be opened at all.
        raise _not_regular(path, os.stat(path)) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _not_regular(path, status)
        if limit is not None and status.st_size > limit:
            raise _too_large(path, limit)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, status.st_size


def _not_regular(path: str | Path, status: os.stat_result) -> OSError:
    number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "a special file")
    return OSError(number, f"{kind}, not a regular file", str(path))


def _too_large(path: str | Path, limit: int) -> OSError:
    return OSError(errno.EFBIG, f"more than {limit // 2**20:,} MB", str(path))
