"""The first item of a suite, for readers who have never seen one: a sentence a condition, what is compared marked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup, escape

from syntagm.errors import FormulaError
from syntagm.formula import Formula, parse
from syntagm.report.collection_page import UNGRAMMATICAL
from syntagm.report.in_words import in_words
from syntagm.tasks.task import SuiteRecord

_NAME = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Line:
    """A condition with its sentence, in pieces: (text, is it compared?)."""

    condition: str
    starred: bool
    pieces: tuple[tuple[str, bool], ...]


def example(record: SuiteRecord, sentences: pl.DataFrame) -> tuple[str, tuple[Line, ...]]:
    """The id of the first item and its sentences; nothing if there are none.

    Arguments:
        sentences: of the suite, as `Run.sentences` gives them.
    """
    if not len(sentences):
        return "", ()
    item = sentences["item"][0]
    regions = _by_condition(record)
    starred = record.tags.get(UNGRAMMATICAL, "bad").split()
    found: dict[str, Line] = {}
    for row in sentences.head(4 * max(1, len(record.conditions))).filter(pl.col("item") == item).iter_rows(named=True):
        name = row["condition"]
        found.setdefault(name, Line(name, name in starred, _pieces(row, regions.get(name, set()))))
    return str(item), tuple(found.values())


def spelled(record: SuiteRecord, measure: str) -> Markup:
    """A prediction in words, as HTML; nothing if the formula can't be read."""
    formula = _formula(record.predictions.get(measure, ""))
    if formula is None:
        return Markup("")
    said = str(escape(in_words(formula, record.region_labels)))
    return Markup(_NAME.sub(r"<code><bdi>\1</bdi></code>", said))


def _formula(text: str) -> Formula | None:
    try:
        return parse(text)
    except FormulaError:  # a record may come from anyone
        return None


def compared(record: SuiteRecord) -> set[str]:
    """The regions that the first prediction compares in any condition."""
    return {name for names in _by_condition(record).values() for name in names}


def _by_condition(record: SuiteRecord) -> dict[str, set[str]]:
    """Condition -> the regions that the first prediction compares in it."""
    formula = _formula(next(iter(record.predictions.values()), ""))
    found: dict[str, set[str]] = {}
    for one in formula.references() if formula else ():
        found.setdefault(one.condition, set()).add(one.region)
    return found


def _pieces(row: Mapping[str, Any], compared: set[str]) -> tuple[tuple[str, bool], ...]:
    text, at = row["text"], 0
    made: list[tuple[str, bool]] = []
    for name, start, end in zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True):
        if name in compared and at <= start < end:
            made += [(text[at:start], False), (text[start:end], True)]
            at = end
    return tuple(piece for piece in (*made, (text[at:], False)) if piece[0])
