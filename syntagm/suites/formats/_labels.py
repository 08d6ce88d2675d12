"""Columns that say which of the two sentences in a row is the good one, and the labels in them."""

import re
from collections.abc import Iterable, Mapping, Sequence

from syntagm.core import InputError, UsageError, shape
from syntagm.suites.formats import _table

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
    names = _names(pair)
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


def refuse_unused(table: _table.Table, pair: tuple[str, str], used: Sequence[str], known: bool) -> None:
    """Refuse a table in which a column that is not used may say which sentence is good."""
    # If the names of the pair say it, too (`known`), a column may contradict them that has a name and values of such
    # columns, or both names as its values.
    names = {label: place for label, place in _names(pair).items() if not label.isdecimal()}
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


def _names(pair: tuple[str, str]) -> dict[str, int]:
    """Map what may name either column, in lower case, to its place in the pair."""
    parts = [_PART.split(_table.plain(name)) for name in pair]
    for end in (0, -1):
        while all(parts) and parts[0][end] == parts[1][end]:
            for part in parts:
                part.pop(end)
    own = ["_".join(part) if all(parts) else "" for part in parts]
    spelled = [(name.strip().lower(), _table.plain(name), part) for name, part in zip(pair, own, strict=True)]
    return {label: place for place in (0, 1) for label in spelled[place] if label and label not in spelled[1 - place]}


def _values(table: _table.Table, name: str) -> set[str]:
    """Return the values of a column in lower case, without empty cells; no more than are needed to see that they are many."""
    values: set[str] = set()
    for cell in table.cells(name):
        values.add(cell.lower())
        if len(values) > 2:
            break
    return values
