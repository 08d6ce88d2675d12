"""How far shallow properties of minimal pairs predict which of them a model gets right: a logistic regression a model."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from syntagm.errors import InputError
from syntagm.stats import logit

SCHEMA = {
    "model": pl.String, "predictor": pl.String, "mean": pl.Float64, "sd": pl.Float64, "log_odds": pl.Float64,
    "se": pl.Float64, "se_suites": pl.Float64, "low": pl.Float64, "high": pl.Float64, "p": pl.Float64, "n": pl.Int64,
    "left_out": pl.Int64, "suites": pl.Int64, "explained": pl.Float64, "remark": pl.String,
}  # fmt: skip
PREDICTORS = ("words", "more_words", "bits_per_word")
_REACH = 1.959964


def regressions(pairs: pl.DataFrame, predictors: Sequence[str] = PREDICTORS) -> pl.DataFrame:
    """A row a model and predictor: the change of the log odds for a standard deviation; columns as in `SCHEMA`.

    The interval takes the larger of the two standard errors, that of independent pairs and that with suites as units. A
    predictor that is the same for all pairs of a model is left out and said to be; so are pairs without a number.

    Arguments:
        pairs: columns model, suite, value (1, 0 or nan) and one of numbers for each predictor.
    """
    rows: list[tuple[object, ...]] = []
    for (model,), table in pairs.group_by("model", maintain_order=True):
        present = [name for name in predictors if not table[name].is_null().all()]
        usable = pl.all_horizontal(pl.col(name).is_finite() for name in present) & pl.col("value").is_finite()
        kept = table.filter(usable.fill_null(False))
        rows += [(model, *row) for row in _rows(kept, present, len(table) - len(kept))]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _rows(table: pl.DataFrame, predictors: Sequence[str], left_out: int) -> list[tuple[object, ...]]:
    columns = {name: table[name].cast(pl.Float64).to_numpy() for name in predictors}
    spread = {
        name: (float(one.mean()), float(one.std())) if len(one) else (np.nan, 0.0) for name, one in columns.items()
    }
    varying = {name: (columns[name] - mean) / sd for name, (mean, sd) in spread.items() if sd > 1e-12}
    suites = table["suite"].n_unique()
    try:
        fit = logit.fit(table["value"].to_numpy(), varying, table["suite"].to_list())
        found, message, explained = {one.name: one for one in fit.coefficients}, fit.message, fit.explained
    except InputError as error:  # pairs that can't be fitted are no fault of whoever asks: it is said in the table
        found, message, explained = {}, f"no fit: {error.found}", np.nan
    rows: list[tuple[object, ...]] = []
    for name in ("intercept", *predictors):
        remark = message if name in ("intercept", *varying) else "the same for all pairs"
        numbers = _numbers(found.get(name))
        rows.append(
            (name, *spread.get(name, (np.nan, np.nan)), *numbers, len(table), left_out, suites, explained, remark)
        )
    return rows


def _numbers(one: logit.Coefficient | None) -> tuple[float, ...]:
    """Estimate, both standard errors, interval and p; nan without an estimate."""
    if one is None or np.isnan(one.estimate):
        return (np.nan,) * 6
    reach = _REACH * float(np.nanmax([one.se, one.se_clustered]))
    return one.estimate, one.se, one.se_clustered, one.estimate - reach, one.estimate + reach, one.p


def margin_of(model: str) -> str:
    """What the predictor is called that is another model's difference of surprisals."""
    return f"margin under {model}"


def with_margin_of(pairs: pl.DataFrame, model: str) -> pl.DataFrame:
    """The pairs with the margin of one of the models beside those of all others, by suite and item; its own stays null."""
    keys = ("suite", "item", "occurrence")
    margins = pairs.filter(pl.col("model") == model).select(*keys, pl.col("margin").alias(margin_of(model)))
    joined = pairs.join(margins, on=keys, how="left", maintain_order="left")
    own = pl.when(pl.col("model") == model).then(None).otherwise(pl.col(margin_of(model)))
    return joined.with_columns(own.alias(margin_of(model)))
