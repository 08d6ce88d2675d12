"""The items of a suite, with sentences, tags, and the verdicts of all models; selections of items, and suites made from them."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import polars as pl

from syntagm.core import InputError
from syntagm.evaluation import Kind, SuiteRecord
from syntagm.report.html import Writing, writing_of
from syntagm.report.numbers import Subject
from syntagm.report.site.addresses import Query, keys
from syntagm.runs import Run
from syntagm.stats import matching
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse

# What is said of an item -> its name for people. `holds` means under all models, the others under any of them.
VERDICTS = {
    "": "any verdict",
    "fails": "fails",
    "holds": "holds",
    "tie": "is a tie",
    "undefined": "is undefined",
    "differ": "models differ",
}
ORDERS = {
    "": "as in the suite",
    "lowest": "lowest margin first",
    "highest": "highest margin first",
    "apart": "largest difference between models first",
}
# Whether the first and the second model of a pair are right -> its name.
CELLS = {
    "": "any",
    "11": "A right, B right",
    "10": "A right, B wrong",
    "01": "A wrong, B right",
    "00": "A wrong, B wrong",
}
# The filters that need results.
_OF_RESULTS = frozenset(("measure", "verdict", "model", "a", "b", "cell", "least", "most", "order"))
# The items on a page.
PAGE = 50
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of items. It is the query of an address, so every view of a suite can be kept and sent.

    Arguments:
        measure: the prediction or measure; "" for the first.
        verdict: one of `VERDICTS`.
        model: the model that verdicts and margins are about; "" for all.
        a, b, cell: two models, and one of `CELLS`.
        least, most: limits of the margin, or of the value if there are no margins, under the model; all by default.
        tag, value: a tag of items, and its value.
        words: words that a sentence must contain, in any order and in capital or small letters.
        condition: the condition of that sentence; "" for any.
        order: one of `ORDERS`.
        page: the page, from 1.
    """

    measure: str = ""
    verdict: str = ""
    model: str = ""
    a: str = ""
    b: str = ""
    cell: str = ""
    least: str = ""
    most: str = ""
    tag: str = ""
    value: str = ""
    words: str = ""
    condition: str = ""
    order: str = ""
    page: str = ""
    NAMES: ClassVar[tuple[str, ...]]

    @property
    def query(self) -> Query:
        """The query of the address; without fields that select everything."""
        return [(name, value) for name in self.NAMES if (value := getattr(self, name))]

    @property
    def without_page(self) -> "Selection":
        return replace(self, page="")

    @property
    def narrows(self) -> bool:
        return any(
            getattr(self, name) for name in self.NAMES if name not in ("measure", "order", "page", "model", "a", "b")
        )

    @property
    def number(self) -> int:
        return int(self.page) if self.page else 1


Selection.NAMES = tuple(field.name for field in fields(Selection))


@dataclass(frozen=True, slots=True)
class Choices:
    measures: Sequence[str]  # the predictions or measures
    models: Sequence[str]  # the names of the models
    conditions: Sequence[str]
    tags: Sequence[str]  # the tags of the items

    def read(self, query: Query) -> Selection:
        given: dict[str, str] = {}
        for name, value in query:
            if name not in Selection.NAMES or name in given:
                found = "given twice" if name in given else "no such filter"
                raise InputError(f"filter {name[:100]!r}", found, "one of " + ", ".join(Selection.NAMES))
            given[name] = value
        allowed: Mapping[str, Sequence[str]] = {
            "measure": self.measures, "model": self.models, "a": self.models, "b": self.models,
            "condition": self.conditions, "tag": self.tags,
            "verdict": [*VERDICTS], "order": [*ORDERS], "cell": [*CELLS],
        }  # fmt: skip
        for name, value in given.items():
            if value and not self.models and name in _OF_RESULTS:
                raise InputError(f"filter {name}", "a suite without results", "tag, value, words, condition or page")
            known = allowed.get(name)
            if known is not None and value not in ("", *known):
                raise InputError(f"filter {name}", repr(value[:100]), "one of " + ", ".join(filter(None, known)))
            if name in ("least", "most") and value and not _is_number(value):
                raise InputError(f"filter {name}", repr(value[:100]), "a number")
            if (
                name == "page"
                and value
                and not (value.isascii() and value.isdecimal() and len(value) < 9 and int(value) > 0)
            ):
                raise InputError("page", repr(value[:100]), "a whole number from 1")
            if len(value) > _LONGEST:
                raise InputError(f"filter {name}", f"{len(value):,} characters", f"at most {_LONGEST:,}")
        return Selection(**given)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def select(
    items: pl.DataFrame, selection: Selection, models: Sequence[str], tolerances: Sequence[float]
) -> pl.DataFrame:
    places = [models.index(selection.model)] if selection.model else list(range(len(models)))
    conditions = [*_by_verdict(selection, places, tolerances), *_by_cell(selection, models)]
    conditions += [*_by_margin(selection, places), *_by_tag(selection)]
    chosen = items.filter(*conditions) if conditions else items
    if words := selection.words.lower().split():
        chosen = chosen.filter(_contains(chosen, words, selection.condition))
    return _ordered(chosen, selection.order, places)


