"""Learning curves: accuracy by amount of training text, with a panel for each phenomenon and a line for each family.

Each point is a model. Each line is a least-squares fit over models (sizes and seeds) on the logarithm of the number of
training words, so its slope is the gain for each doubling. The standard error of the slope accounts for the choice
of models, not of items, and assumes that models are independent, although parts of one corpus share text. Where several
models of a family have the same number of words (seeds), a ring and a band show their mean and its interval, which is
for other suites and other models.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from math import isnan, log2, nan
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from syntagm.core import LARGEST, UsageError, counted, shown, whole
from syntagm.evaluation import Estimate, Kind
from syntagm.runs import Run, listed, named, trained_on
from syntagm.stats import bootstrap, interval, score, suite_intervals
from syntagm.views.drawing import curves, vega
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.text import lines, readable, remarks_on
from syntagm.views.drawing.vega import Row, Series, estimated, layer, point
from syntagm.views.estimates import called, scores, shared_kind, shared_suites, values_of
from syntagm.views.options import Measure, Tag

SLOPES = {
    "family": pl.String, "phenomenon": pl.String, "slope": pl.Float64, "se": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "intercept": pl.Float64, "n": pl.Int64, "sizes": pl.Int64,
}  # fmt: skip
SCHEMA = {
    "phenomenon": pl.String, "family": pl.String, "model": pl.String, "words": pl.Int64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT, COLUMNS = 200, 150, 3


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """A learning curve: accuracy = intercept + slope * log2(words)."""

    slope: float
    se: float  # the standard error of the slope; nan with fewer than three models, or with one size
    low: float  # `low`, `high`: 95% interval of the slope, from Student's t with n - 2 degrees of freedom
    high: float
    intercept: float
    n: int  # `n`, `sizes`: the numbers of models and of distinct sizes
    sizes: int

    def words_at(self, accuracy: float) -> float:
        """Return the number of words at which the line reaches an accuracy; infinite if it never does.

        >>> line([1, 2, 4], [0.5, 0.6, 0.7]).words_at(0.9)
        16.0
        """
        if not self.slope > 0:
            return math.nan if math.isnan(self.slope) else math.inf
        power = round((accuracy - self.intercept) / self.slope, 9)
        return math.inf if power > 1000 else 2.0**power


def line(words: ArrayLike, accuracy: ArrayLike) -> LearningCurve:
    """Fit a line by least squares, excluding models whose accuracy is nan.

    Arguments:
        words: the number of training words of each model. Shape (models,).
        accuracy: shape (models,).

    >>> fitted = line([1, 2, 4, 8], [0.5, 0.6, 0.6, 0.7])  # (1.5 * 0.1 + 1.5 * 0.1) / 5
    >>> round(fitted.slope, 6), round(fitted.se, 6), fitted.n  # residuals 0.01 and 0.03, twice: sqrt(0.002 / 2 / 5)
    (0.06, 0.014142, 4)
    """
    from scipy.special import stdtrit

    x, y = np.log2(np.asarray(words, np.float64)), np.asarray(accuracy, np.float64)
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    n, sizes = len(y), len(np.unique(x))
    if sizes < 2:
        return LearningCurve(*(math.nan,) * 5, n, sizes)
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    intercept = float(y.mean() - slope * x.mean())
    if n < 3:
        return LearningCurve(slope, math.nan, math.nan, math.nan, intercept, n, sizes)
    residual = float(((y - intercept - slope * x) ** 2).sum())
    se = math.sqrt(residual / (n - 2) / spread)
    reach = se * float(stdtrit(n - 2, 0.975))
    return LearningCurve(slope, se, slope - reach, slope + reach, intercept, n, sizes)


def slopes(accuracies: pl.DataFrame, phenomena: Sequence[str] | None = None) -> pl.DataFrame:
    """Fit a line for each family and phenomenon, in the order of first appearance; columns as in `SLOPES`."""
    kept = accuracies if phenomena is None else accuracies.filter(pl.col("phenomenon").is_in(phenomena))
    rows = []
    for (family, phenomenon), table in kept.group_by("family", "phenomenon", maintain_order=True):
        fitted = line(table["words"].to_numpy(), table["value"].to_numpy())
        rows.append((family, phenomenon, *astuple(fitted)))
    return pl.DataFrame(rows, schema=SLOPES, orient="row")


def family(run: Run) -> str:
    """Return the model family of a run: the part of the model name before the colon."""
    return run.model.partition(":")[0]


def training_words(runs: Sequence[Run], words: str = "") -> list[int | None]:
    """Return the number of words that the model of each run was trained on; None if unknown."""
    if not words:
        records = (trained_on(run, "words") for run in runs)
        return [record[0] if record else None for record in records]
    texts = [_in_digits(text.strip().replace("_", "")) for text in words.split(",")]
    if len(texts) != len(runs):
        raise UsageError("words", repr(words), f"{len(runs)} whole numbers, separated by commas, or - for unknown")
    return [None if text == "-" else whole("words", text, also="- for unknown") for text in texts]


def _in_digits(text: str) -> str:
    """Write an integer that has a decimal point or an exponent as digits only; return any other text unchanged.

    >>> _in_digits("1e6"), _in_digits("2.5E3"), _in_digits("1.5"), _in_digits("-")
    ('1000000', '2500', '1.5', '-')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if not text.isdecimal() and number.is_integer() and number <= LARGEST else text


