"""The answers of a run of people as judgements, from which studies are planned."""

from pathlib import Path

import numpy as np
import polars as pl

from syntagm.core import InputError, UsageError, utf8
from syntagm.evaluation import ANSWERS, TABLE, Kind, People, SuiteRecord
from syntagm.runs import Run, open_run
from syntagm.stats import Judgements, judgements
from syntagm.suites import Formula, parse
from syntagm.views.people import answers, asks, signs_of, whole


def read(path: Path) -> Judgements:
    """Read judgements: a run of people, or a CSV file with the columns person, item, value and optionally condition."""
    if path.is_dir():
        return of_run(open_run(path))
    header = utf8.beginning(path, 1000).split(b"\n")[0].decode(errors="replace").strip() if path.is_file() else ""
    if header == ",".join(ANSWERS):
        cure = f"Give a run of them: syntagm experiment import {path} --plan STUDY -o RUN, then syntagm power --people RUN."
        raise InputError(str(path), "answers without the plan that says what is predicted", "a run of people", cure)
    return judgements.read(path)


def of_run(run: Run) -> Judgements:
    """Return the answers of people that count as judgements."""
    # Of pairs, a judgement is 1 if the favoured sentence was chosen. In other designs, the first comparison of each
    # first prediction has two conditions; the second one is that with the larger expected value, which for times is the
    # time of the compared regions together.
    if run.task is not People:
        cure = "Runs of models plan studies of models: `syntagm power DIR DIR`. Simulated people make a pilot, too."
        raise UsageError(
            "--people", f"a run of {run.model}", "a run of `syntagm experiment import`, or a CSV file", cure
        )
    asked = asks(run)
    parts = [_of_suite(run, record, asked) for record in run.suites]
    rows = pl.concat([part for part, _ in parts])
    people, items = (
        np.unique(rows[column].to_numpy(), return_inverse=True)[1].astype(np.int64) for column in ("person", "key")
    )
    if min(len(set(people)), len(set(items))) < 2:
        raise UsageError("--people", f"{len(set(people))} people and {len(set(items))} items", "at least two of each")
    values = rows["value"].to_numpy()
    kind = Kind.VERDICT if asked in ("pairs", "verdicts") else Kind.NUMBER
    if asked == "pairs":
        return Judgements(people, items, values, kind)
    names = {names for _, names in parts}
    named = names.pop() if len(names) == 1 else ("smaller", "larger")
    return Judgements(people, items, values, kind, rows["second"].to_numpy(), named)


def _of_suite(run: Run, record: SuiteRecord, asked: str) -> tuple[pl.DataFrame, tuple[str, str]]:
    """Return the columns person, key, value and second of a suite, and the names of the two conditions."""
    rows = answers(run, record.name)
    if asked == "pairs":
        keyed = rows.with_columns(
            key=pl.concat_str(pl.lit(record.name), "item", "condition", separator="/"), second=pl.lit(value=True)
        )
        return keyed.select("person", "key", "value", "second"), ("", "")
    comparison = _comparison(record)
    turned = 1 if asked == "times" else -1
    signs = {condition: turned * sign for condition, sign in signs_of(comparison).items()}
    if sorted(signs.values()) != [-1, 1]:
        cure = "Plan with a table of the columns person, item, value and condition."
        raise UsageError("--people", f"{len(signs)} conditions in {comparison}", "a comparison of two conditions", cure)
    low, high = (next(name for name, own in signs.items() if own == sign) for sign in (-1, 1))
    rows = rows.filter(pl.col("condition").is_in([low, high]) & pl.col("value").is_not_nan())
    if asked == "times":
        regions = {reference.region for reference in comparison.references()}
        if "*" in regions:
            rows = whole(rows, run.table(TABLE, record.name))
        else:
            grouped = rows.filter(pl.col("region").is_in(list(regions))).group_by(
                "person", "item", "condition", maintain_order=True
            )
            rows = grouped.agg(pl.col("value").sum(), read=pl.len()).filter(pl.col("read") == len(regions))
    keyed = rows.with_columns(
        key=pl.concat_str(pl.lit(record.name), "item", separator="/"), second=pl.col("condition") == high
    )
    return keyed.select("person", "key", "value", "second"), (low, high)


def _comparison(record: SuiteRecord) -> Formula:
    first = next(iter(record.predictions_for("first")), "")
    if not (text := record.predictions.get(first, "")):
        raise UsageError("--people", f"suite {record.name} without a prediction", "a comparison of two conditions")
    return parse(text).comparisons()[0]
