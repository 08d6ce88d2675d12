"""Strict reading of text files. Files that are too large, not UTF-8 or not text are refused with the line."""

import errno
from collections.abc import Iterator
from pathlib import Path

from syntagm.core.errors import InputError
from syntagm.core.io import regular

MAX_BYTES = 64 * 2**20
BYTE_ORDER_MARKS_16 = (b"\xff\xfe", b"\xfe\xff")


def read(path: Path, limit: int = MAX_BYTES) -> str:
    """Read a whole UTF-8 file. A byte order mark at its start is removed."""
    return decoded(whole(path, limit), path)


def whole(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Read the bytes of a file; raise InputError if it is not a regular file, can't be read, or is larger than the limit."""
    try:
        return regular.content(path, limit)
    except OSError as error:
        raise unreadable(path, error) from None


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


def beginning(path: Path, size: int) -> bytes:
    try:
        with regular.opened(path) as file:
            return file.read(size)
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError) -> InputError:
    place = str(path).replace("\0", "?")
    match error:
        case FileNotFoundError():
            return InputError(place, "no such file", "a file")
        case IsADirectoryError():
            return InputError(place, "a folder", "one file")
        case OSError(errno=errno.EFBIG):
            most = str(error.strerror).removeprefix("more than ")
            return InputError(place, f"more than {most}", f"at most {most}", "Split it into several files.")
        case OSError(errno=errno.EINVAL):
            cure = "Write the content to a regular file, which can be read twice."
            return InputError(place, str(error.strerror), "a file", cure)
    return InputError(place, f"can't be read: {error.strerror or error}", "a readable file")


def lines(content: str) -> Iterator[tuple[int, str]]:
    """Iterate over the lines of a text with their numbers, from 1. Only LF and CRLF end a line."""
    start, number = 0, 1
    while start < len(content):
        end = content.find("\n", start)
        end = len(content) if end < 0 else end
        yield number, content[start:end].removesuffix("\r")
        start, number = end + 1, number + 1


def _cure_of_encoding(place: str) -> str:
    """Return the cure, which names what spreadsheets call it: without that, some save CSV in an older encoding."""
    return "Save the file again in UTF-8" + (" (in a spreadsheet: CSV UTF-8)." if ".csv" in place.lower() else ".")


def utf16(path: Path) -> InputError:
    return InputError(str(path), "a UTF-16 file", "UTF-8", _cure_of_encoding(str(path)))


def nul(place: str) -> InputError:
    return InputError(place, "a NUL character", "text", "This is probably not a text file.")


def not_utf8(place: str, byte: int) -> InputError:
    found = f"byte 0x{byte:02x}, which is not UTF-8"
    return InputError(place, found, "UTF-8", _cure_of_encoding(place))
