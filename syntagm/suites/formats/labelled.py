"""Tables with a sentence and a label in each row, of which two rows are a pair: BLiMP-NL's tables, and others by options.

    Paradigm,Item,Grammaticality,Sentence
    c-command,1,Grammatical,Ik haatte mezelf.
    c-command,1,Ungrammatical,Mijn moeder haatte mezelf.

The columns are recognised by their names if the first labels are known ones: those of the sentences (`Sentence`, `text`), of
the labels (`Grammaticality`, `acceptability`, `acceptable`, `is_acceptable`, `grammatical`, `is_grammatical`; `label` if the
labels are words such as grammatical and ungrammatical), and the one that says which rows belong together (`pair_id`, `pair`;
`Item`, if an item has several of the first rows). A table that is recognised is one of pairs: a pair has one row with each
label, and any other is refused. Options name other columns: `rows.csv?sentence=S&label=L&item=I`; `item=next` pairs each two
rows that follow each other, in either order. The column `Paradigm`, `suite` or `UID` has the name of the suite.

A cell that both rows of a pair share becomes a tag of the item; where they differ, the tags are `NAME_good` and `NAME_bad`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, shape, utf8
from syntagm.suites.formats import _pair, _table
from syntagm.suites.suite import Item, Sentence, Suite

ENDINGS = (".csv", ".tsv", ".jsonl")
NEXT = "next"
SENTENCES = ("sentence", "text", "sent")
# The last may say anything: its values have to be words for (un)grammatical.
LABELS = (
    "grammaticality", "acceptability", "acceptable", "is_acceptable", "grammatical", "is_grammatical", "judgement", "judgment",
    "label",
)  # fmt: skip
# These say that rows are pairs; an item can also have one row, or one for each condition.
PAIRS = ("pair_id", "pairid", "pair")
ITEMS = (*PAIRS, "item", "item_id")
SUITES = ("paradigm", "suite", "uid")
# Labels, in lower case. An option can name others: `good=ok`.
GOOD = ("grammatical", "acceptable", "good", "correct", "true", "1")
BAD = ("ungrammatical", "unacceptable", "bad", "incorrect", "wrong", "false", "0", "*")
# Labels that also stand for other things than sentences that are good and bad.
_NUMBERS = ("true", "1", "false", "0")
_KNOWN = frozenset((*GOOD, *BAD))
_NUMBER = re.compile(r"[-+]?[\d.,]*\d(e[-+]?\d+)?", re.IGNORECASE)

Row = tuple[int, dict[str, Any]]


def claims(path: Path, head: str) -> bool:
    """Return whether this is a table of known columns with known labels, some of whose rows belong together.

    Whether each pair has one row with each label is no question here: a table of pairs with a damaged one would otherwise be
    taken for something else.
    """
    if path.suffix not in ENDINGS or not any(name in head[:4000].lower() for name in ("pair", "item")):
        return False
    table = _table.excerpt(path, head, _has_known)
    return has_labels(table) and (first(table.columns, PAIRS) != "" or repeated(table) is not None)


def has_labels(table: _table.Table) -> bool:
    """Return whether a table has the known columns, and known labels; 1 and 0 under `label` may be those of anything."""
    if not _has_known(table.columns):
        return False
    label = first(table.columns, LABELS)
    known = [value.lower() in _KNOWN for value in table.cells(label)]
    unknown = {value for value in table.cells(label) if value.lower() not in _KNOWN}
    if label.strip().lower() == "label" and any(value.lower() in _NUMBERS for value in table.cells(label)):
        return False
    # A slip in one label is refused by its line; numbers beside 1 and 0 are ratings.
    return 2 * sum(known) > len(known) and not any(_NUMBER.fullmatch(value) for value in unknown)


def repeated(table: _table.Table) -> tuple[str, str, list[int]] | None:
    """Return the column of items, the first item that has several rows, and their numbers; None if each item has one row."""
    _, _, item, suite = _chosen(table.columns, {})
    rows: dict[tuple[str, str], list[int]] = {}
    for number, row in table.rows:
        key = tuple(shape.plain(row.get(name, "")).strip() if name else "" for name in (suite, item))
        rows.setdefault((key[0], key[1]), []).append(number)
    return next(((item, key, found) for (_, key), found in rows.items() if key and len(found) > 1), None)


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the columns that become tags."""
    table = _excerpt(path, head, options)
    used = {*_chosen(table.columns, options), ""}
    return [name for name in table.columns if name not in used]


