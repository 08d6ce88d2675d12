"""EWoK (Ivanova et al. 2024): two contexts and two targets, where each target should be more likely in its own context.

The file is a table with the columns Context1, Context2, Target1, Target2. The four conditions `c1_t1`, `c1_t2`, `c2_t1`,
`c2_t2` are a context followed by a target, with the regions `context` and `target`. The paper gives half a point for each
of two comparisons:

    target1: P(Target1 | Context1) > P(Target1 | Context2)
    target2: P(Target2 | Context2) > P(Target2 | Context1)

The paper's score is therefore the mean of the two predictions. (BabyLM compares two targets in one context. That is a
different measure, which this format does not offer.)
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import InputError, shape, utf8
from syntagm.suites.formats import _table
from syntagm.suites.formula import parse
from syntagm.suites.suite import Item, Prediction, Region, Sentence, Suite

ENDINGS = (".csv", ".tsv", ".jsonl", ".json")
_COLUMNS = ("Context1", "Context2", "Target1", "Target2")
_PREDICTIONS = (
    Prediction("target1", parse("(target;%c1_t1%) < (target;%c2_t1%)")),
    Prediction("target2", parse("(target;%c2_t2%) < (target;%c1_t2%)")),
)


def claims(path: Path, head: str) -> bool:
    """Return whether the first line of the text has the names of the four columns."""
    first = head.lstrip().split("\n", 1)[0]
    return all(name in first for name in _COLUMNS)


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the columns that become tags."""
    columns = _table.excerpt(path, head, _has_columns, options.get("delimiter", "")).columns
    return [name for name in columns if name not in (*_COLUMNS, "id", "Domain", "")]


def read(path: Path, *, delimiter: str = "") -> Iterator[Suite]:
    """Read the suites of a file: one for each value of `Domain` or, without this column, one named after the file.

    Arguments:
        path: the file: CSV, TSV, JSON lines or a JSON list.
        delimiter: the separator of cells, if it is neither a tab nor `,` nor `;`.

    Raises:
        InputError: a context or target is missing or empty; the message names the line.
    """
    table = _table.read(utf8.read(path), path, _has_columns, delimiter)
    suites: dict[str, list[Item]] = {}
    for index, (number, row) in enumerate(table.rows):
        place = table.place(number)
        name = _table.name(row, "Domain", place) if "Domain" in table.columns else path.stem
        suites.setdefault(name, []).append(_item(row, index, place))
    if not suites:
        raise InputError(str(path), "no items", "at least one item")
    for name, items in suites.items():
        yield Suite(name, tuple(items), _PREDICTIONS)


def _has_columns(names: Sequence[str]) -> bool:
    return set(_COLUMNS) <= set(names)


def _item(row: dict[str, Any], index: int, place: str) -> Item:
    cells = {name: _table.text(row, name, place).strip() for name in _COLUMNS}
    sentences = {
        f"c{context}_t{target}": _sentence(cells[f"Context{context}"], cells[f"Target{target}"], place)
        for context in "12"
        for target in "12"
    }
    return Item(shape.plain(row.get("id", "")) or str(index), sentences, _table.tags(row, (*_COLUMNS, "id", "")))


def _sentence(context: str, target: str, place: str) -> Sentence:
    text = shape.sentence(f"{context} {target}", place)
    return Sentence(text, (Region("context", 0, len(context)), Region("target", len(context) + 1, len(text))))
