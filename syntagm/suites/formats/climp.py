"""CLiMP (Xiang et al. 2021): CSV with phenomenon, paradigm, sentence and label, under the header `,0,1,2,3`.

The label is 1 for good sentences and 0 for bad ones. The two rows of a pair follow each other, in either order. Each
paradigm is a suite.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from syntagm.core import InputError, csv, shape, utf8
from syntagm.suites.formats import _pair
from syntagm.suites.suite import Item, Sentence, Suite

ENDINGS = (".csv",)
_HEADER = ["", "0", "1", "2", "3"]

Row = tuple[int, list[str]]


def claims(path: Path, head: str) -> bool:
    """Return whether the text begins with the five column names."""
    return head.split("\n", 1)[0].rstrip("\r") == ",".join(_HEADER)


def read(path: Path) -> Iterator[Suite]:
    """Read the suites of a file, one for each paradigm. The pairs of each are numbered from 0.

    Raises:
        InputError: the columns differ, or a row has no partner; the message names the line.
    """
    rows = list(csv.under(_HEADER, utf8.read(path), path))
    if len(rows) % 2:
        raise InputError(str(path), f"{len(rows)} rows", "an even number of rows", "One row lacks its partner.")
    shape.count(len(rows) // 2, path)
    items: list[tuple[str, Item]] = []
    numbers: dict[str, int] = {}
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        phenomenon, paradigm, sentences = _sentences((first, second), path)
        number = numbers[paradigm] = numbers.get(paradigm, -1) + 1
        items.append((paradigm, Item(str(number), sentences, {"phenomenon": phenomenon})))
    yield from _pair.suites(items, None, str(path))


def _sentences(rows: Sequence[Row], path: Path) -> tuple[str, str, dict[str, Sentence]]:
    line = rows[0][0]
    for number, row in rows:
        if not row[3].strip():
            raise InputError(f"{path}, line {number}", "an empty sentence", "text")
    texts = {row[4].strip(): Sentence(shape.sentence(row[3], f"{path}, line {number}")) for number, row in rows}
    names = {(row[1], row[2]) for _, row in rows}
    if set(texts) != {"0", "1"} or len(names) != 1:
        found = f"labels {' and '.join(row[4] for _, row in rows)} in {' and '.join(row[2] for _, row in rows)}"
        raise InputError(f"{path}, line {line}", found, "a pair: labels 1 and 0 in one paradigm")
    phenomenon, paradigm = names.pop()
    return phenomenon, paradigm, {"good": texts["1"], "bad": texts["0"]}
