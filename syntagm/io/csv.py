"""CSV as a contract: UTF-8, LF, a header, shortest round-trip numbers, `nan` spelled so, flags as 0 and 1."""

import math
from collections.abc import Iterable, Iterator, Sequence

_SUSPECT = tuple("=+-@\t\r")


def cell(value: object) -> str:
    """One cell. Text that a spreadsheet would take for a formula is quoted, like text with commas or line breaks.

    >>> cell(0.1), cell(2.0), cell(float("nan")), cell(True), cell('say "no"')
    ('0.1', '2', 'nan', '1', '"say ""no""\"')
    """
    match value:
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
    if text.startswith(_SUSPECT) or any(character in text for character in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The header and the rows as CSV lines, each with its line end."""
    yield ",".join(map(cell, columns)) + "\n"
    for row in rows:
        yield ",".join(map(cell, row)) + "\n"