def draw_figure(
    runs: Sequence[Run],
    tag: Tag = "linguistics_term",
    measure: Measure = "first",
    words: Annotated[str, "numbers of training words in the order of the runs, `-` for unknown"] = "",
) -> Figure:
    """Draw the learning curves of models whose number of training words is known.

    Arguments:
        words: numbers such as 1000000 or 1e6, separated by commas. If empty, they are read from the records of the
            controlled experiment that the runs belong to.

    Raises:
        UsageError: the number of values differs from the number of runs, no value is known, or no suite has the tag and
            the measure.
    """
    rows = []
    sizes = training_words(runs, words)
    if not any(sizes):
        found, cure = "no size of a training text", "Give the sizes in the order of the runs: words=1000000,5000000"
        raise UsageError("learning_curve", found, "the number of training words of a model", cure)
    sized = [(*pair, size) for pair, size in zip(named(runs), sizes, strict=True) if size is not None]
    shared, left_out = in_all(
        [{suite.name for suite in run.suites if suite.group(tag) and suite.predictions_for(measure)} for _, run, _ in sized]
    )  # fmt: skip
    means = over_seeds(runs, sizes, tag, measure, shared)
    estimates: list[Estimate] = []
    for name, run, size in sized:
        of_run = called(name, scores(run, measure, tag, shared))
        estimates += of_run
        rows += [(each.group[tag], family(run), name, size, *each.numbers[:4], each.method) for each in of_run]
    if not rows:
        found = f"{tag!r}, which no suite with the measure {measure} has in all runs of known size"
        raise UsageError("tag=", found, "a tag of one of these suites")
    kind, table = shared_kind(runs, measure), pl.DataFrame(rows, schema=SCHEMA, orient="row")
    title = "Accuracy and training text" if kind is Kind.VERDICT else f"{measure} and training text"
    notes = lines([*left_out, *remarks_on(estimates)])
    return draw(table, title=title, means=means, kind=kind, notes=notes)


def in_all(of_models: Sequence[set[str]]) -> tuple[set[str], list[str]]:
    """Return the suites that all models have, and a note on the others: a line over these would compare suites."""
    shared = set.intersection(*of_models)
    rest = sorted(set.union(*of_models) - shared)
    return shared, [f"Without {listed(rest)}, which not all models of known size have."] if rest else []


def over_seeds(
    runs: Sequence[Run], sizes: Sequence[int | None], tag: str, measure: str, names: Collection[str]
) -> pl.DataFrame:
    """Average the models of a family with the same number of training words; columns as in `SCHEMA`."""
    cells: dict[tuple[str, int], list[Run]] = {}
    for run, size in zip(runs, sizes, strict=True):
        if size is not None:
            cells.setdefault((family(run), size), []).append(run)
    rows = []
    for (name, size), models in cells.items():
        if len(models) < 2:
            continue
        shared, _ = shared_suites(models)
        groups: dict[str, list[str]] = {}
        for suite in models[0].suites:
            if suite.name in shared and suite.name in names and suite.group(tag) and suite.predictions_for(measure):
                groups.setdefault(suite.group(tag), []).append(suite.name)
        for group, suites in groups.items():
            values = values_of(models, suites, measure)
            found = suite_intervals.over_models(values, shared_kind(models, measure))
            value = float(np.mean([interval.means(items, 0) for items in values.values()]))
            n = int((~np.isnan(np.vstack(list(values.values())))).sum(axis=0).min())
            method = score.over(len(values), found.method)
            rows.append((group, name, f"mean of {len(models)}", size, value, found.low, found.high, n, method))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def draw(
    table: pl.DataFrame,
    humans: Mapping[str, float] | None = None,
    title: str = "",
    means: pl.DataFrame | None = None,
    kind: Kind = Kind.VERDICT,
    units: str = "",
    notes: Sequence[str] = (),
) -> Figure:
    """Draw the learning curves, with the slope of each family below the title of each panel."""
    means = pl.DataFrame(schema=SCHEMA) if means is None else means
    families = list(dict.fromkeys(table["family"]))
    fitted = slopes(table)
    phenomena = list(dict.fromkeys(table["phenomenon"]))
    words = sorted(set(table["words"]))
    plots = [
        _panel(table, fitted, name, families, words, (humans or {}).get(name, nan), at, means, kind)
        for at, name in enumerate(phenomena)
    ]
    bars = "dot: a model; " if table["low"].is_nan().all() else "bar: 95% interval of a model; "
    marks = f"{bars}line: least squares, with its gain for each doubling of the text"
    subtitle = [marks + ("; dashed: human accuracy" if humans else "")]
    units = units or ("other suites and models" if bootstrap.current().suites == "random" else "other items and models")
    few = ", if there are more than two" if any(map(_of_two, means.iter_rows(named=True))) else ""
    if len(means):
        subtitle.append(f"ring, band: mean over models of one size and its 95% interval{few}, for {units}")
    # The titles of panels come directly below that of the figure.
    spec = finish(vega.grid(plots, COLUMNS, 20), title, [*subtitle, *notes], offset=14)
    return Figure(spec, pl.concat([table.select(means.columns), means]))


