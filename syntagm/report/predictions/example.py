"""The first item of a suite as an example: a sentence per condition, with the compared regions marked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup, escape

from syntagm.core import FormulaError
from syntagm.evaluation import SuiteRecord
from syntagm.report.collection_page import UNGRAMMATICAL
from syntagm.report.in_words import in_words
from syntagm.suites import Formula, Reference, parse

_NAME = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class ExampleSentence:
    """A condition with its sentence."""

    condition: str
    starred: bool  # whether the sentence is ungrammatical
    pieces: tuple[tuple[str, bool], ...]  # the sentence in pieces: (text, whether the first prediction compares it)


def example(record: SuiteRecord, sentences: pl.DataFrame) -> tuple[str, tuple[ExampleSentence, ...]]:
    """Return the id of the first item and its sentences, or "" and () if the suite has no items."""
    if not len(sentences):
        return "", ()
    item = sentences["item"][0]
    regions = _by_condition(record)
    starred = record.tags.get(UNGRAMMATICAL, "bad").split()
    lines: dict[str, ExampleSentence] = {}
    for row in sentences.head(4 * max(1, len(record.conditions))).filter(pl.col("item") == item).iter_rows(named=True):
        name = row["condition"]
        lines.setdefault(name, ExampleSentence(name, name in starred, _pieces(row, regions.get(name, set()))))
    return str(item), tuple(lines.values())


def prediction_in_words(record: SuiteRecord, measure: str) -> Markup:
    """Return a prediction in words, as HTML; "" if the formula can't be parsed."""
    formula = _formula(record.predictions.get(measure, ""))
    return Markup("") if formula is None else formula_in_words(formula, record.region_labels)


def formula_in_words(formula: Formula, labels: Mapping[str, str] | None = None) -> Markup:
    """Return a prediction in words, as HTML; the arguments are those of `report.in_words`."""
    return Markup(_NAME.sub(r"<code><bdi>\1</bdi></code>", str(escape(in_words(formula, labels)))))


def _formula(text: str) -> Formula | None:
    try:
        return parse(text)
    except FormulaError:  # the record may be of another version or damaged
        return None


def find_compared(record: SuiteRecord) -> tuple[Reference, ...]:
    """Return the regions and conditions that the first prediction compares."""
    formula = _formula(next(iter(record.predictions.values()), ""))
    return tuple(dict.fromkeys(formula.references())) if formula else ()


def _by_condition(record: SuiteRecord) -> dict[str, set[str]]:
    """Return the regions that the first prediction compares in each condition."""
    regions: dict[str, set[str]] = {}
    for reference in find_compared(record):
        regions.setdefault(reference.condition, set()).add(reference.region)
    return regions


def _pieces(row: Mapping[str, Any], compared: set[str]) -> tuple[tuple[str, bool], ...]:
    text, at = row["text"], 0
    pieces: list[tuple[str, bool]] = []
    for name, start, end in zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True):
        if name in compared and at <= start < end:
            pieces += [(text[at:start], False), (text[start:end], True)]
            at = end
    return tuple(piece for piece in (*pieces, (text[at:], False)) if piece[0])
