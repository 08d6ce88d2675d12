"""Minimal pairs in any table with one pair per row: TSV, CSV, JSON lines or a JSON list.

    good	bad
    The keys are here.	The keys is here.

The two columns are recognised by their names: good/bad, sentence_good/sentence_bad, good_sentence/bad_sentence,
acceptable/unacceptable, grammatical/ungrammatical, correct/wrong, sen/wrong_sen, source_sentence/target_sentence. Options
name other columns: `pairs.csv?good=right&bad=wrong`. A table without a header has two columns separated by a tab, good
first. The header shows whether cells are separated by a tab, `;` or `,`.

The columns `prefix`, `critical_good` and `critical_bad` add the prediction `one_prefix`; `prefix_good`, `prefix_bad` and
`word` add `two_prefix`. The column `suite`, `paradigm` or `UID` has the name of a pair's suite; the default is the name
of the file. The column `id`, `pairID`, `pair_id` or `item`, or a column without a name, has the id of a pair; the
default is its number, from 0. Other columns are tags.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from syntagm.errors import InputError, UsageError
from syntagm.formats import _pair, _table
from syntagm.io import atomic, csv, shape, utf8
from syntagm.suite import Item, Sentence, Suite

ENDINGS = (".tsv", ".csv", ".txt", ".jsonl", ".json")
WRITES = (".tsv", ".csv")
KNOWN = (
    ("good", "bad"),
    ("sentence_good", "sentence_bad"),
    ("good_sentence", "bad_sentence"),
    ("acceptable", "unacceptable"),
    ("grammatical", "ungrammatical"),
    ("correct", "wrong"),
    ("sen", "wrong_sen"),
    ("source_sentence", "target_sentence"),
)
IDS = ("id", "pairid", "pair_id", "item", "item_id", "item_number", "")
SUITES = ("suite", "paradigm", "uid")
FIELDS = (
    ("one_prefix", ("prefix", "critical_good", "critical_bad")),
    ("two_prefix", ("prefix_good", "prefix_bad", "word")),
    *_pair.FIELDS.items(),
)


def claims(path: Path, head: str) -> bool:
    """Return whether this is a table with a known pair of column names, or with two columns separated by tabs."""
    first = head.lstrip().split("\n", 1)[0].lower()
    if path.suffix in (".json", ".jsonl") or first[:1] in ("[", "{"):
        keys = set(re.findall(r'"([^"\\]*)"\s*:', head.lstrip()[:4096].lower()))
        known = any({good, bad} <= keys for good, bad in KNOWN)
        return known and not (first.startswith("{") and '"sentence_good"' in first)
    for delimiter in _table.DELIMITERS.values():
        cells = [cell.strip('" ') for cell in first.rstrip("\r").split(delimiter)]
        if _names("", "")(cells):
            return True
    return (
        path.suffix in (".tsv", ".txt") and _table.two_columns(head) and first.split("\t")[0] not in ("true", "false")
    )


def read(
    path: Path, *, good: str = "", bad: str = "", id: str = "", suite: str = "", delimiter: str = "", quote: str = "yes"
) -> Iterator[Suite]:
    """Read the suites of a table.

    Arguments:
        path: the file.
        good: the column of the acceptable sentences; required unless its name is a known one.
        bad: the column of the unacceptable sentences; required unless its name is a known one.
        id: the column with the ids of pairs.
        suite: the column with the names of suites.
        delimiter: the separator of cells: a character, `tab`, `comma` or `semicolon`.
        quote: `yes` if quotation marks enclose cells (RFC 4180), `none` if they are ordinary characters.

    Raises:
        InputError: a row has too many or too few cells, a sentence is empty, or prefix fields don't fit the sentence; the
            message names the line.
        UsageError: an option names a column that does not exist.
    """
    if quote not in ("yes", "none"):
        raise UsageError("quote", repr(quote), "yes or none")
    if bool(good) != bool(bad):
        given, missing = ("good", "bad") if good else ("bad", "good")
        raise UsageError(given, f"given without {missing}=", "both good= and bad=")
    table = _table.read(utf8.read(path), path, _names(good, bad), delimiter, quote == "yes")
    columns = table.columns
    pair = (good, bad) if good else _names("", "")(columns)
    for name in (*(pair or ()), *((id,) if id else ()), *((suite,) if suite else ())):
        if name not in columns:
            raise UsageError(str(path), f"no column {name!r}", "one of " + ", ".join(map(repr, columns)))
    if pair is None:
        raise _unknown(path, columns)
    id = id or next((column for name in IDS if (column := _named(columns, name)) is not None), "")
    suite = suite or next((column for name in SUITES if (column := _named(columns, name)) is not None), "")
    yield from _suites(table, pair, id, suite)


def write(suites: Sequence[Suite], path: Path) -> None:
    """Write minimal pairs as a table that can be read back as the same suites.

    Cells are separated by commas if the name of the file ends in .csv, otherwise by tabs. Tags that begin with `json:`
    are skipped, because they only serve the format from which the suites were read.

    Raises:
        InputError: a suite does not consist of minimal pairs, or a tag has the name of a column.
    """
    methods = {suite.name: _pair.method(suite) for suite in suites}
    if len(set(methods.values())) > 1:
        raise InputError(
            str(path), "suites with different prefix methods", "one method", "Write each to a separate file."
        )
    rows = [_row(suite, item, methods[suite.name]) for suite in suites for item in suite.items]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if (in_columns := _method(str(path), columns)[0]) != (method := next(iter(methods.values()), None)):
        raise InputError(
            str(path), f"tags with the names of columns of {in_columns}", f"columns of {method or 'no prefix method'}"
        )
    cells = [columns, *([row.get(name, "") for name in columns] for row in rows)]
    text = csv.plain(cells, "," if path.suffix == ".csv" else "\t")
    atomic.write(path, text.encode())


def _names(good: str, bad: str) -> Callable[[Sequence[str]], tuple[str, str] | None]:
    """Return a function that finds the columns of a pair in a header: `good` and `bad`, or another known pair of names.

    Case is ignored.
    """

    def find(columns: Sequence[str]) -> tuple[str, str] | None:
        for names in [(good, bad)] if good else KNOWN:
            first, second = (_named(columns, name) for name in names)
            if first is not None and second is not None:
                return first, second
        return None

    return find


def _named(columns: Sequence[str], name: str) -> str | None:
    exact = [column for column in columns if column == name]
    return next(iter(exact + [column for column in columns if column.strip().lower() == name]), None)


def _unknown(path: Path, columns: Sequence[str]) -> InputError:
    shown = ", ".join(map(repr, columns[:12])) or "no columns"
    cure = f"Name the columns, as in {path.name}?good=COLUMN&bad=COLUMN."
    return InputError(str(path), shown, "a known pair of columns such as good and bad", cure)


def _suites(table: _table.Table, pair: tuple[str, str], id: str, suite: str) -> Iterator[Suite]:
    method, fields = _method(str(table.path), table.columns)
    used = {*pair, *fields, id if id in table.columns else None, suite if suite.strip().lower() == "suite" else None}
    items = []
    for index, (number, row) in enumerate(table.rows):
        place = table.place(number)
        good, bad = (_cell(row, name, place) for name in pair)
        if method:
            sentences = _pair.regions(good, bad, method, [row.get(name, "") for name in fields], place)
        else:
            sentences = {"good": Sentence(good), "bad": Sentence(bad)}
        tags = {name or "index": cell for name, cell in row.items() if name not in used and cell}
        name = _cell(row, suite, place) if suite else table.path.stem
        items.append((name, Item(row.get(id) or str(index), sentences, tags)))
    return _pair.suites(items, method, str(table.path))


def _method(place: str, columns: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return the prefix method whose columns exist, and these columns."""
    methods = [(method, names) for method, names in FIELDS if set(names) <= set(columns)]
    if len(methods) > 1:
        raise InputError(place, "the columns of two prefix methods", "the columns of one method")
    return methods[0] if methods else (None, ())


def _cell(row: dict[str, str], name: str, place: str) -> str:
    if not row.get(name, "").strip():
        raise InputError(f"{place}, {name}", "an empty cell", "text", "Fill it in or delete the row.")
    return shape.sentence(row[name], f"{place}, {name}")


def _row(suite: Suite, item: Item, method: str | None) -> dict[str, str]:
    place = f"suite {suite.name}, item {item.id}"
    row = {"suite": suite.name, "id": item.id, "good": item.sentences["good"].text, "bad": item.sentences["bad"].text}
    parts = _pair.parts(item, method, f"suite {suite.name}")
    names = next((names for name, names in FIELDS if name == method), ())
    row |= dict(zip(names, parts.values(), strict=True))
    for name, text in {**suite.tags, **item.tags}.items():
        if name in row:
            raise InputError(place, f"a tag called {name!r}", "another name", f"The format reserves {name!r}.")
        if not name.startswith("json:"):
            row[name] = text
    return row
