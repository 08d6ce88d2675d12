"""Syntagm's CSV format (UTF-8, LF, header, shortest round-trip numbers, `nan`, flags as 0 and 1), and strict reading of CSV."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

from syntagm.core.errors import InputError

MAX_CELLS = 10_000_000
DOUBLE = "Double each quotation mark inside a quoted cell."
# What makes a spreadsheet take a cell for a formula; full-width signs do so in some languages.
_SUSPECT = tuple("=+-@\t\r")
_FORMULA = (*_SUSPECT, "\n", *"＝＋－＠")


def cell(value: object, delimiter: str = ",") -> str:
    """Format one cell. Text with commas or line breaks, or that begins like a formula, is quoted.

    Quotation marks don't keep a spreadsheet from running a formula; `harmless` does, but changes the text.

    >>> cell(0.1), cell(2.0), cell(float("nan")), cell(None), cell(True), cell('say "no"')
    ('0.1', '2', 'nan', '', '1', '"say ""no""\"')
    """
    match value:
        case None:
            return ""
        case bool():
            return str(int(value))
        case float():
            return (
                "nan"
                if math.isnan(value)
                else str(int(value))
                if value.is_integer() and abs(value) < 1e15
                else repr(float(value))
            )
        case int():
            return str(value)
    text = str(value)
    if text.startswith(_SUSPECT) or any(character in text for character in delimiter + '"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def harmless(value: object) -> object:
    """Return the value of a cell for files that are opened in spreadsheets: text like a formula gets an apostrophe.

    This is only for such files, because programs that read the text back would get a different text.

    >>> harmless("=1+1"), harmless("-ing"), harmless(-1.5), harmless("a=b")
    ("'=1+1", "'-ing", -1.5, 'a=b')
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def lines(columns: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> Iterator[str]:
    """Format the header and the rows as CSV lines, each with its line end."""
    for row in chain([columns], rows):
        yield delimiter.join([cell(value, delimiter) for value in row]) + "\n"


def plain(rows: Iterable[Sequence[object]], delimiter: str, blanks: bool = False) -> str:
    """Format rows as published datasets do, with quotation marks only where `rows` needs them; `blanks` as there."""
    content = io.StringIO()
    minimal = csv.writer(content, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(content, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        # The standard writer quotes neither a lone carriage return, which ends a line, nor blanks at the ends of a cell.
        texts = [str(cell) for cell in row]
        needs_quotes = any("\r" in text or (not blanks and text != text.strip()) for text in texts)
        (quoted if needs_quotes else minimal).writerow(row)
    return content.getvalue()


def rows(
    content: str,
    path: Path,
    delimiter: str = ",",
    quote: bool = True,
    limit: int | None = MAX_CELLS,
    cure: str = DOUBLE,
    blanks: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a table (RFC 4180), each with the line where it begins, from 1. Empty lines are skipped."""
    # White space at the ends of a cell is content only in quotation marks: people align cells, and write `good, bad`.
    if limit is not None and content.count(delimiter) > limit:
        raise InputError(str(path), f"more than {limit:,} cells", "fewer", "Split it into several files.")
    trims, marked = not blanks, quote and '"' in content
    source = io.StringIO(_trimmed(content, delimiter) if trims and marked else content, newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    table = csv.reader(source, delimiter=delimiter, quoting=quoting, strict=True)
    begin = 1
    try:
        for row in table:
            if trims and not marked:
                row = [cell.strip() for cell in row]
            if row and (marked or row != [""]):
                yield begin, row
            begin = table.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {begin}", f"a row that can't be read: {error}", "a table", cure) from None


def _trimmed(content: str, delimiter: str) -> str:
    """Delete white space at the ends of cells, outside of quotation marks.

    >>> _trimmed('good , "a, b" ,c "d" \\n', ",")
    'good,"a, b",c "d"\\n'
    """
    mark = re.escape(delimiter)
    blank, edge = rf"[^\S\r\n{mark}]", rf"[\r\n{mark}]"
    quoted = rf'("[^"]*+(?:""[^"]*+)*+")(?={blank}*+(?:{edge}|\Z))'
    begin, end = rf"(?:(?<={edge})|\A)(?:{blank}*+{quoted}|{blank}++)", rf"(?<!{blank}){blank}++(?={edge}|\Z)"
    return re.sub(f"{begin}|{end}", r"\1", content)


def under(header: Sequence[str], content: str, path: Path, blanks: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a table that must have exactly this header."""
    remaining = rows(content, path, blanks=blanks)
    line, names = next(remaining, (1, []))
    if names != list(header):
        raise InputError(f"{path}, line {line}", ",".join(names)[:200] or "no header", ",".join(header))
    for line, row in remaining:
        _refuse_length(row, header, f"{path}, line {line}")
        yield line, row


def records(
    content: str, path: Path, needed: Sequence[str] = (), limit: int | None = MAX_CELLS, blanks: bool = False
) -> Iterator[tuple[int, dict[str, str]]]:
    """Read the rows as mappings from column to cell, each with the line where it begins."""
    remaining = rows(content, path, limit=limit, blanks=blanks)
    line, names = next(remaining, (1, []))
    refuse_repeated(names, path)
    if missing := [name for name in needed if name not in names]:
        present = ", ".join(map(repr, names))[:200] or "none"
        absent = f"no column {missing[0]!r} (the columns are {present})"
        raise InputError(f"{path}, line {line}", absent, "the columns " + ", ".join(needed))
    for line, row in remaining:
        yield line, named(names, row, f"{path}, line {line}")


def named(names: Sequence[str], row: Sequence[str], place: str) -> dict[str, str]:
    """Return a mapping from column to cell; InputError if a row has more or fewer cells than there are columns."""
    _refuse_length(row, names, place)
    return dict(zip(names, row, strict=True))


def refuse_repeated(names: Sequence[str], path: Path) -> None:
    if len(set(names)) < len(names):
        ((name, _),) = Counter(names).most_common(1)
        shown = f"the column {name!r} twice" if name else "two columns without a name"
        raise InputError(f"{path}, line 1", shown, "each name once", "Rename or delete one.")


def _refuse_length(row: Sequence[str], names: Sequence[str], place: str) -> None:
    if len(row) != len(names):
        cure = (
            "Put cells that hold the delimiter or a line break in quotation marks."
            if len(row) > len(names)
            else "A delimiter is missing: empty cells at the end need theirs, too."
        )
        raise InputError(place, f"{len(row)} cells", f"{len(names)} as in the header", cure)
