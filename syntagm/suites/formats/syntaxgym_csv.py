"""SyntaxGym suites as CSV, released along with the JSON files: one region per row, without predictions.

    item_number,condition_name,region_number,region_name,content
    1,plural,1,subject,The keys

Sentences are joined as in the JSON form. Region names become the tags `region.N`. The suite is named after the file.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from syntagm.core import InputError, atomic, csv, shape, utf8
from syntagm.suites.formats import syntaxgym
from syntagm.suites.suite import Item, Suite

ENDINGS = (".csv",)
WRITES = (".csv",)
HOLDS_PREDICTIONS = False
COLUMNS = ["item_number", "condition_name", "region_number", "region_name", "content"]

Row = tuple[int, list[str]]


def claims(path: Path, head: str) -> bool:
    """Return whether the text begins with the five column names."""
    return head.split("\n", 1)[0].rstrip("\r") == ",".join(COLUMNS)


def read(path: Path, *, joined: str = "main") -> Iterator[Suite]:
    """Read the suite of a file. It has no predictions.

    Arguments:
        path: the file.
        joined: `main` or `hub`; see `syntaxgym`.

    Raises:
        InputError: the columns differ, or regions are not numbered 1, 2, 3 ...; the message names the line.
    """
    rows = [_checked(row, line, path) for line, row in csv.under(COLUMNS, utf8.read(path), path, blanks=True)]
    items = []
    for _, group in groupby(rows, key=lambda row: row[1][0]):
        items.append(_item(list(group), path, joined))
        shape.count(len(items), path)
    yield Suite(path.stem, tuple(items), (), _labels(rows, path))


def write(suites: Sequence[Suite], path: Path) -> None:
    """Write the items of a suite. The format can store neither predictions nor tags other than region names.

    Raises:
        InputError: there is more than one suite, or the regions of a sentence are not named 1 to n.
    """
    if len(suites) != 1:
        raise InputError(str(path), f"{len(suites)} suites", "one suite", "Write each to a separate file.")
    suite = suites[0]
    rows: list[list[object]] = [list(COLUMNS)]
    for item in suite.items:
        item_json = syntaxgym.item_json(item, f"suite {suite.name}, item {item.id}")
        for condition in item_json["conditions"]:
            for region in condition["regions"]:
                number = region["region_number"]
                label = suite.tags.get(f"region.{number}", "")
                rows.append([item.id, condition["condition_name"], number, label, region["content"]])
    atomic.write(path, csv.plain(rows, ",", blanks=True).encode())


def _checked(row: list[str], line: int, path: Path) -> Row:
    if not (row[2].isdecimal() and row[2].isascii() and len(row[2]) < 10):
        raise InputError(f"{path}, line {line}", f"region_number {row[2]!r}", "an integer")
    return line, row


def _item(rows: Sequence[Row], path: Path, joined: str) -> Item:
    conditions: list[dict[str, Any]] = []
    for name, group in groupby(rows, key=lambda row: row[1][1]):
        regions = [{"region_number": int(row[2]), "content": row[4]} for _, row in group]
        conditions.append({"condition_name": name, "regions": regions})
    line, (identifier, *_) = rows[0]
    value = {"item_number": syntaxgym.number(identifier), "conditions": conditions}
    return syntaxgym.item_of(value, f"{path}, line {line}", joined)


def _labels(rows: Sequence[Row], path: Path) -> dict[str, str]:
    labels: dict[str, str] = {}
    for line, (_, _, number, label, _) in rows:
        if labels.setdefault(f"region.{int(number)}", label) != label:
            expected = f"{labels[f'region.{int(number)}']!r} as above"
            raise InputError(
                f"{path}, line {line}", f"region {number} is called {label!r}", expected, "Give it one name."
            )
    return {key: label for key, label in labels.items() if label}