def read_as(path: Path, head: str, **options: str) -> str:
    table = _excerpt(path, head, options)
    sentence, label, item, suite = _chosen(table.columns, options)
    together = "each two rows" if item == NEXT else f"the rows with the same {item}"
    found = dict.fromkeys(value for value in table.cells(label) if value.lower() in GOOD)
    good = options.get("good") or "/".join(found) or "/".join(GOOD)
    return f"sentence: {sentence}, good where {label} is {good}, pairs: {together}, suite: {suite or 'the file'}"


def read(
    path: Path,
    *,
    sentence: str = "",
    label: str = "",
    good: str = "",
    item: str = "",
    suite: str = "",
    delimiter: str = "",
) -> Iterator[Suite]:
    """Read the suites of a table.

    Arguments:
        path: the file.
        sentence: the column of the sentences.
        label: the column that says whether a sentence is good.
        good: the label of good sentences; all other rows are bad ones. By default, labels are known words or 1 and 0.
        item: the column whose value two rows share; `next` pairs each two rows that follow each other.
        suite: the column with the names of suites.
        delimiter: the separator of cells: a character, `tab`, `comma` or `semicolon`.

    Raises:
        InputError: a label is unknown, or a pair doesn't consist of one good and one bad sentence; the message names the
            line.
        UsageError: an option names a column that does not exist, or a column is not known.
    """
    options = {"sentence": sentence, "label": label, "item": item, "suite": suite}

    def is_header(columns: Sequence[str]) -> bool:
        return _has_known(columns) or (bool(sentence) and sentence in columns)

    table = _table.read(utf8.read(path), path, is_header, delimiter)
    text, labelled, joined, named = _chosen(table.columns, options)
    for option, name in (("sentence", text), ("label", labelled), ("item", joined), ("suite", named)):
        if not name and option != "suite":
            listed = ", ".join(map(repr, table.columns[:20]))
            cure = f"Name it, as in {path.name}?format=labelled&sentence=COLUMN&label=COLUMN&item=COLUMN; item=next pairs rows"
            raise UsageError(f"{path}, {option}", f"no such column among {listed}", "a column", f"{cure} that follow.")
        if name and name not in table.columns and not (option == "item" and name == NEXT):
            raise UsageError(str(path), f"no column {name!r}", "one of " + ", ".join(map(repr, table.columns)))
    if not sentence:
        refuse_two_texts(table)
    if not label:
        _refuse_contradiction(table, labelled)
    used = {text, labelled, "", *({joined} if joined != NEXT else ()), *({named} if named.lower() == "suite" else ())}
    items = []
    single = f"{path.name}?format=judgements&sentence={text}&label={labelled}"
    for index, (key, rows) in enumerate(_pairs(table, joined, named)):
        sides = _sides(table, rows, labelled, good, single)
        place = table.place(sides["good"][0])
        name = _table.name(sides["good"][1], named, place) if named else path.stem
        sentences = {
            side: Sentence(_table.text(row, text, table.place(number))) for side, (number, row) in sides.items()
        }
        items.append((name.strip(), Item(key or str(index), sentences, _tags(sides, used))))
    yield from _pair.suites(items, None, str(path))


def _has_known(columns: Sequence[str]) -> bool:
    return all(first(columns, names) for names in (SENTENCES, LABELS, ITEMS))


def first(columns: Sequence[str], names: Sequence[str]) -> str:
    """Return the column with the first of some names that there is; "" if there is none."""
    return next((column for name in names if (column := column_of(columns, name))), "")


def column_of(columns: Sequence[str], name: str) -> str:
    """Return the only column that a known name means, however it is spelled; "" if there is none, or several."""
    found = [column for column in columns if _table.plain(column) == name or column.strip().lower() == name]
    return found[0] if len(found) == 1 else ""


def _excerpt(path: Path, head: str, options: dict[str, str]) -> _table.Table:
    return _table.excerpt(path, head, lambda columns: _has_known(columns) or options.get("sentence") in columns)


def _chosen(columns: Sequence[str], options: dict[str, str]) -> tuple[str, str, str, str]:
    """Return the columns of sentence, label, pair and suite, by the options or else by their known names."""
    sentence, label, item, suite = (options.get(name, "") for name in ("sentence", "label", "item", "suite"))
    return (
        sentence or first(columns, SENTENCES),
        label or first(columns, LABELS),
        item or first(columns, ITEMS),
        suite or first(columns, SUITES),
    )


