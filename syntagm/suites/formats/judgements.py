"""Single sentences with judgements: CoLA's layout (Warstadt et al. 2019), and tables with ratings.

    gj04	1		The keys are here.
    gj04	0	*	The keys is here.

Four cells separated by tabs, without a header, are read if the second is 0 or 1 and the third is empty or a mark such as
`*` or `??`. Under a header, the column `sentence` (or `text`, `sent`) and one of `judgement`, `judgment`, `acceptability` of
numbers are recognised: ratings, or labels if all are 0 or 1; and one of `acceptable`, `is_acceptable`, `grammatical`,
`grammaticality` of 0 and 1, true and false, or words such as acceptable and unacceptable. A column `label` is recognised if
it has such words, or beside CoLA's marks in a column `mark` or `diacritic`. Labelled rows of one item or pair are the format
`labelled`. Options name other columns: `?sentence=S&label=L` for 0 and 1, `?sentence=S&rating=R` for ratings.

Each item has the one condition `sentence`, and the tags `label` (1 acceptable, 0 not) or `rating`. A suite has no
predictions: run it with `--measure "surprisal(condition=sentence)"`; `syntagm table judgements RUN` then shows accuracy by
a threshold, MCC, AUC, and the correlation with ratings.
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, csv, shape, utf8
from syntagm.suites.formats import _table, labelled
from syntagm.suites.suite import Item, Sentence, Suite

ENDINGS = (".tsv", ".csv", ".jsonl", ".json", ".txt")
CONDITION = "sentence"
RATINGS = (
    "judgement", "judgment", "acceptability", "acceptable", "is_acceptable", "grammatical", "is_grammatical",
    "grammaticality",
)  # fmt: skip
_SENTENCES, _MARKS = (CONDITION, "text", "sent"), ("mark", "diacritic")
_COLA = ("source", "label", "mark", "sentence")
_MARK = re.compile(r"[*?#%/]{0,3}")
_IDS = ("id", "item", "item_id", "index", "uid", "unique_id", "")
_NUMBERS = ("1", "0", "true", "false")
# What labels say, in lower case: 1 acceptable, 0 not.
_TRUTH = {**dict.fromkeys(labelled.GOOD, "1"), **dict.fromkeys(labelled.BAD, "0")}


def claims(path: Path, head: str) -> bool:
    """Return whether this is a table in CoLA's layout, or one with the columns `sentence` and `judgement`."""
    if path.suffix not in ENDINGS:
        return False
    if _is_cola(path, head):
        return True
    return (
        _maybe_rated(head) and _is_rated(_table.excerpt(path, head, _has_ratings)) and not labelled.claims(path, head)
    )


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the columns that become tags."""
    if _is_cola(path, head):
        return ["source", "mark"]
    table = _table.excerpt(path, head, lambda columns: _has_ratings(columns) or options.get("sentence") in columns)
    used = {*_chosen(table.columns, options), ""}
    return [name for name in table.columns if name not in used and name.lower() not in _IDS]


def read_as(path: Path, head: str, **options: str) -> str:
    if _is_cola(path, head) and not options.get("sentence"):
        return "no header, as in CoLA: source, label (1 acceptable), mark, sentence; single judgements, without predictions"
    table = _table.excerpt(path, head, lambda columns: _has_ratings(columns) or options.get("sentence") in columns)
    sentence, label, rating = _chosen(table.columns, options)
    judged = ", ".join(filter(None, (label and f"label: {label}", rating and f"rating: {rating}")))
    return f"sentence: {sentence}, {judged}; single judgements, without predictions"


def read(
    path: Path,
    *,
    sentence: str = "",
    label: str = "",
    rating: str = "",
    id: str = "",
    suite: str = "",
    delimiter: str = "",
) -> Iterator[Suite]:
    """Read the suites of a table.

    Arguments:
        path: the file.
        sentence: the column of the sentences.
        label: the column of labels: 1 acceptable, 0 not.
        rating: the column of ratings, which are numbers; the larger, the better the sentence.
        id: the column with the ids of sentences; the default is `id`, or their numbers from 0.
        suite: the column with the names of suites; by default, the suite is named after the file.
        delimiter: the separator of cells: a character, `tab`, `comma` or `semicolon`.

    Raises:
        InputError: a label is neither 0 nor 1, or a rating is no number; the message names the line.
        UsageError: an option names a column that does not exist, or no column of labels or ratings is known.
    """
    content = utf8.read(path)
    if not sentence and _is_cola(path, content):
        table = _table.under(_COLA, content, path, "\t", quote=False)
        chosen = ("sentence", "label", "")
    else:
        table = _table.read(content, path, lambda columns: _has_ratings(columns) or sentence in columns, delimiter)
        chosen = _chosen(table.columns, {"sentence": sentence, "label": label, "rating": rating})
    for name in (sentence, label, rating, id, suite):
        if name and name not in table.columns:
            raise UsageError(str(path), f"no column {name!r}", "one of " + ", ".join(map(repr, table.columns)))
    if not sentence:
        labelled.refuse_two_texts(table)
    text, is_label, rated = chosen
    if not text or not (is_label or rated):
        cure = f"Name them: {path.name}?format=judgements&sentence=COLUMN&label=COLUMN, or &rating=COLUMN."
        found = "the columns " + ", ".join(map(repr, table.columns[:20]))
        raise UsageError(str(path), found, "columns of sentences and of judgements", cure)
    if rated and not is_label and table.rows and all(_cell(row, rated).lower() in _TRUTH for _, row in table.rows):
        is_label, rated = rated, ""
    if not (sentence or label or rating or id):
        _refuse_pairs(table, text, is_label)
    id = id or _unique(table, suite)
    used = {text, is_label, rated, id, "", *({suite} if suite.lower() == "suite" else ())}
    suites: dict[str, list[Item]] = {}
    for index, (number, row) in enumerate(table.rows):
        place = table.place(number)
        tags = _table.tags(row, used) | _judged(row, is_label, rated, place)
        name = _table.name(row, suite, place) if suite else path.stem
        item = Item(
            shape.plain(row.get(id, "")) or str(index), {CONDITION: Sentence(_table.text(row, text, place))}, tags
        )
        suites.setdefault(name, []).append(item)
    if not suites:
        raise InputError(str(path), "no sentences", "at least one")
    for name, items in suites.items():
        yield Suite(name, tuple(items), (), {"task": "judgements"})


def _refuse_pairs(table: _table.Table, sentence: str, label: str) -> None:
    """Refuse labelled rows that belong together where none of the first ones do: they are pairs, or conditions of items."""
    if label and labelled.has_labels(table) and (found := labelled.repeated(table)):
        column, key, numbers = found
        places = " and ".join(map(str, numbers[:2]))
        cure = f"Write {table.path.name}?format=labelled if rows of the same {column} are a pair, "
        cure += f"{table.path.name}?format=judgements&sentence={sentence}&label={label} if each row is a sentence of its own."
        raise InputError(
            table.place(numbers[1]), f"the {column} {key[:40]!r} of {table.unit}s {places}", "one row of each", cure
        )


def _unique(table: _table.Table, suite: str) -> str:
    """Return the column of ids, none of which a suite has twice; "" if there is none, so that sentences are numbered."""
    name = next((name for name in table.columns if name.lower() in _IDS), "")
    if not name and "" not in table.columns:
        return ""
    cells = [(_cell(row, suite) if suite else "", cell) for _, row in table.rows if (cell := _cell(row, name))]
    return name if len(cells) == len(set(cells)) else ""


def _judged(row: dict[str, Any], label: str, rating: str, place: str) -> dict[str, str]:
    tags = {}
    if label:
        if (value := _TRUTH.get(_cell(row, label).lower(), "")) == "":
            raise InputError(f"{place}, {label}", repr(_cell(row, label)[:60]), "1 (acceptable) or 0")
        tags["label"] = value
    if rating and (value := _cell(row, rating)):
        try:
            if not math.isfinite(float(value)):
                raise ValueError
        except ValueError:
            raise InputError(f"{place}, {rating}", repr(value[:60]), "a number, or an empty cell") from None
        tags["rating"] = value
    return tags


def _cell(row: dict[str, Any], name: str) -> str:
    return shape.plain(row.get(name, "")).strip()


def _is_cola(path: Path, content: str) -> bool:
    if path.suffix not in (".tsv", ".txt", ".csv") or "\t" not in content[:400]:
        return False
    try:
        rows = [row for _, row in csv.rows(_table.whole_lines(content), path, "\t", quote=False)][: _table.ROWS]
    except InputError:
        return False
    return bool(rows) and all(
        len(row) == 4 and row[1] in ("0", "1") and _MARK.fullmatch(row[2]) and len(row[3].split()) > 0 for row in rows
    )


def _maybe_rated(head: str) -> bool:
    first = head[:4000].lower()
    return any(name in first for name in _SENTENCES) and any(name in first for name in (*RATINGS, "label"))


def _is_rated(table: _table.Table) -> bool:
    if not _has_ratings(table.columns) or not table.rows:
        return False
    _, label, rating = _chosen(table.columns, {})
    column = rating or label
    found = {value.lower() for value in table.cells(column)}
    in_words = bool(found) and found <= _TRUTH.keys()
    if label:
        return in_words and (found.isdisjoint(_NUMBERS) or bool(labelled.first(table.columns, _MARKS)))
    return in_words or (column.strip().lower() in RATINGS[:3] and table.has_numbers(column))


def _has_ratings(columns: Sequence[str]) -> bool:
    ratings = sum(bool(labelled.column_of(columns, name)) for name in RATINGS)
    return bool(labelled.first(columns, _SENTENCES)) and (
        ratings == 1 or (not ratings and bool(labelled.column_of(columns, "label")))
    )


def _chosen(columns: Sequence[str], options: dict[str, str]) -> tuple[str, str, str]:
    """Return the columns of sentence, label and rating, by the options or else by their known names."""
    sentence, label, rating = (options.get(name, "") for name in ("sentence", "label", "rating"))
    if not label and not rating:
        rating = labelled.first(columns, RATINGS)
        label = "" if rating else labelled.column_of(columns, "label")
    return sentence or labelled.first(columns, _SENTENCES), label, rating
