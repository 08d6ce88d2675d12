"""Tables with named columns in CSV, TSV, JSON lines or a JSON list of objects."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, csv, json, shape

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";"}
# The beginning of a table, which shows what its columns hold: the same rows of a file and of its first 64 KiB.
EXCERPT, ROWS = 16_384, 100

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GAP = re.compile(r"[\s\-_]+")
_NUMBER = re.compile(r"[-+]?[\d.,\u00a0\u202f]*\d(?:e[-+]?\d+)?\s*%?", re.IGNORECASE)

IsHeader = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Table:
    path: Path  # the file
    columns: tuple[str, ...]  # the names of the columns
    # Pairs of line (or row) number and a mapping from column to cell. Cells are texts or, in JSON, any values but null.
    # A missing cell is absent from the mapping; an empty cell is "".
    rows: tuple[tuple[int, dict[str, Any]], ...]
    unit: str  # what the numbers count: "line" or "row"

    def place(self, number: int) -> str:
        return f"{self.path}, {self.unit} {number}"

    def cells(self, name: str) -> Iterator[str]:
        """Yield the cells of a column as texts, without white space around them and without empty ones."""
        return filter(None, (shape.plain(row.get(name, "")).strip() for _, row in self.rows))

    def has_numbers(self, name: str) -> bool:
        """Return whether a column has numbers and nothing else."""
        cells = self.cells(name)
        first = next(cells, "")
        return _NUMBER.fullmatch(first) is not None and all(map(_NUMBER.fullmatch, cells))


def read(
    content: str, path: Path, is_header: IsHeader, delimiter: str = "", quote: bool = True, cure: str = csv.DOUBLE
) -> Table:
    """Read a table: JSON if the text begins with a bracket or brace, otherwise cells under a header.

    The default delimiter is the one with which `is_header` accepts the first row, otherwise the one that most rows fit.
    Refused are rows that are longer or shorter than the header, columns of the same name, and lines that a quotation mark may
    have joined by mistake.
    """
    if not is_json(content):
        chosen = delimiter_character(delimiter) if delimiter else _delimiter(content, path, is_header, quote)
        return under(None, content, path, chosen, quote, cure)
    is_list = content.lstrip().startswith("[")
    objects, unit = (_listed(content, path), "row") if is_list else (json.objects(content, path), "line")
    rows = tuple((number, _present(row)) for number, row in objects)
    shape.count(len(rows), path)
    return Table(path, _names(row for _, row in rows), rows, unit)


def under(
    names: Sequence[str] | None, content: str, path: Path, delimiter: str, quote: bool = True, cure: str = csv.DOUBLE
) -> Table:
    """Read the cells of a table under names; None for those in its first row. The errors are those of `read`."""
    cells = csv.rows(content, path, delimiter, quote, cure=cure)
    columns = next((row for _, row in cells), []) if names is None else names
    listed = list(cells)
    if names is None and len(columns) > len(kept := _without_blank(columns, listed)):
        listed = [(line, row[: len(kept)] if len(row) == len(columns) else row) for line, row in listed]
        columns = kept
    csv.refuse_repeated(columns, path)
    rows = [(line, csv.named(columns, row, f"{path}, line {line}")) for line, row in listed]
    shape.count(len(rows), path)
    if quote and (joined := next((line for line, row in rows if "\n" in "".join(row.values())), None)):
        _refuse_joined(content, path, delimiter, len(columns), joined, cure)
    return Table(path, tuple(columns), tuple(rows), "line")


def _without_blank(columns: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> list[str]:
    """Return the columns without those at the end that have neither a name nor a cell, as spreadsheets leave them."""
    count = len(columns)
    while count > 1 and not columns[count - 1].strip():
        if any(cell.strip() for _, row in rows for cell in row[count - 1 : count]):
            break
        count -= 1
    return list(columns[:count])


def excerpt(path: Path, content: str, is_header: IsHeader = lambda names: False, delimiter: str = "") -> Table:
    """Return the first rows of a table, to see what its columns hold. Rows that can't be read are left out."""
    if is_json(content):
        objects = list(islice(json.beginning(content), ROWS))
        rows = tuple((number, _present(row)) for number, row in enumerate(objects, 1))
        return Table(path, _names(row for _, row in rows), rows, "row")
    content = whole_lines(content)
    delimiter = delimiter_character(delimiter) if delimiter else _delimiter(content, path, is_header, True)
    names = _header(content, path, delimiter, True)
    cells = islice(_readable(content, path, delimiter), 1, ROWS + 1)
    found = [(line, dict(zip(names, row, strict=True))) for line, row in cells if len(row) == len(names)]
    return Table(path, tuple(names), tuple(found), "line")


