"""Streaming of the lines of a text file, gzipped or not. Content that is not text is refused with its place."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from syntagm.core.errors import InputError
from syntagm.core.io import regular, utf8

MAX_LINE = 1_000_000
# Prose compresses 2- to 4-fold, and deflate at most 1,032-fold.
MAX_FOLD = 250
FOLD_FROM = 2**24
_GZIP = b"\x1f\x8b"
# The lines by which `prose` knows an annotated file, and how half of them begin, or look to their ends.
_EXAMINED = 400
_ANNOTATED = {
    "columns, as in TSV or CoNLL-U (sed -n 's/^# text = //p' FILE prints its sentences)": r"[^\t]+\t|\d+ (?:\S+ ){4,8}_(?: |$)"
    r"|\S+(?: \S+){1,3} (?:O|[BIES]-[A-Z]+)$|(?![A-Z]+ )\S+ (?![IVX]+$)[A-Z]{2,5}\$?$",
    "trees, whose files end in .trees, .mrg or .ptb": r"\(\s*(?:[A-Z\d][^\s()]*\s*)?\([A-Z\d$.,:'`#-][^\s()]*[ (]"
    r"|\([A-Z][A-Z\d-]*$|(?:\([^\s()a-z]+ [^\s()]+\)+\s*)+$",
    "JSON": r"\{\s*(?:[\"'}]|$)|\[\s*(?:[\"\[{]|$)|[\]}],?$|\"[^\"]*\"\s*:\s*(?:[\"\[{\d-]|true|false|null)",
    "markup (XML, SGML or HTML)": r"<[?!/]?(?!(?:unk|UNK)>)[A-Za-z][^<>]*>",
    "words with tags": r"(?:\S+[/_|][^\s/_|]+\s+){2,}\S+[/_|]\S+$",
}
_MARKS = frozenset(".,;:?!()。，、；：？！।،؟")


def read(path: Path) -> Iterator[tuple[int, str]]:
    """Iterate over the lines of a UTF-8 file, with their numbers from 1 and without line ends."""
    # A byte order mark at the start is removed. Memory does not depend on the length of the file.
    number = 0
    try:
        with regular.opened(path) as file:
            for number, content in enumerate(_byte_lines(file, path), 1):
                yield number, _text(content, path, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        found = f"damaged gzip data ({error})"
        raise InputError(
            f"{path}, after line {number}", found, "a complete file", "Copy or download it again."
        ) from None
    except OSError as error:
        raise utf8.unreadable(path, error) from None


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Iterate over the lines of a text as `read` does, and refuse a file with annotations instead of running text."""
    lines = read(path)
    first = list(islice(lines, _EXAMINED))
    stripped = (line.strip()[:10_000] for _, line in first)
    if found := _annotated([line for line in stripped if line and line[0] != "#"] or [""]):
        cure = "Write its sentences to a text file, one per line."
        raise InputError(str(path), found, "plain text, without annotation", cure)
    yield from chain(first, lines)


def _annotated(lines: Sequence[str]) -> str:
    """Return what a file has instead of running text, by its first lines that are not empty; "" if it is such text."""
    for found, pattern in _ANNOTATED.items():
        # A single line with a tab, or of two words, is a text.
        least = max(len(lines), 2 * found.startswith("columns"))
        if 2 * sum(re.match(pattern, line) is not None for line in lines) > least:
            return found
    if lines[0] in ("[", "{"):
        return "JSON"
    if any(re.match(r"[\d:]+[.,]\d{3} --> \d", line) for line in lines):
        return "subtitles"
    # Lists of words, and texts in scripts without spaces, have no marks that are lines of their own.
    if (
        len(lines) >= 20
        and 30 * sum(line in _MARKS for line in lines) > len(lines)
        and not any(" " in line for line in lines)
    ):
        return "a word in each line"
    for mark in ",;" if len(lines) > 2 else "":
        # Chinese has no blanks after commas.
        if mark in lines[0] and all(
            re.fullmatch(r'"?(?! )[^\W\u3000-\uffff][\w .()/?-]*"?|""', each) for each in lines[0].split(mark)
        ):
            return "CSV" if len({len(next(csv.reader([line], delimiter=mark))) for line in lines}) == 1 else ""
    return ""


def check(path: Path) -> None:
    """Raise InputError if a path is not a regular file. A pipe is refused because it can't be read twice."""
    try:
        regular.opened(path).close()
    except OSError as error:
        raise utf8.unreadable(path, error) from None


def _byte_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    gzipped = file.read(len(_GZIP)) == _GZIP
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if path.suffix == ".gz" and not gzipped:
        raise InputError(
            str(path), "no gzip data", "a gzipped file, as its name suggests", "Rename it, or download it again."
        )
    stream = io.BufferedReader(gzip.GzipFile(fileobj=file)) if gzipped else file
    total, limit = 0, max(FOLD_FROM, size * MAX_FOLD)
    # A character has at most four bytes.
    while line := stream.readline(4 * MAX_LINE + 1):
        total += len(line)
        if gzipped and total > limit:
            cure = "If the file is correct, decompress it yourself."
            raise InputError(str(path), f"more than {MAX_FOLD} times its size when decompressed", "text", cure)
        yield line


def _text(content: bytes, path: Path, number: int) -> str:
    place = f"{path}, line {number}"
    if number == 1:
        content = content.removeprefix(b"\xef\xbb\xbf")
        if content[:2] in utf8.BYTE_ORDER_MARKS_16:
            raise utf8.utf16(path)
        if b"\n" not in content and b"\r" in content.rstrip(b"\r") and len(content) <= 4 * MAX_LINE:
            found = "lines that end with carriage returns alone"
            raise InputError(str(path), found, "line feeds", "Save the file again with Unix or Windows line endings.")
    if b"\0" in content:
        raise utf8.nul(place)
    # This check comes before decoding, since a line that was cut may end inside a character.
    if len(content) > 4 * MAX_LINE:
        raise _long(place)
    try:
        line = content.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise utf8.not_utf8(place, content[error.start]) from None
    if len(line) > MAX_LINE:
        raise _long(place)
    return line


def _long(place: str) -> InputError:
    found = f"more than {MAX_LINE:,} characters in a line"
    return InputError(place, found, "one sentence per line", "Split the line into sentences.")
