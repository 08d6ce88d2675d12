"""Score against perplexity: a point for each trained model, and a horizontal line for each model of unknown perplexity."""

from collections.abc import Sequence
from itertools import accumulate
from math import log10
from typing import Any

import polars as pl

from syntagm.core import shown
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import GREY, INK, Figure, Spec, finish
from syntagm.views.drawing.vega import Series, layer, point

POINT = {
    "model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64, "score": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT = 520, 380
# The least distance between labels of lines in pixels.
_APART = 13
# The width of a digit in pixels, with its share of the space between two labels.
_DIGIT = 7.5


def draw(table: pl.DataFrame, corpora: Sequence[str], title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    known = table.filter(pl.col("perplexity").is_not_null())
    lines = table.filter(pl.col("perplexity").is_null())
    models = [shown(name) for name in dict.fromkeys(known["model"])]
    spec: Spec = {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [*_lines(lines), *_points(known, models, [shown(corpus) for corpus in corpora])],
    }
    return Figure(finish(spec, title, subtitle), table.select(list(POINT)))


def _points(table: pl.DataFrame, models: Sequence[str], corpora: Sequence[str]) -> list[Spec]:
    values = [_point(row) for row in table.iter_rows(named=True)]
    # Vega-Lite would draw nothing at all if the scale of models were empty.
    if not values:
        return []
    series = Series("model", models, WIDTH, key=True)
    channels: Spec = {"x": _logarithmic([row["perplexity"] for row in values]), "color": series.colour}
    # Dots of the smallest corpus are small and open, those of the largest are large and filled. Their scales need both ends.
    corpus: Spec = {"field": "corpus", "type": "ordinal"}
    legend = {"title": "corpus", "orient": "bottom", "titleColor": INK}
    sizes = {"domain": list(corpora), "range": [30, 30 + 45 * min(3, len(corpora) - 1)]}
    size = corpus | {"scale": sizes, "legend": legend}
    filled = corpus | {"scale": {"domain": list(corpora), "range": [int(len(corpora) < 2), 1]}, "legend": None}
    outline = series.colour | {"legend": None}
    dot = channels | {"y": _SCORE, "shape": series.shape, "size": size, "fillOpacity": filled, "stroke": outline}
    dot["description"] = {"field": "said"}
    interval = channels | vega.spread(_SCORE)
    return [
        layer(vega.rule(opacity=0.35), interval, vega.defined("low"), values),
        layer(vega.dot(opacity=0.9, strokeWidth=1.5), dot, values=values),
    ]


def _logarithmic(values: Sequence[float]) -> Spec:
    """Make a logarithmic axis for perplexities, with ticks at 1, 2 and 5 times the powers of ten if their labels have room.

    >>> _logarithmic([32.1, 529.9])["axis"]["values"], _logarithmic([32.1, 150_000])["axis"]["values"]
    ([50, 100, 200, 500], [100, 1000, 10000, 100000])
    """
    low, high = min(values, default=1) / 1.15, max(values, default=10) * 1.15
    closest = WIDTH * log10(2) / log10(high / low)
    digits = (1, 2, 5) if closest >= _DIGIT * len(f"{high:,.0f}") else (1,)
    ticks = [digit * 10**power for power in range(12) for digit in digits]
    title = "perplexity on the test text, per word (logarithmic scale)"
    return vega.logarithmic("perplexity", title, (low, high), [at for at in ticks if low <= at <= high], format=",d")


def _point(row: dict[str, Any]) -> dict[str, Any]:
    said = f"{row['model']}, {row['corpus']}: score {row['score']:.3f}, perplexity {row['perplexity']:.1f}"
    return point(row, said, "model", "corpus", "perplexity", estimate=("score", "low", "high"))


def _lines(table: pl.DataFrame) -> list[Spec]:
    """Make horizontal lines with labels at the right edge, moving labels apart that would overlap."""
    known = table.filter(pl.col("score").is_finite()).sort("score", descending=True)
    heights = [HEIGHT * (1 - score) for score in known["score"]]
    # The middle between moving labels down only and up only.
    down = accumulate(heights, lambda above, own: max(above + _APART, own))
    up = [*accumulate(heights[::-1], lambda below, own: min(below - _APART, own))][::-1]
    values = [
        {"name": shown(name), "value": score, "at": (lower + upper) / 2}
        for name, score, lower, upper in zip(known["model"], known["score"], down, up, strict=True)
    ]
    if not values:
        return []
    dashed = vega.rule(strokeDash=[5, 4], color=GREY)
    place = {"y": {"field": "at", "type": "quantitative", "scale": None}, "x": {"value": WIDTH + 6}}
    return [
        layer(dashed, {"y": _SCORE}, values=values),
        layer(vega.label(11, opacity=0.8), place | {"text": {"field": "name"}}, values=values),
    ]


_SCORE = vega.proportion("SG score")