def is_json(content: str) -> bool:
    """Return whether a text begins like JSON."""
    return content.lstrip()[:1] in ("[", "{")


def whole_lines(content: str) -> str:
    """Return the beginning of a text, without a line that is cut off."""
    return content if len(content) < EXCERPT else content[: content.rfind("\n", 0, EXCERPT) + 1]


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return the name of a column in lower case, with underscores between its words.

    >>> plain("Good sentence "), plain("sentenceGood"), plain("ill-formed")
    ('good_sentence', 'sentence_good', 'ill_formed')
    """
    return _GAP.sub("_", _HUMP.sub("_", name.strip())).lower()


def text(row: dict[str, Any], column: str, place: str) -> str:
    """Return a cell that has a sentence; InputError if it is missing, empty, or not a text."""
    cell = shape.sentence(row.get(column, ""), f"{place}, {column}")
    if not cell.strip():
        raise InputError(f"{place}, {column}", "an empty cell", "text", "Fill it in or delete the row.")
    return cell


def name(row: dict[str, Any], column: str, place: str) -> str:
    """Return a cell that has a name, which may be a number in JSON; InputError if it is missing or empty."""
    return text({column: shape.plain(row.get(column, ""))}, column, place)


def tags(row: dict[str, Any], used: Iterable[str | None]) -> dict[str, str]:
    """Return the cells of other columns than those in `used`, as tags. Empty cells are left out."""
    others = {name or "index": shape.plain(cell) for name, cell in row.items() if name not in used}
    return {name: cell for name, cell in others.items() if cell}


def delimiter_character(delimiter: str) -> str:
    """Return the delimiter that an option names; UsageError if it is not one character."""
    character = DELIMITERS.get(delimiter, delimiter)
    if len(character) != 1 or character in '"\r\n':
        raise UsageError("delimiter", repr(delimiter), "one character, or one of " + ", ".join(DELIMITERS))
    return character


def _listed(content: str, path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, row in enumerate(shape.need(json.parsed(content, path), list, str(path)), 1):
        yield number, shape.need(row, dict, f"{path}, row {number}")


def _present(row: dict[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in row.items() if cell is not None}


def _names(rows: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name in row))


def _delimiter(content: str, path: Path, is_header: IsHeader, quote: bool) -> str:
    """Return the delimiter for which the first row is a header, otherwise the one that most rows fit."""
    marks = DELIMITERS.values()
    accepted = (mark for mark in marks if is_header(_header(content, path, mark, quote)))
    return next(accepted, None) or max(marks, key=lambda mark: _fitting(whole_lines(content), path, mark))


def _fitting(content: str, path: Path, delimiter: str) -> tuple[int, int]:
    """Return how many of the first rows have as many cells as the first one, and this number, if it is not 1."""
    rows = [row for _, row in islice(_readable(content, path, delimiter), ROWS)]
    columns = len(rows[0]) if rows else 0
    return sum(len(row) == columns for row in rows) if columns > 1 else 0, columns


def _header(content: str, path: Path, delimiter: str, quote: bool) -> list[str]:
    """Return the first row for a delimiter; empty if it can't be read with this delimiter."""
    try:
        return next((row for _, row in csv.rows(content[: 8 * EXCERPT], path, delimiter, quote)), [])
    except InputError:
        return []


