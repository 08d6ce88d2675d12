"""COMPS (Misra et al. 2023): JSON lines with two prefixes and one property, compared by BLiMP's two-prefix method.

The property phrase should be more likely after `prefix_acceptable` than after `prefix_unacceptable`.
"""

from collections.abc import Iterator
from pathlib import Path

from syntagm.core import json, shape, utf8
from syntagm.suites.formats import _pair, _table
from syntagm.suites.suite import Item, Suite

ENDINGS = (".jsonl",)
_FIELDS = ("prefix_acceptable", "prefix_unacceptable", "property_phrase")


def claims(path: Path, head: str) -> bool:
    """Return whether these are JSON lines with the three fields."""
    first = head.lstrip().split("\n", 1)[0]
    return first.startswith("{") and all(f'"{name}"' in first for name in _FIELDS)


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the fields that become tags."""
    return [name for name in _table.excerpt(path, head).columns if name not in (*_FIELDS, "id")]


def read(path: Path) -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file.

    The field `id` is the id of an item; the default is its number, from 0. Other fields are tags.

    Raises:
        InputError: a field is missing or empty; the message names the line.
    """
    items = []
    for index, (line, row) in enumerate(json.objects(utf8.read(path), path)):
        place = f"{path}, line {line}"
        good, bad, word = (shape.field(row, name, str, place).strip() for name in _FIELDS)
        texts = [shape.sentence(f"{prefix} {word}".strip(), place) for prefix in (good, bad)]
        sentences = _pair.regions(texts[0], texts[1], "two_prefix", (good, bad, word), place)
        tags = {name: shape.plain(value) for name, value in row.items() if name not in (*_FIELDS, "id")}
        items.append((path.stem, Item(shape.plain(row.get("id", index)), sentences, tags)))
        shape.count(len(items), path)
    yield from _pair.suites(items, "two_prefix", str(path))