def _by_verdict(selection: Selection, places: Sequence[int], tolerances: Sequence[float]) -> list[pl.Expr]:
    def tied(place: int) -> pl.Expr:
        return pl.col(f"value_{place}").is_not_nan() & (pl.col(f"margin_{place}").abs() <= tolerances[place])

    values = [pl.col(f"value_{place}") for place in places]
    match selection.verdict:
        case "fails":
            return [pl.any_horizontal(value == 0 for value in values)]
        case "holds":
            return [pl.all_horizontal(value == 1 for value in values)]
        case "tie":
            return [pl.any_horizontal(tied(place) for place in places)]
        case "undefined":
            return [pl.any_horizontal(value.is_nan() for value in values)]
        case "differ":
            # Only verdicts: numbers nearly always differ between models.
            return [
                pl.any_horizontal(value == 0 for value in values),
                pl.any_horizontal(value == 1 for value in values),
            ]
    return []


def _by_cell(selection: Selection, models: Sequence[str]) -> list[pl.Expr]:
    if not selection.cell:
        return []
    if not (selection.a and selection.b):
        raise InputError("filter cell", "one model or none", "two models, `a` and `b`")
    pair = zip((selection.a, selection.b), selection.cell, strict=True)
    return [pl.col(f"value_{models.index(name)}") == float(right) for name, right in pair]


def _by_margin(selection: Selection, places: Sequence[int]) -> list[pl.Expr]:
    found = []
    for limit, side in ((selection.least, 1), (selection.most, -1)):
        if limit:
            numbers = [pl.col(f"number_{place}") for place in places]
            found.append(
                pl.any_horizontal(number.is_not_nan() & (side * number >= side * float(limit)) for number in numbers)
            )
    return found


def _by_tag(selection: Selection) -> list[pl.Expr]:
    if not selection.tag:
        if selection.value:
            raise InputError("filter value", "no tag", "a value of a tag: tag=NAME&value=VALUE")
        return []
    return [pl.col(f"tag {selection.tag}") == selection.value] if selection.value else []


def _contains(items: pl.DataFrame, words: Sequence[str], condition: str) -> pl.Series:
    """Return whether each item has a sentence with all words."""
    found = [
        any(
            all(word in text for word in words)
            for name, text in zip(conditions, texts, strict=True)
            if condition in ("", name)
        )
        for conditions, texts in items.select("conditions", "lowered").iter_rows()
    ]
    return pl.Series(found, dtype=pl.Boolean)


def _ordered(items: pl.DataFrame, order: str, places: Sequence[int]) -> pl.DataFrame:
    numbers = [pl.col(f"number_{place}").fill_nan(None) for place in places]
    match order:
        case "lowest":
            key, down = pl.min_horizontal(numbers), False
        case "highest":
            key, down = pl.max_horizontal(numbers), True
        case "apart":
            key, down = pl.max_horizontal(numbers) - pl.min_horizontal(numbers), True
        case _:
            return items
    return items.with_columns(key.alias("sorted by")).sort(
        "sorted by", descending=down, nulls_last=True, maintain_order=True
    )


