"""Published datasets: what they are, how they are read, and which of them a file belongs to.

The list is `datasets.toml`. It tells the languages of files, and the page about datasets is written from it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from syntagm.core import toml, utf8
from syntagm.suites.languages import tags

LIST = Path(__file__).parent / "datasets.toml"
TRIED = {
    "file": "on published files",
    "sample": "on the first rows of published files",
    "layout": "on files written here in this layout",
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """A published dataset, as `datasets.toml` describes it."""

    name: str
    paper: str  # the authors and the year
    language: str  # the tag of its language; "" if it has several
    shown: str  # the languages, for people
    size: str  # suites and pairs
    licence: str  # the licence of the data
    layout: str  # the layout of its files
    convention: str  # how its authors score it
    # The name of that convention, as in `evaluation.conventions`, or "bits" if it is that of the suites' own
    # predictions; "" if no convention is.
    scored: str
    read: str  # `as is`, or what has to be named
    tried: str  # a key of `TRIED`
    format: str  # the format that reads it; "" if files are not recognised as belonging to it
    columns: tuple[str, ...]  # the columns that each of its files has
    file: str  # a pattern of paths; "" for any. Its group, if it has one, names the language.


@cache
def listed() -> tuple[Dataset, ...]:
    """Return the datasets of the list, in its order.

    >>> [dataset.language for dataset in listed() if dataset.name == "TurBLiMP"]
    ['tr']
    """
    place = str(LIST)
    rows = toml.need(toml.read(utf8.read(LIST), place)["dataset"], list, place)
    return tuple(
        Dataset(
            row["name"], row["paper"], row["language"], row.get("shown", row["language"]), row["size"], row["licence"],
            row["layout"], row["convention"], row.get("scored", "bits"), row["read"], row["tried"],
            row.get("format", ""), tuple(row.get("columns", ())), row.get("file", ""),
        )
        for row in rows
    )  # fmt: skip


def dataset_of(file: Path, format: str, columns: Sequence[str]) -> tuple[Dataset | None, str]:
    """Return the dataset that a file belongs to, and the tag of the file's language; None and "" if it is of none of the list."""
    # A file of a dataset that doesn't say its language may belong to another one that does.
    path = file.as_posix()
    first: Dataset | None = None
    for dataset in listed():
        if dataset.format != format or not set(dataset.columns) <= set(columns):
            continue
        if not (match := re.search(dataset.file, path)):
            continue
        if dataset.language:
            return dataset, tags.find(dataset.language).tag
        if match.re.groups and match[1] and (found := tags.named_in(match[1])):
            return dataset, found
        first = first or dataset
    return first, ""
