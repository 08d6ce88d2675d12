"""Surface predictors of accuracy (length, surprisal, confidence): a panel for each predictor and a line for each model.

For each model, a logistic regression on the same predictors models whether it is right on a pair.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
import polars as pl

from syntagm.core import InputError, UsageError
from syntagm.evaluation import Kind
from syntagm.runs import Run, named
from syntagm.stats import FEW, cluster_intervals, logit, matching
from syntagm.views.drawing import curves, vega
from syntagm.views.drawing.chart import Figure
from syntagm.views.drawing.curves import Panel
from syntagm.views.drawing.vega import Row
from syntagm.views.estimates import shared_kind
from syntagm.views.options import Named, measures

_KEYS = ("item", "occurrence")
PROPERTIES = {
    "words": "words of the good sentence",
    "more_words": "words of the bad sentence minus words of the good one",
    "bits_per_word": "surprisal of the good sentence, bits per word",
    "bits": "surprisal of the good sentence, bits",
    "confidence": "confidence: difference of surprisals, bits",
}
PAIRS = {
    "suite": pl.String, "item": pl.String, "occurrence": pl.Int64, "value": pl.Float64, "margin": pl.Float64,
    "words": pl.Int64, "more_words": pl.Int64, "bits_per_word": pl.Float64, "bits": pl.Float64, "confidence": pl.Float64,
}  # fmt: skip
REGRESSIONS = {
    "model": pl.String, "predictor": pl.String, "mean": pl.Float64, "sd": pl.Float64, "log_odds": pl.Float64,
    "se": pl.Float64, "se_suites": pl.Float64, "low": pl.Float64, "high": pl.Float64, "p": pl.Float64, "n": pl.Int64,
    "left_out": pl.Int64, "suites": pl.Int64, "explained": pl.Float64, "remark": pl.String,
}  # fmt: skip
PREDICTORS = ("words", "more_words", "bits_per_word")
SHOWN = ("words", "bits_per_word", "bits", "confidence")


def properties(sentences: pl.DataFrame, results: pl.DataFrame, scored_first: bool = True) -> pl.DataFrame:
    """Compute the surface predictors of the pairs of a suite: one row for each item, with the columns of `PAIRS`."""
    # Items must have the conditions `good` and `bad`. Words are separated by white space.
    bits = pl.col("bits") if scored_first else pl.col("bits").list.slice(1)
    measured = matching.numbered(sentences, "condition").select(
        "item",
        "condition",
        matching.OCCURRENCE,
        words=pl.col("text").str.count_matches(r"\S+").cast(pl.Int64),
        bits=bits.list.sum(),
    )
    good, bad = (measured.filter(pl.col("condition") == side).drop("condition") for side in ("good", "bad"))
    pairs = matching.joined(good, bad.rename({"words": "words_bad", "bits": "bits_bad"}), _KEYS)
    pairs = pairs.filter(pl.col("words").is_not_null() & pl.col("words_bad").is_not_null())
    judged = matching.numbered(results)
    joined = (
        matching.joined(judged, pairs, _KEYS)
        .head(len(judged))
        .with_columns(
            more_words=pl.col("words_bad") - pl.col("words"),
            bits_per_word=pl.col("bits") / pl.col("words"),
            confidence=(pl.col("bits_bad") - pl.col("bits")).abs(),
        )
    )
    return joined.select(pl.col(name).cast(kind) for name, kind in PAIRS.items())


def pairs(name: str, run: Run, measure: str = "full_sentence") -> pl.DataFrame:
    """Compute the surface predictors of all pairs of a run."""
    # Columns: model (`name`), suite, item, occurrence, value, margin, and those of `PROPERTIES`.
    scored = run.record["model"]["start"] is not None
    tables = [
        properties(run.sentences(suite.name), run.results(suite.name).filter(pl.col("measure") == measure), scored)
        for suite in run.suites
        if measure in suite.predictions and {"good", "bad"} <= set(suite.conditions)
    ]
    # Without suites of pairs, the table is empty but has all columns.
    return pl.concat([pl.DataFrame(schema=PAIRS), *tables]).select(pl.lit(name).alias("model"), pl.all())


def regressions(pairs: pl.DataFrame, predictors: Sequence[str] = PREDICTORS) -> pl.DataFrame:
    """Fit a logistic regression for each model: the log odds of a correct answer on a pair, given the predictors."""
    # The table has one row for each model and predictor, with the columns of `REGRESSIONS`: the change of the log odds
    # for one standard deviation of the predictor. The interval uses the larger of two standard errors: for independent
    # pairs, and clustered by suite. A predictor that is constant over the pairs of a model is excluded, with a remark.
    # Pairs without a value or a predictor are excluded and counted.
    rows: list[tuple[object, ...]] = []
    for (model,), table in pairs.group_by("model", maintain_order=True):
        present = [name for name in predictors if not table[name].is_null().all()]
        usable = pl.all_horizontal(pl.col(name).is_finite() for name in present) & pl.col("value").is_finite()
        kept = table.filter(usable.fill_null(False))
        rows += [(model, *row) for row in _rows(kept, present, len(table) - len(kept))]
    return pl.DataFrame(rows, schema=REGRESSIONS, orient="row")


def _rows(table: pl.DataFrame, predictors: Sequence[str], left_out: int) -> list[tuple[object, ...]]:
    columns = {name: table[name].cast(pl.Float64).to_numpy() for name in predictors}
    spread = {
        name: (float(values.mean()), float(values.std())) if len(values) else (np.nan, 0.0)
        for name, values in columns.items()
    }
    varying = {name: (columns[name] - mean) / sd for name, (mean, sd) in spread.items() if sd > 1e-12}
    suites = table["suite"].n_unique()
    try:
        fit = logit.fit(table["value"].to_numpy(), varying, table["suite"].to_list())
        message, explained = fit.message, fit.explained
        coefficients = {coefficient.name: coefficient for coefficient in fit.coefficients}
    except InputError as error:  # the data may not allow a fit, which is no error of the user: the table has a remark
        coefficients, message, explained = {}, f"no fit: {error.found}", np.nan
    rows: list[tuple[object, ...]] = []
    for name in ("intercept", *predictors):
        few = f"only {suites} suites" if suites < FEW else ""
        remark = (message or few) if name in ("intercept", *varying) else "the same for all pairs"
        coefficient = _coefficient(coefficients.get(name))
        rows.append(
            (name, *spread.get(name, (np.nan, np.nan)), *coefficient, len(table), left_out, suites, explained, remark)
        )
    return rows


def _coefficient(coefficient: logit.Coefficient | None) -> tuple[float, ...]:
    """Return estimate, both standard errors, interval and p; nan without an estimate."""
    if coefficient is None or np.isnan(coefficient.estimate):
        return (np.nan,) * 6
    return (
        coefficient.estimate,
        coefficient.se,
        coefficient.se_clustered,
        coefficient.estimate - coefficient.reach,
        coefficient.estimate + coefficient.reach,
        coefficient.p,
    )


def margin_of(model: str) -> str:
    """Return the name of the predictor that is the margin under another model."""
    return f"margin under {model}"


def with_margin_of(pairs: pl.DataFrame, model: str) -> pl.DataFrame:
    """Add a column with the margin of each pair under one of the models; it is null in the rows of that model."""
    keys = ("suite", "item", "occurrence")
    margins = pairs.filter(pl.col("model") == model).select(*keys, pl.col("margin").alias(margin_of(model)))
    joined = pairs.join(margins, on=keys, how="left", maintain_order="left")
    own = pl.when(pl.col("model") == model).then(None).otherwise(pl.col(margin_of(model)))
    return joined.with_columns(own.alias(margin_of(model)))


def draw_figure(
    runs: Sequence[Run], measure: Annotated[str, Named("name of a prediction", measures)] = "full_sentence"
) -> Figure:
    """Draw the curves of runs over all their suites of minimal pairs.

    Raises:
        UsageError: there is no such suite, or the values of the measure are not verdicts.
    """
    if (kind := shared_kind(runs, measure)) is not Kind.VERDICT:
        raise UsageError(
            "surface", f"{measure}, whose values are {kind.described}", "a measure whose values are verdicts"
        )
    tables = [pairs(name, run, measure) for name, run in named(runs)]
    if all(table.is_empty() for table in tables):
        raise UsageError("measure", f"no suite of minimal pairs with {measure!r}", "at least one")
    return draw(cluster_intervals.means_in_bins(pl.concat(tables), SHOWN), "Accuracy by surface predictors")


def draw(table: pl.DataFrame, title: str = "", labels: Mapping[str, str] = PROPERTIES) -> Figure:
    present = [name for name in labels if name in set(table["property"])]
    panels = [
        Panel(table.filter(pl.col("property") == name).rename({"middle": "x"}), labels[name], reference=0.5, said=_said)
        for name in present
    ]
    counts = sorted(table["n"]) or [0]
    subtitle = (
        f"bins of {counts[0]:,} to {counts[-1]:,} pairs; "
        "bar: 95% interval, for other suites and their pairs; dashed: chance"
    )
    upright = vega.proportion("accuracy", tickCount=6)
    return curves.draw(panels, upright, title, [subtitle], table.select(list(cluster_intervals.BINNED_SCHEMA)))


def _said(row: Row) -> str:
    between = f"between {row['start']:.4g} and {row['end']:.4g}"
    return f"{row['model']}: {row['value']:.3f} of {row['n']:,} pairs {between}"
