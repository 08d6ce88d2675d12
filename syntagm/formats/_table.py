"""Tables with named columns in CSV, TSV, JSON lines or a JSON list of objects."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from syntagm.errors import InputError, UsageError
from syntagm.io import csv, json, shape, utf8

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose cells are texts.

    Arguments:
        path: the file.
        columns: the names of the columns.
        rows: pairs of line (or row) number and a mapping from column to text. A missing cell is absent from the mapping;
            an empty cell is "".
        unit: what the numbers count: "line" or "row".
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    unit: str

    def place(self, number: int) -> str:
        """Return the place of a row, given its number, for messages."""
        return f"{self.path}, {self.unit} {number}"


def read(
    content: str,
    path: Path,
    is_header: Callable[[Sequence[str]], object] = bool,
    delimiter: str = "",
    quote: bool = True,
) -> Table:
    """Read a table: JSON if the text begins with a bracket or brace, otherwise cells under a header.

    Arguments:
        content: the text.
        path: the file, for messages.
        is_header: function that returns whether a row of cells is the header. It is called with the first row for each
            delimiter.
        delimiter: a character, `tab`, `comma` or `semicolon`. The default is the delimiter for which `is_header` accepts the
            header. If there is none, and every row has two cells separated by a tab, the columns are `good` and `bad`.
        quote: whether quotation marks enclose cells.

    Raises:
        InputError: a row is longer or shorter than the header, two columns have the same name, or there are too many rows.
        UsageError: the delimiter is not one character.
    """
    beginning = content.lstrip()[:1]
    columns: Sequence[str]
    if beginning in ("[", "{"):
        objects, unit = (_listed(content, path), "row") if beginning == "[" else (json.objects(content, path), "line")
        rows = [(number, _texts(row)) for number, row in objects]
        columns = list(dict.fromkeys(name for _, row in rows for name in row))
    else:
        columns, rows = _cells(content, path, is_header, delimiter, quote)
        unit = "line"
    shape.count(len(rows), path)
    return Table(path, tuple(columns), tuple(rows), unit)


def _listed(content: str, path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, row in enumerate(shape.need(json.parsed(content, path), list, str(path)), 1):
        yield number, shape.need(row, dict, f"{path}, row {number}")


def two_columns(content: str) -> bool:
    """Return whether every complete line of a text, except empty ones, has two cells separated by a tab."""
    lines = [line for _, line in utf8.lines(content[: content.rfind("\n") + 1] or content) if line.strip()]
    return bool(lines) and all(line.count("\t") == 1 for line in lines)


def _cells(
    content: str, path: Path, is_header: Callable[[Sequence[str]], object], delimiter: str, quote: bool
) -> tuple[Sequence[str], list[tuple[int, dict[str, str]]]]:
    choices = [character(delimiter)] if delimiter else list(DELIMITERS.values())
    headers = [_header(content, path, choice, quote) for choice in choices]
    chosen = next((index for index, names in enumerate(headers) if is_header(names)), None)
    if chosen is None and not delimiter and two_columns(content):
        rows = [
            (line, csv.named(["good", "bad"], row, f"{path}, line {line}"))
            for line, row in csv.rows(content, path, "\t", quote)
        ]
        _refuse_a_header([tuple(row.values()) for _, row in rows], path)
        return ["good", "bad"], rows
    chosen = max(range(len(choices)), key=lambda index: len(headers[index])) if chosen is None else chosen
    cells = csv.rows(content, path, choices[chosen], quote)
    names = next((row for _, row in cells), [])
    csv.refuse_repeated(names, path)
    return names, [(line, csv.named(names, row, f"{path}, line {line}")) for line, row in cells]


def _header(content: str, path: Path, delimiter: str, quote: bool) -> list[str]:
    """Return the first row for a delimiter; empty if it can't be read with this delimiter."""
    try:
        return next((row for _, row in csv.rows(content, path, delimiter, quote)), [])
    except InputError:
        return []


def character(delimiter: str) -> str:
    character = DELIMITERS.get(delimiter, delimiter)
    if len(character) != 1 or character in '"\r\n':
        raise UsageError("delimiter", repr(delimiter), "one character, or one of " + ", ".join(DELIMITERS))
    return character


def _refuse_a_header(rows: Sequence[Sequence[str]], path: Path) -> None:
    """Refuse a first row that differs from all others in kind, because unknown column names would be scored as a pair."""
    first, *others = rows
    for trait in (_has_space, _ends_a_sentence):
        if others and not any(map(trait, first)) and all(trait(cell) for row in others for cell in row):
            raise InputError(
                f"{path}, line 1", f"{first[0]!r} and {first[1]!r}, which look like column names",
                "a known pair of names such as good and bad",
                f"Name the columns, as in {path.name}?good=COLUMN&bad=COLUMN; "
                "if the line is a pair, insert a line with the names good and bad above it.",
            )  # fmt: skip


def _has_space(cell: str) -> bool:
    return len(cell.split()) > 1


def _ends_a_sentence(cell: str) -> bool:
    return unicodedata.category(cell.rstrip()[-1:] or " ") in ("Po", "Pe", "Pf")


def _texts(row: dict[str, object]) -> dict[str, str]:
    """Return JSON values as cells: texts unchanged, null as a missing cell, other values as JSON."""
    return {key: shape.plain(value) for key, value in row.items() if value is not None}