def _pairs(table: _table.Table, item: str, suite: str) -> Iterator[tuple[str, list[Row]]]:
    if item == NEXT:
        for first in range(0, len(table.rows), 2):
            yield "", list(table.rows[first : first + 2])
        return
    groups: dict[tuple[str, str], list[Row]] = {}
    for number, row in table.rows:
        key = _table.name(row, item, table.place(number)).strip()
        name = shape.plain(row.get(suite, "")).strip() if suite else ""
        groups.setdefault((name, key), []).append((number, row))
    for (_, key), rows in groups.items():
        yield key, rows


def pairing(table: _table.Table, label: str, used: Sequence[str]) -> str:
    """Return a column that divides most rows into twos of one good and one bad sentence; "" if there is none."""
    for column in table.columns:
        if column in used:
            continue
        groups: dict[str, list[bool]] = {}
        for _, row in table.rows:
            if key := shape.plain(row.get(column, "")).strip():
                groups.setdefault(key, []).append(shape.plain(row.get(label, "")).strip().lower() in GOOD)
        whole = sum(sorted(sides) == [False, True] for sides in groups.values())
        if whole > 1 and 4 * whole > len(table.rows):
            return column
    return ""


def refuse_two_texts(table: _table.Table) -> None:
    """Refuse a table with two columns that may hold the sentences."""
    found = [
        column for name in SENTENCES if (column := column_of(table.columns, name)) and not table.has_numbers(column)
    ]
    if len(found) > 1:
        cure = f"Name the one that counts, as in {table.path.name}?sentence={found[0]}"
        raise UsageError(
            str(table.path), "the columns " + " and ".join(map(repr, found)), "one of sentences", f"{cure}."
        )


def _refuse_contradiction(table: _table.Table, label: str) -> None:
    """Refuse a table in which another column with the name of labels says something else of a sentence."""
    others = [column for name in LABELS if (column := column_of(table.columns, name)) and column != label]
    for other in others:
        if not {value.lower() for value in table.cells(other)} <= _KNOWN:
            continue
        for number, row in table.rows:
            one, another = (shape.plain(row.get(name, "")).strip().lower() for name in (label, other))
            if one and another and (one in GOOD) != (another in GOOD):
                found = f"{one!r} in the column {label!r} and {another!r} in {other!r}"
                cure = f"Name the column that counts, as in {table.path.name}?format=labelled&label={label}"
                raise InputError(table.place(number), found, "one label of a sentence", f"{cure}.")


def _sides(table: _table.Table, rows: Sequence[Row], label: str, good: str, single: str) -> dict[str, Row]:
    """Return the good and the bad row of a pair; `single` is what to type if rows are no pairs."""
    sides: dict[str, list[Row]] = {"good": [], "bad": []}
    for number, row in rows:
        value = shape.plain(row.get(label, "")).strip()
        if not value:
            raise InputError(f"{table.place(number)}, {label}", "an empty cell", "the label of the sentence")
        is_good = value == good if good else value.lower() in GOOD
        if not good and not is_good and value.lower() not in BAD:
            cure = f"Mend it, or add &good={value} if this is the label of all good sentences."
            expected = "one of " + ", ".join((*GOOD, *BAD))
            raise InputError(f"{table.place(number)}, {label}", repr(value[:60]), expected, cure)
        sides["good" if is_good else "bad"].append((number, row))
    if len(sides["good"]) != 1 or len(sides["bad"]) != 1:
        found = f"{len(sides['good'])} good and {len(sides['bad'])} bad sentences of one pair"
        places = ", ".join(str(number) for number, _ in rows[:4]) + ", ..." * (len(rows) > 4)
        cure = (
            f"Its rows are in {table.unit}s {places}; mend or delete them."
            if len(rows) > 1
            else "Add the other, or delete it."
        )
        cure += f" If each row is a sentence of its own, write {single}"
        raise InputError(table.place(rows[0][0]), found, "one of each", cure)
    return {side: found[0] for side, found in sides.items()}


def _tags(sides: dict[str, Row], used: set[str]) -> dict[str, str]:
    good, bad = (_table.tags(sides[side][1], used) for side in ("good", "bad"))
    tags: dict[str, str] = {}
    for name in dict.fromkeys((*good, *bad)):
        if good.get(name, "").strip() == bad.get(name, "").strip():
            tags[name] = good[name].strip()
        else:
            tags |= {
                f"{name}_{side}": cells[name].strip() for side, cells in (("good", good), ("bad", bad)) if name in cells
            }
    return {name: cell for name, cell in tags.items() if cell}
