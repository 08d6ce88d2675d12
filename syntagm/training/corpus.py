"""Read text to train on: one sentence a line, or trees, plain or gzipped, as many files as given, in their order.

A path is a file: `.trees`, `.ptb`, `.mrg` or `.parse` (with `.gz` or without) holds Penn-style trees, any other one sentence a
line in UTF-8. Or it is `bllip:FOLDER?set=xs`, the BLLIP corpus as the LDC ships it. Files are read as a stream: memory
stays flat however long they are.
"""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from syntagm.errors import InputError, UsageError
from syntagm.models import _words

MAX_LINE = 1_000_000
# Deflate can't shrink text more than 1,032-fold; prose shrinks 2- to 4-fold.
MAX_FOLD = 250
FOLD_FROM = 2**24
_GZIP = b"\x1f\x8b"


def sentences(paths: Sequence[str | Path], tokens: str = "blanks", blank: bool = False) -> Iterator[list[str]]:
    """The words of each sentence; arguments and errors as `texts` and `models._words.words`."""
    for text in texts(paths, blank):
        yield _words.split(text, tokens)


def texts(paths: Sequence[str | Path], blank: bool = False) -> Iterator[str]:
    """The sentences of files, one after the other, without line ends.

    Arguments:
        paths: files.
        blank: give blank lines as empty sentences (KenLM's lmplz counts them), instead of skipping them.

    Raises:
        UsageError: no paths.
        InputError: no such file, no sentence in a file, not UTF-8, a NUL, a line of more than a million characters, a
            damaged gzip file, or trees with unbalanced brackets.
    """
    if not paths:
        raise UsageError("corpus", "no file", "one or more")
    for path in paths:
        yield from _of_file(Path(path), blank)


def _of_file(path: Path, blank: bool) -> Iterator[str]:
    found = False
    for _, line in lines(path):
        if blank or not (line == "" or line.isspace()):
            found = True
            yield line
    if not found:
        raise InputError(str(path), "no sentences", "one sentence a line")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file, gzipped or not, with their numbers from 1; without line ends and byte order mark.

    Raises:
        InputError: as `texts`.
    """
    number = 0
    try:
        with path.open("rb") as file:
            for number, content in enumerate(_byte_lines(file, path), 1):
                yield number, _text(content, path, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        found = f"damaged gzip data ({error})"
        raise InputError(f"{path}, after line {number}", found, "a whole file", "Copy or download it again.") from None
    except OSError as error:
        raise InputError(str(path), f"can't be read: {error.strerror or error}", "a readable file") from None


def _byte_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    packed = file.read(2) == _GZIP
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    stream = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
    total, limit = 0, max(FOLD_FROM, size * MAX_FOLD)
    while line := stream.readline(4 * MAX_LINE + 1):
        total += len(line)
        if packed and total > limit:
            raise InputError(
                str(path), f"unpacks to more than {MAX_FOLD} times its size", "text", "Is it what it says?"
            )
        yield line


def _text(content: bytes, path: Path, number: int) -> str:
    if number == 1:
        content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        line = content.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        found = f"byte 0x{content[error.start]:02x}, which is not UTF-8"
        raise InputError(f"{path}, line {number}", found, "UTF-8", "Save it again with the encoding UTF-8.") from None
    if len(line) > MAX_LINE:
        found = f"a line of more than {MAX_LINE:,} characters"
        raise InputError(f"{path}, line {number}", found, "one sentence a line", "Split it into sentences.")
    if "\0" in line:
        raise InputError(f"{path}, line {number}", "a NUL character", "text", "This is probably not a text file.")
    return line


def record(paths: Sequence[str | Path]) -> list[dict[str, object]]:
    """Name, size in bytes and SHA-256 of each file, for the record of a training."""
    found: list[dict[str, object]] = []
    for path in map(Path, paths):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append({"file": path.name, "bytes": path.stat().st_size, "sha256": digest})
    return found
