"""Learning curves: accuracy against the words of the training text, a panel a phenomenon, a point a model, a line a family.

A line is straight on the logarithm of the training text: its slope is the gain for each doubling, by least squares over models
(sizes and seeds). Its standard error is about models drawn like these, not about items, and takes them for independent, though
parts of one corpus share text.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, log2, nan
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from syntagm.drawing import axes, layers, panels
from syntagm.drawing.chart import Figure, Spec, finish
from syntagm.drawing.layers import layer
from syntagm.drawing.series import Series
from syntagm.drawing.text import counted, numbers, shown
from syntagm.errors import UsageError
from syntagm.io.number import LARGEST, whole
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.views.scores.numbers import scores

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
class Line:
    """accuracy = intercept + slope * log2(words).

    Arguments:
        se: of the slope; nan with two models, or one size.
        low, high: 95 % interval of the slope, from Student's t with n - 2 degrees of freedom.
        n, sizes: how many models, and sizes of text.
    """

    slope: float
    se: float
    low: float
    high: float
    intercept: float
    n: int
    sizes: int

    def words_at(self, accuracy: float) -> float:
        """At how many words the line reaches an accuracy; infinite if it never does.

        >>> line([1, 2, 4], [0.5, 0.6, 0.7]).words_at(0.9)
        16.0
        """
        if not self.slope > 0:
            return math.nan if math.isnan(self.slope) else math.inf
        power = round((accuracy - self.intercept) / self.slope, 9)
        return math.inf if power > 1000 else 2.0**power


def line(words: ArrayLike, accuracy: ArrayLike) -> Line:
    """The line through the models; values that are nan are left out.

    >>> found = line([1, 2, 4, 8], [0.5, 0.6, 0.6, 0.7])  # (1.5 * 0.1 + 1.5 * 0.1) / 5
    >>> round(found.slope, 6), round(found.se, 6), found.n  # residuals 0.01 and 0.03, twice: sqrt(0.002 / 2 / 5)
    (0.06, 0.014142, 4)
    """
    from scipy.special import stdtrit

    x, y = np.log2(np.asarray(words, np.float64)), np.asarray(accuracy, np.float64)
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    n, sizes = len(y), len(np.unique(x))
    if sizes < 2:
        return Line(*(math.nan,) * 5, n, sizes)
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    intercept = float(y.mean() - slope * x.mean())
    if n < 3:
        return Line(slope, math.nan, math.nan, math.nan, intercept, n, sizes)
    residual = float(((y - intercept - slope * x) ** 2).sum())
    se = math.sqrt(residual / (n - 2) / spread)
    reach = se * float(stdtrit(n - 2, 0.975))
    return Line(slope, se, slope - reach, slope + reach, intercept, n, sizes)


def slopes(accuracies: pl.DataFrame, phenomena: Sequence[str] | None = None) -> pl.DataFrame:
    """A row a family and phenomenon, with columns as in `SLOPES`, in the order of first appearance.

    Arguments:
        accuracies: a row a model and phenomenon: family, phenomenon, words (of the training text), value.
        phenomena: only these.
    """
    kept = accuracies if phenomena is None else accuracies.filter(pl.col("phenomenon").is_in(phenomena))
    rows = []
    for (family, phenomenon), table in kept.group_by("family", "phenomenon", maintain_order=True):
        one = line(table["words"].to_numpy(), table["value"].to_numpy())
        rows.append((family, phenomenon, one.slope, one.se, one.low, one.high, one.intercept, one.n, one.sizes))
    return pl.DataFrame(rows, schema=SLOPES, orient="row")


def family(run: Run) -> str:
    """What kind of model a run is of: what stands before the colon in its name."""
    return run.model.partition(":")[0]


def training_words(runs: Sequence[Run], words: str = "") -> list[int | None]:
    """How many words each run's model was trained on; None where it isn't known.

    Raises:
        UsageError: not a number a run.
    """
    if not words:
        return [_of_experiment(run) for run in runs]
    given = [_in_digits(one.strip().replace("_", "")) for one in words.split(",")]
    if len(given) != len(runs):
        raise UsageError("words", repr(words), f"{len(runs)} whole numbers, with commas between, or - for unknown")
    return [None if one == "-" else whole("words", one, also="- for unknown") for one in given]


def _in_digits(text: str) -> str:
    """A whole number with a point or an exponent in digits, all else as it stands.

    >>> _in_digits("1e6"), _in_digits("2.5E3"), _in_digits("1.5"), _in_digits("-")
    ('1000000', '2500', '1.5', '-')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if not text.isdecimal() and number.is_integer() and number <= LARGEST else text


def _of_experiment(run: Run) -> int | None:
    """What stands in the folder of a controlled experiment, beside its runs."""
    if run.folder is None:
        return None
    path = run.folder.resolve().parent.parent / "perplexity" / f"{run.folder.resolve().name}.json"
    try:
        found = json.loads(path.read_bytes())["training_words"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) and found > 0 else None


