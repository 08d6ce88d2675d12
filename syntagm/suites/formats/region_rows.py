"""Long tables with a word or a region in each row: the SAP benchmark's items (Huang et al. 2024), and others by options.

SAP's tables have a row for each word of a sentence, with published surprisals, which are not read. Each sentence has the
regions `before`, `critical` (the word at `disambPosition_0idx`, counted from 0, or at `targetPosition`, counted from 1),
`spillover1`, `spillover2` and `rest`. In the tables of agreement, that word is the one after the verb.

Options name the columns of other tables: `rows.csv?item=I&condition=C&region=R&content=W`. The contents of the rows with
the same item and condition are joined by spaces, in the order of the file; one that begins with `~`, such as `~.`, follows
without a space, as in spreadsheets. Neighbouring rows with the same region are one region, and without the option `region`,
the words are regions called 1, 2, 3 ... Such tables have no predictions; `&predict=FORMULA` adds one, as in
`&predict=(critical;%UNAGREE%) > (critical;%AGREE%)`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import FormulaError, InputError, UsageError, shape, utf8
from syntagm.suites.formats import _table
from syntagm.suites.formats.spreadsheet import ATTACHED
from syntagm.suites.formula import parse
from syntagm.suites.suite import Item, Prediction, Region, Sentence, Suite

ENDINGS = (".csv", ".tsv")
_SAP = ("item", "condition", "Sentence", "word", "word_pos")
# Columns with the place of the critical word -> what they count from.
_PLACES = {"disambPosition_0idx": 0, "targetPosition": 1}
_SPANS = ("before", "critical", "spillover1", "spillover2", "rest")

Rows = Sequence[tuple[int, dict[str, Any]]]


def claims(path: Path, head: str) -> bool:
    """Return whether the header has the columns of SAP's items."""
    first = head.lstrip("\ufeff").split("\n", 1)[0]
    if path.suffix not in ENDINGS or not all(name in first for name in _SAP):
        return False
    return _is_sap(_table.excerpt(path, head, _is_sap).columns)


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the columns that are not read."""
    table = _table.excerpt(path, head, _is_sap, options.get("delimiter", ""))
    named = [options.get(name) for name in ("item", "condition", "region", "content")]
    used = {*(named if any(named) else (*_SAP, *_PLACES)), ""}
    return [name for name in table.columns if name not in used]


def read_as(path: Path, head: str, **options: str) -> str:
    if options.get("content"):
        region = options.get("region") or "each word"
        parts = f"item: {options.get('item')}, condition: {options.get('condition')}, region: {region}"
        scored = f"content: {options['content']}"
    else:
        parts, scored = "item: item, condition: condition, sentence: Sentence", "critical: the word of its position"
    return f"{parts}, {scored}; " + ("one prediction" if options.get("predict") else "no predictions")


def read(
    path: Path,
    *,
    item: str = "",
    condition: str = "",
    region: str = "",
    content: str = "",
    predict: str = "",
    delimiter: str = "",
) -> Iterator[Suite]:
    """Read the suite of a table, which is named after the file.

    Arguments:
        path: the file.
        item: the column with the ids of items.
        condition: the column with the names of conditions.
        region: the column with the names of regions; without it, each row is a region with a number.
        content: the column with the words or the texts of regions.
        predict: a formula over conditions and regions, which becomes the prediction `predicted`.
        delimiter: the separator of cells: a character, `tab`, `comma` or `semicolon`.

    Raises:
        InputError: the rows of one sentence contradict each other, or a region is not in one piece; the message names the
            line.
        UsageError: an option is missing, or names a column that does not exist.
    """
    named = {"item": item, "condition": condition, "content": content}
    given = any(named.values()) or bool(region)

    def is_header(columns: Sequence[str]) -> bool:
        return item in columns if given else _is_sap(columns)

    table = _table.read(utf8.read(path), path, is_header, delimiter)
    if not given and not _is_sap(table.columns):
        cure = f"Name the columns: {path.name}?format=region_rows&item=COLUMN&condition=COLUMN&region=COLUMN&content=COLUMN"
        raise UsageError(
            str(path), "the columns " + ", ".join(map(repr, table.columns[:20])), "columns of SAP's items", cure
        )
    if given and (missing := [name for name, column in named.items() if not column]):
        raise UsageError(str(path), f"no option {missing[0]}=", "item=, condition= and content=")
    columns = (item, condition, content, region) if given else _SAP
    for name in filter(None, columns):
        if name not in table.columns:
            raise UsageError(str(path), f"no column {name!r}", "one of " + ", ".join(map(repr, table.columns)))
    groups: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = {}
    for number, row in table.rows:
        place = table.place(number)
        key = (_table.name(row, columns[0], place).strip(), _table.name(row, columns[1], place).strip())
        groups.setdefault(key, []).append((number, row))
    items: dict[str, dict[str, Sentence]] = {}
    for (identifier, name), rows in groups.items():
        sentence = _joined(table, rows, content, region) if given else _marked(table, rows)
        items.setdefault(identifier, {})[name] = sentence
        shape.count(len(items), path)
    if not items:
        raise InputError(str(path), "no rows", "at least one sentence")
    found = tuple(Item(identifier, sentences) for identifier, sentences in items.items())
    yield Suite(path.stem, found, _predictions(predict))


def _is_sap(columns: Sequence[str]) -> bool:
    return set(_SAP) <= set(columns) and any(name in columns for name in _PLACES)


def _predictions(formula: str) -> tuple[Prediction, ...]:
    if not formula:
        return ()
    try:
        return (Prediction("predicted", parse(formula)),)
    except FormulaError as error:
        raise UsageError(f"predict, {error.place}", error.found, error.expected, error.cure) from None


def _joined(table: _table.Table, rows: Rows, content: str, region: str) -> Sentence:
    contents = [shape.plain(row.get(content, "")).strip() for _, row in rows]
    regions_of = [shape.plain(row.get(region, "")) if region else "" for _, row in rows]
    repeated = Counter(zip(regions_of, contents, strict=True))
    if len(repeated) > 1 and (times := min(repeated.values())) > 1:
        found = f"the sentence {' '.join(cell for _, cell in repeated)[:60]!r} {times} times"
        cure = "Keep the rows of one person, if these are answers."
        raise InputError(table.place(rows[0][0]), found, "each once", cure)
    text, regions = "", list[Region]()
    for count, (number, row) in enumerate(rows, 1):
        place = table.place(number)
        cell = contents[count - 1]
        name = _table.name(row, region, place).strip() if region else str(count)
        space = " " if text and cell and not cell.startswith(ATTACHED) else ""
        cell = cell.removeprefix(ATTACHED)
        start = len(text + space)
        text += space + cell
        end = len(text) if cell else start
        if regions and regions[-1].name == name:
            regions[-1] = Region(name, regions[-1].start if regions[-1].start < regions[-1].end else start, end)
        elif any(other.name == name for other in regions):
            raise InputError(
                f"{place}, {region}", f"the region {name!r} again, after another one", "its rows in one piece"
            )
        else:
            regions.append(Region(name, start, end))
    shape.sentence(text, table.place(rows[0][0]))
    return Sentence(text, tuple(regions))


def _marked(table: _table.Table, rows: Rows) -> Sentence:
    """Return a sentence of SAP with its critical word and the words around it."""
    first, row = rows[0]
    place = table.place(first)
    text = _table.text(row, "Sentence", place)
    column = next(name for name in _PLACES if name in table.columns)
    position, least = shape.plain(row.get(column, "")).strip(), _PLACES[column]
    for number, other in rows:
        if other.get("Sentence") != text or shape.plain(other.get(column, "")).strip() != position:
            found = "another sentence or position than in the first row of this item and condition"
            raise InputError(table.place(number), found, f"as in {table.unit} {first}")
    words = _words(text)
    is_number = position.isascii() and position.isdecimal() and len(position) < 10
    if not is_number or not 0 <= int(position) - least < len(words):
        expected = f"the number of a word, from {least} to {len(words) - 1 + least}"
        raise InputError(f"{place}, {column}", repr(position[:60]), expected)
    at = int(position) - least
    spans = (words[:at], words[at : at + 1], words[at + 1 : at + 2], words[at + 2 : at + 3], words[at + 3 :])
    regions, last = [], 0
    for name, span in zip(_SPANS, spans, strict=True):
        start, end = (span[0][0], span[-1][1]) if span else (last, last)
        regions.append(Region(name, start, end))
        last = end
    return Sentence(text, tuple(regions))


def _words(text: str) -> list[tuple[int, int]]:
    found, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        found.append((start, start + len(word)))
        start += len(word)
    return found