_KEY = ["item", matching.OCCURRENCE]
VERDICT_COLUMNS = ("suite", "item", "model", "measure", "value", "margin")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an item under a model."""

    # 1 if the prediction holds, 0 if not, or a number; nan if it is undefined; None if the model was not asked.
    value: float | None
    margin: float  # the margin, in bits unless a convention says otherwise; nan if there is none
    tie: bool  # whether the margin is within the tolerance


class Items:
    def __init__(self, subject: Subject[Run], sentences: pl.DataFrame | None = None) -> None:
        self.subject, self._sentences = subject, sentences
        self.models = [column.name for column in subject.columns]
        self.tolerances = [column.run.tolerance for column in subject.columns]
        self._of_measure = lru_cache(maxsize=8)(self._measured)

    @cached_property
    def measures(self) -> list[str]:
        return list(self.subject.record.predictions)

    @cached_property
    def writing(self) -> Writing:
        return writing_of(self.subject.record.tags)

    @property
    def sentences(self) -> pl.DataFrame:
        """The sentences of the suite under the model that has most: runs that are not finished have fewer."""
        if self._sentences is not None:
            return self._sentences
        return max((column.run.sentences(self.subject.name) for column in self.subject.columns), key=len)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per item, in the order of the suite: number, item, occurrence, key, tags, conditions, texts, lowered."""
        rows = self.sentences.select("item", "condition", "text", "tags")
        numbered = matching.numbered(rows, "condition")
        items = numbered.group_by(_KEY, maintain_order=True).agg(
            pl.col("tags").first(), pl.col("condition").alias("conditions"), pl.col("text").alias("texts")
        )
        tags = [json.loads(text) for text in items["tags"]]
        named = {
            f"tag {name}": [_text(row.get(name)) for row in tags]
            for name in dict.fromkeys(name for row in tags for name in row)
        }
        lowered = pl.col("texts").list.eval(pl.element().str.to_lowercase()).alias("lowered")
        return items.with_row_index("number").with_columns(
            pl.Series("key", keys(items["item"]), dtype=pl.String),
            lowered,
            *(pl.Series(*column) for column in named.items()),
        )

    @cached_property
    def tags(self) -> dict[str, list[str]]:
        """The tags of the items, with their values in the order of the suite."""
        return {
            name.removeprefix("tag "): [value for value in self.table[name].unique(maintain_order=True) if value]
            for name in self.table.columns
            if name.startswith("tag ")
        }

    @property
    def choices(self) -> Choices:
        return Choices(self.measures, self.models, self.subject.record.conditions, list(self.tags))

    @cached_property
    def numbers(self) -> dict[str, int]:
        return dict(zip(self.table["key"], self.table["number"], strict=True))

    @cached_property
    def occurrences(self) -> Mapping[str, int]:
        """How many items have each id."""
        return Counter(self.table["item"])

    def kind(self, measure: str) -> Kind:
        return self.subject.columns[0].run.kind(measure) if self.subject.columns else Kind.VERDICT

    def of(self, measure: str) -> pl.DataFrame:
        """Return the items with `value_k`, `margin_k` and `number_k` of each model."""
        # The number is the margin of a verdict, or else the value.
        return self._of_measure(measure or next(iter(self.measures), ""))

    def _measured(self, measure: str) -> pl.DataFrame:
        found = self.table
        for place, column in enumerate(self.subject.columns):
            results = column.run.results(self.subject.name).filter(pl.col("measure") == measure)
            results = matching.numbered(results).select(
                *_KEY, pl.col("value").alias(f"value_{place}"), pl.col("margin").alias(f"margin_{place}")
            )
            found = found.join(results, on=_KEY, how="left", maintain_order="left")
            judged = measure in column.run.record["kinds"] and column.run.kind(measure) is Kind.VERDICT
            number = f"{'margin' if judged else 'value'}_{place}"
            found = found.with_columns(pl.col(number).alias(f"number_{place}"))
        return found

    def select(self, selection: Selection) -> pl.DataFrame:
        """Return the selected items, with the columns of `of`."""
        return select(self.of(selection.measure), selection, self.models, self.tolerances)

    def verdicts(self, row: dict[str, Any]) -> list[Verdict]:
        found = []
        for place, tolerance in enumerate(self.tolerances):
            value, margin = row[f"value_{place}"], row[f"margin_{place}"]
            margin = float("nan") if margin is None else margin
            judged = value in (0, 1)
            found.append(Verdict(value, margin, judged and abs(margin) <= tolerance))
        return found

    def long(self, selected: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
        """Return one row for each selected item, model and measure: `VERDICT_COLUMNS`."""
        parts = []
        chosen = selected.select("number")
        for measure in measures:
            rows = chosen.join(self.of(measure), on="number", maintain_order="left")
            for place, model in enumerate(self.models):
                parts.append(
                    rows.select(
                        "number", "item", pl.lit(self.subject.name).alias("suite"), pl.lit(model).alias("model"),
                        pl.lit(measure).alias("measure"), pl.col(f"value_{place}").alias("value"),
                        pl.col(f"margin_{place}").alias("margin"),
                    )
                )  # fmt: skip
        if not parts:
            return pl.DataFrame(schema=dict.fromkeys(VERDICT_COLUMNS, pl.String))
        table = pl.concat(parts).filter(pl.col("value").is_not_null())
        order = chosen.with_row_index("place")
        return (
            order.join(table, on="number", maintain_order="left_right")
            .sort("place", maintain_order=True)
            .select(VERDICT_COLUMNS)
        )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def suite_of(record: SuiteRecord, sentences_of_run: pl.DataFrame, chosen: pl.DataFrame | None = None) -> Suite:
    numbered = matching.numbered(sentences_of_run, "condition")
    if chosen is None:
        chosen = numbered.select("item", matching.OCCURRENCE).unique(maintain_order=True)
    chosen = chosen.with_row_index("place")
    sentences: dict[int, dict[str, Sentence]] = {}
    tags: dict[int, tuple[str, dict[str, str]]] = {}
    rows = chosen.join(numbered, on=["item", matching.OCCURRENCE], maintain_order="left_right")
    for found in rows.iter_rows(named=True):
        spans = zip(found["region_names"], found["region_starts"], found["region_ends"], strict=True)
        sentence = Sentence(found["text"], tuple(Region(*span) for span in spans))
        sentences.setdefault(found["place"], {})[found["condition"]] = sentence
        tags[found["place"]] = found["item"], json.loads(found["tags"])
    items = tuple(Item(tags[place][0], sentences[place], tags[place][1]) for place in sentences)
    predictions = tuple(Prediction(name, parse(text)) for name, text in record.predictions.items() if text)
    labels = {f"region.{name}": label for name, label in record.region_labels.items()}
    return Suite(record.name, items, predictions, {**labels, **record.tags}, record.aggregate)