def draw_figure(
    runs: Sequence[Run],
    tag: Annotated[str, "a tag of the suites"] = "linguistics_term",
    measure: Annotated[str, "a prediction's name"] = "full_sentence",
    words: Annotated[str, "of the training texts, numbers in the order of the runs, `-` for unknown"] = "",
) -> Figure:
    """Draw the curves of models that were trained on texts of known sizes.

    Arguments:
        words: numbers (1000000 or 1e6) with commas between. Without: what the experiment says in whose folder the run lies.

    Raises:
        UsageError: not a number a run, no size is known, or no suite has the tag and the measure.
    """
    rows = []
    for (name, run), size in zip(named(runs), training_words(runs, words), strict=True):
        rows += [
            (one.group[tag], family(run), name, size, one.value, one.low, one.high, one.n, one.method)
            for one in scores(run, measure, tag)
            if size is not None
        ]
    if not rows:
        cure = "Give the sizes in the order of the runs: words=1000000,5000000"
        raise UsageError("learning_curve", "no size of a training text, or no suite to go by", "both", cure)
    return draw(pl.DataFrame(rows, schema=SCHEMA, orient="row"), title="Accuracy and training text")


def draw(table: pl.DataFrame, humans: Mapping[str, float] | None = None, title: str = "") -> Figure:
    """Draw the curves; under each name stands the gain of each family for a doubling of the text.

    Arguments:
        table: a row a phenomenon and model, columns as in `SCHEMA`.
        humans: phenomenon -> what people score.
    """
    families = list(dict.fromkeys(table["family"]))
    fitted = slopes(table)
    phenomena = list(dict.fromkeys(table["phenomenon"]))
    words = sorted(set(table["words"]))
    parts = [
        _panel(table, fitted, one, families, words, (humans or {}).get(one, nan), at)
        for at, one in enumerate(phenomena)
    ]
    subtitle = "bar: 95% interval, items drawn anew; line: least squares, with its gain for each doubling of the text"
    subtitle += "; dashed: people" if humans else ""
    # Titles of panels stand close under that of the figure.
    made = finish(panels.grid(parts, COLUMNS, 20), title, subtitle, offset=14)
    return Figure(made, table.select(list(SCHEMA)))


def _panel(
    table: pl.DataFrame, fitted: pl.DataFrame, name: str, families: Sequence[str], words: Sequence[int], human: float, at: int
) -> Spec:  # fmt: skip
    rows = table.filter(pl.col("phenomenon") == name)
    lines = fitted.filter(pl.col("phenomenon") == name)
    told = Series("family", [shown(one) for one in families], WIDTH * COLUMNS, at == 0 and len(families) > 1)
    across = _across(words)
    upright = axes.proportion("accuracy", tickCount=6)
    made = [
        *_points([_value(row) for row in rows.iter_rows(named=True)], across, upright, told),
        _lines(lines, words, {"x": across, "y": upright, "color": told.colour}),
        *([] if isnan(human) else [layers.reference(human, upright, "y", layers.dashed(opacity=0.6))]),
    ]
    title = panels.heading("all suites" if name == "all" else name.replace("_", " "), _gains(lines))
    return {"title": title, "width": WIDTH, "height": HEIGHT, "layer": made}


def _gains(lines: pl.DataFrame) -> list[str]:
    """The slope of each family, with its standard error, in words; a line a family."""
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
    return axes.logarithmic("words", title, domain, ticks, base=2, format=".2~s", grid=False)


def _value(row: Mapping[str, object]) -> dict[str, object]:
    found = numbers(row, "value", "low", "high")
    said = "undefined" if found["value"] is None else f"{row['value']:.3f}, n={row['n']}"
    said = f"{row['model']}, {row['words']:,} words: {said}"
    return {"family": shown(str(row["family"])), "words": row["words"], **found, "said": shown(said)}


def _points(values: list[dict[str, object]], across: Spec, upright: Spec, families: Series) -> list[Spec]:
    kept = [one for one in values if one["value"] is not None]
    place: Spec = {"x": across, "color": families.colour}
    dot = place | {"y": upright, "shape": families.shape, "description": {"field": "said"}}
    bounded = [one for one in kept if one["low"] is not None]
    return [
        layer(layers.rule(opacity=0.4), place | axes.spread(upright), values=bounded),
        layer(layers.dot(45, 0.9), dot, values=kept),
    ]


def _lines(lines: pl.DataFrame, words: Sequence[int], place: Spec) -> Spec:
    values = [
        {"family": shown(row["family"]), "words": at, "value": row["intercept"] + row["slope"] * log2(at)}
        for row in lines.iter_rows(named=True)
        for at in (words[0], words[-1])
        if not isnan(row["slope"])
    ]
    return layer(layers.line(1.6, clip=True), place, values=values)