def _panel(
    table: pl.DataFrame, fitted: pl.DataFrame, name: str, families: Sequence[str], words: Sequence[int], human: float, at: int,
    means: pl.DataFrame, kind: Kind,
) -> Spec:  # fmt: skip
    rows = table.filter(pl.col("phenomenon") == name)
    lines = fitted.filter(pl.col("phenomenon") == name)
    series = Series(
        "family", [shown(family_name) for family_name in families], WIDTH * COLUMNS, at == 0 and len(families) > 1
    )
    across = _across(words)
    upright = vega.mean(kind, "accuracy" if kind is Kind.VERDICT else "mean", tickCount=6)
    own = means.filter(pl.col("phenomenon") == name).sort("words")
    rings = [_point(row) for row in own.iter_rows(named=True)]
    bands = [_point(row) for row in own.iter_rows(named=True) if not _of_two(row)]
    area = {"x": across, **vega.spread(upright), "color": series.colour}
    plot_layers = [
        *_means(rings, bands, area, {"x": across, "y": upright, "color": series.colour}),
        *curves.marks([_point(row) for row in rows.iter_rows(named=True)], across, upright, series, joined=False),
        _lines(lines, words, {"x": across, "y": upright, "color": series.colour}),
        *([] if isnan(human) else [vega.reference(human, upright, "y", vega.dashed(opacity=0.6))]),
    ]
    title = vega.heading("all suites" if name == "all" else readable(name), _gains(lines))
    return {"title": title, "width": WIDTH, "height": HEIGHT, "layer": plot_layers}


def _gains(lines: pl.DataFrame) -> list[str]:
    return [
        shown(f"{row['family']}: ")
        + ("no slope" if isnan(row["slope"]) else f"{row['slope']:+.4f}")
        + ("" if isnan(row["se"]) else f" (SE {row['se']:.4f})")
        + f", {counted(row['n'], 'model')}"
        for row in lines.iter_rows(named=True)
    ]


def _across(words: Sequence[int]) -> Spec:
    ticks = list(words) if len(words) <= 6 else [words[round(k * (len(words) - 1) / 4)] for k in range(5)]
    domain = (words[0] / 1.3, words[-1] * 1.3) if words else (1, 2)
    title = "words of training text (logarithmic)"
    return vega.logarithmic("words", title, domain, ticks, base=2, format=".3~s", grid=False)


def _point(row: Row) -> dict[str, object]:
    said, sd = f"{row['model']}, {row['words']:,} words: {estimated(row)}", row.get("sd", nan)
    if isnan(sd):
        return point(row, said, "family", "words")
    ends = {"sd_low": row["value"] - sd, "sd_high": row["value"] + sd}
    return point(row, f"{said}, standard deviation {sd:.3f}", "family", "words") | ends


def _of_two(row: Row) -> bool:
    """Return whether a mean is over two models or samples, whose band would fill the panel."""
    return row["model"] == "mean of 2" or "only 2 samples" in row["method"]


def _means(values: list[dict[str, object]], bands: list[dict[str, object]], area: Spec, place: Spec) -> list[Spec]:
    if not values:
        return []
    ring = layer(vega.dot(110, 0.9, False), place | {"description": {"field": "said"}}, values=values)
    sd = place | {"y": vega.of(place["y"], "sd_low"), "y2": {"field": "sd_high"}}
    bars = [layer(vega.rule(strokeWidth=1.5, clip=True), sd, values=values)] if "sd_low" in values[0] else []
    return [*([layer(vega.band(0.16), area, values=bands)] if bands else []), *bars, ring]


def _lines(lines: pl.DataFrame, words: Sequence[int], place: Spec) -> Spec:
    values = [
        {"family": shown(row["family"]), "words": at, "value": row["intercept"] + row["slope"] * log2(at)}
        for row in lines.iter_rows(named=True)
        for at in (words[0], words[-1])
        if not isnan(row["slope"])
    ]
    return layer(vega.line(1.6, clip=True), place, values=values)