def _readable(content: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows up to the first that can't be read."""
    try:
        yield from csv.rows(content, path, delimiter)
    except InputError:
        return


def _refuse_joined(content: str, path: Path, delimiter: str, count: int, line: int, cure: str) -> None:
    """Refuse a quoted cell over several lines, if each line of the file is also a whole row without the quotation marks."""
    if all(len(row) == count for _, row in csv.rows(content, path, delimiter, quote=False)):
        found = "a quotation mark that joins this line to the next ones"
        raise InputError(f"{path}, line {line}", found, "each cell on one line", cure)


# The names, and the pairs of values, of columns that may say which of two sentences is good.
NAMES = (
    "acceptable", "answer", "better", "choice", "chosen", "correct", "gold", "grammatical", "label", "labels", "preference",
    "preferred", "target", "winner",
)  # fmt: skip
_DECIDING = ({"0", "1"}, {"1", "2"}, {"a", "b"}, {"true", "false"})
NONE = "none"
_NUMBERS = {"0": 0, "1": 1}
_PART = re.compile(r"_|(?<=\d)(?=\D)|(?<=\D)(?=\d)")


def meaning(columns: Sequence[str], pair: tuple[str, str], found: Iterable[str], values: str) -> Mapping[str, int]:
    """Map labels, in lower case, to the column with the good sentence: 0 the first of the pair, 1 the second.

    A label names a column, by its name or by the part in which the two names differ. 0 and 1 count the columns, unless it may
    be otherwise: the names are numbered from 1, the columns stand in the other order, or all labels that are `found` are 1,
    which may count from 1. `values` says what can't be told.

    >>> meaning(("id", "sentence_A", "sentence_B"), ("sentence_A", "sentence_B"), ("A", "B"), "")
    {'sentence_a': 0, 'a': 0, 'sentence_b': 1, 'b': 1}
    """
    if values:
        listed = [value.strip().lower() for value in values.split(",")]
        if len(set(listed)) != 2 or len(listed) != 2 or "" in listed:
            raise UsageError("values", repr(values), "two labels with a comma between them, such as 1,2")
        return {value: place for place, value in enumerate(listed)}
    names = _pair_names(pair)
    labels = {label.lower() for label in found}
    numbers = _NUMBERS.keys() & labels
    if not numbers or (numbers <= names.keys() and (labels != {"1"} or "0" in names)):
        return names
    in_order = list(columns).index(pair[0]) < list(columns).index(pair[1])
    return _NUMBERS | names if in_order and labels != {"1"} and not {"0", "1"} & names.keys() else {}


def side(meant: Mapping[str, int], cell: object, pair: tuple[str, str], place: str) -> int:
    """Return the place in the pair of the column that a label means."""
    value = shape.plain(cell).strip()
    if (number := meant.get(value.lower())) is not None:
        return number
    found = repr(value[:60]) if value else "an empty cell"
    expected = f"{of(meant, 0)} if the sentence in {pair[0]!r} is good, {of(meant, 1)} if that in {pair[1]!r} is"
    if value and not meant:
        found, expected = f"{found}, which may count the columns from 0 or from 1", "the option values="
    cure = f"Add &values=X,Y if X means that the sentence in {pair[0]!r} is good, and Y the other."
    raise InputError(place, found, expected, cure if value else "")


def of(meant: Mapping[str, int], place: int) -> str:
    """Return the labels that mean a column of the pair, for people."""
    return " or ".join(label for label, which in meant.items() if which == place)


def refuse_unused(table: Table, pair: tuple[str, str], used: Sequence[str], known: bool) -> None:
    """Refuse a table in which a column that is not used may say which sentence is good."""
    # If the names of the pair say it, too (`known`), a column may contradict them that has a name and values of such
    # columns, or both names as its values.
    names = {label: place for label, place in _pair_names(pair).items() if not label.isdecimal()}
    found = {name: _values(table, name) for name in table.columns if name not in used}
    named = [name for name, values in found.items() if values and name.strip().lower() in NAMES]
    if known:
        labels = [name for name in named if found[name] in _DECIDING]
        labels += [name for name, values in found.items() if {names.get(value) for value in values} == {0, 1}]
    else:
        of_pair = [name for name, values in found.items() if values and values <= names.keys()]
        labels = [*named, *(name for name, values in found.items() if values in _DECIDING), *of_pair]
    if labels := list(dict.fromkeys(labels)):
        more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
        shown = f"columns that may say which sentence is good: {', '.join(map(repr, labels[:3]))}{more}"
        options = f"{table.path.name}?good={pair[0]}&bad={pair[1]}&label="
        meant = meaning(table.columns, pair, found[labels[0]], "")
        is_clear = found[labels[0]] <= meant.keys()
        column, first, second = (
            (labels[0], of(meant, 0), of(meant, 1)) if is_clear else (f"{labels[0]}&values=X,Y", "X", "Y")
        )
        cure = f"Write {options}{column} if {first} there means that the sentence in {pair[0]!r} is good, and {second} the "
        cure += f"other; write {options}{NONE} if {pair[0]!r} always has the good one."
        raise InputError(str(table.path), shown, "the option label=", cure)


def _pair_names(pair: tuple[str, str]) -> dict[str, int]:
    """Map what may name either column, in lower case, to its place in the pair."""
    parts = [_PART.split(plain(name)) for name in pair]
    for end in (0, -1):
        while all(parts) and parts[0][end] == parts[1][end]:
            for part in parts:
                part.pop(end)
    own = ["_".join(part) if all(parts) else "" for part in parts]
    spelled = [(name.strip().lower(), plain(name), part) for name, part in zip(pair, own, strict=True)]
    return {label: place for place in (0, 1) for label in spelled[place] if label and label not in spelled[1 - place]}


def _values(table: Table, name: str) -> set[str]:
    """Return the values of a column in lower case, without empty cells; no more than are needed to see that they are many."""
    values: set[str] = set()
    for cell in table.cells(name):
        values.add(cell.lower())
        if len(values) > 2:
            break
    return values
