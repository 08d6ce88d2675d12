"""The items of a suite, with their sentences, tags, and the verdicts and margins of all models."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, final

import polars as pl

from syntagm.evaluation import Kind
from syntagm.report.html import Writing, writing_of
from syntagm.report.numbers import Subject
from syntagm.report.site.addresses import keys
from syntagm.report.site.selection import Choices, Selection, select
from syntagm.runs import Run
from syntagm.stats import matching

_KEY = ["item", matching.OCCURRENCE]
VERDICT_COLUMNS = ("suite", "item", "model", "measure", "value", "margin")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an item under a model."""

    # 1 if the prediction holds, 0 if not, or a number; nan if it is undefined; None if the model was not asked.
    value: float | None
    margin: float  # the margin, in bits unless a convention says otherwise; nan if there is none
    tie: bool  # whether the margin is within the tolerance


@final
class Items:
    """The items of a suite under several models."""

    def __init__(self, subject: Subject[Run], sentences: pl.DataFrame | None = None) -> None:
        self.subject, self._sentences = subject, sentences
        self.models = [column.name for column in subject.columns]
        self.tolerances = [column.run.tolerance for column in subject.columns]
        self._of_measure = lru_cache(maxsize=8)(self._measured)

    @cached_property
    def measures(self) -> list[str]:
        """The predictions or measures that were computed."""
        return list(self.subject.record.predictions)

    @cached_property
    def writing(self) -> Writing:
        """How the sentences are written."""
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
        """What can be selected."""
        return Choices(self.measures, self.models, self.subject.record.conditions, list(self.tags))

    @cached_property
    def numbers(self) -> dict[str, int]:
        return dict(zip(self.table["key"], self.table["number"], strict=True))

    @cached_property
    def occurrences(self) -> Mapping[str, int]:
        """How many items have each id."""
        return Counter(self.table["item"])

    def kind(self, measure: str) -> Kind:
        """Return the kind of a measure's values."""
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
        """Return the verdicts of a row of `of`, one for each model."""
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
