"""Strict reading of text files. Files that are too large, not UTF-8 or not text are refused with the line."""

import os
from collections.abc import Iterator
from pathlib import Path

from syntagm.errors import InputError

MAX_BYTES = 64 * 2**20
BYTE_ORDER_MARKS_16 = (b"\xff\xfe", b"\xfe\xff")


def read(path: Path, limit: int | None = MAX_BYTES) -> str:
    """Read a whole UTF-8 file. A byte order mark at its start is removed.

    Arguments:
        path: the file.
        limit: maximum number of bytes; None for no limit.

    Raises:
        InputError: the file does not exist, is not a file, is larger than the limit, is not UTF-8, or contains a NUL.
    """
    return decoded(whole(path, limit), path)


def whole(path: Path, limit: int | None = MAX_BYTES) -> bytes:
    """Read the bytes of a file; raise InputError if it is not a file, can't be read, or is larger than the limit."""
    # A size that is known before reading is checked before, since the limit may be large.
    if limit is not None and path.is_file() and path.stat().st_size > limit:
        raise _too_large(path, limit)
    content = beginning(path, None if limit is None else limit + 1)
    if limit is not None and len(content) > limit:
        raise _too_large(path, limit)
    return content


def _too_large(path: Path, limit: int) -> InputError:
    size = f"{limit // 2**20:,} MB"
    return InputError(str(path), f"more than {size}", f"at most {size}", "Split it into several files.")


def decoded(content: bytes, path: Path) -> str:
    """Decode the bytes of a UTF-8 file; raise InputError with the line if they are not UTF-8 or contain a NUL."""
    if content[:2] in BYTE_ORDER_MARKS_16:
        raise utf16(path)
    if (place := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise nul(f"{path}, line {line}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise not_utf8(f"{path}, line {line}", content[error.start]) from None


def beginning(path: Path, size: int | None) -> bytes:
    """Read the first `size` bytes of a file, or all bytes if `size` is None; raise InputError if that fails."""
    try:
        if path.is_dir():
            raise InputError(str(path), "a folder", "one file")
        if not path.is_file():
            raise InputError(str(path), "not a file" if path.exists() else "no such file", "a file")
        with path.open("rb") as file:
            # `read` allocates memory for the requested size even if the file is smaller.
            return file.read(-1 if size is None else min(size, os.fstat(file.fileno()).st_size + 1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(str(path).replace("\0", "?"), f"can't be read: {reason}", "a readable file") from None


def lines(content: str) -> Iterator[tuple[int, str]]:
    """Iterate over the lines of a text with their numbers, from 1. Only LF and CRLF end a line."""
    start, number = 0, 1
    while start < len(content):
        end = content.find("\n", start)
        end = len(content) if end < 0 else end
        yield number, content[start:end].removesuffix("\r")
        start, number = end + 1, number + 1


def utf16(path: Path) -> InputError:
    """Return the exception for a file in UTF-16."""
    return InputError(str(path), "a UTF-16 file", "UTF-8", "Save the file again in UTF-8.")


def nul(place: str) -> InputError:
    """Return the exception for a NUL."""
    return InputError(place, "a NUL character", "text", "This is probably not a text file.")


def not_utf8(place: str, byte: int) -> InputError:
    """Return the exception for an invalid byte in UTF-8."""
    found = f"byte 0x{byte:02x}, which is not UTF-8"
    return InputError(place, found, "UTF-8", "Save the file again in UTF-8.")
