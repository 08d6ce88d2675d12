"""Score against perplexity: a point a trained model; models whose perplexity isn't known as horizontal lines."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from syntagm.drawing.chart import INK, Figure, Spec, colours, finish, legend, shapes, shown
from syntagm.drawing.table import or_none

POINT = {
    "model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64, "score": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT = 520, 380
# Labels of lines stand at least so far apart, pixels.
_APART = 13


def draw(table: pl.DataFrame, corpora: Sequence[str], title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """The figure.

    Arguments:
        table: columns as in `POINT`; a row whose perplexity is null is a line.
        corpora: in ascending order of size.
    """
    known = table.filter(pl.col("perplexity").is_not_null())
    lines = table.filter(pl.col("perplexity").is_null())
    models = [shown(name) for name in dict.fromkeys(known["model"])]
    spec: Spec = {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [*_lines(lines), *_points(known, models, [shown(one) for one in corpora])],
    }
    return Figure(finish(spec, title, subtitle), table.select(list(POINT)))


def _points(table: pl.DataFrame, models: Sequence[str], corpora: Sequence[str]) -> list[Spec]:
    values = [_point(row) for row in table.iter_rows(named=True)]
    key = legend(models, WIDTH)
    sizes = [30 + 45 * at for at in range(len(corpora))]
    channels: Spec = {
        "x": {"field": "perplexity", "type": "quantitative", **_logarithmic([row["perplexity"] for row in values])},
        "color": {"field": "model", "type": "nominal", "scale": colours(models), "legend": key},
    }  # fmt: skip
    # The scale of models is empty if none has a perplexity, and then nothing is drawn.
    size = {
        "field": "corpus", "type": "ordinal", "scale": {"domain": list(corpora), "range": sizes},
        "legend": {"title": "corpus", "orient": "bottom", "titleColor": INK},
    }  # fmt: skip
    dot = channels | {
        "y": _SCORE | {"field": "score"},
        "shape": {"field": "model", "type": "nominal", "scale": shapes(models), "legend": key},
        "size": size,
        "description": {"field": "said"},
    }
    known = [{"filter": {"field": "low", "valid": True}}]
    interval = channels | {"y": _SCORE | {"field": "low"}, "y2": {"field": "high"}}
    return (
        [
            {
                "data": {"values": values},
                "transform": known,
                "mark": {"type": "rule", "opacity": 0.35, "aria": False},
                "encoding": interval,
            },
            {"data": {"values": values}, "mark": {"type": "point", "filled": True, "opacity": 0.9}, "encoding": dot},
        ]
        if values
        else []
    )


def _logarithmic(values: Sequence[float]) -> Spec:
    """A logarithmic axis around some numbers, with ticks at 1, 2 and 5 times powers of ten.

    >>> _logarithmic([32.1, 529.9])["axis"]["values"]
    [50, 100, 200, 500]
    """
    low, high = min(values, default=1) / 1.15, max(values, default=10) * 1.15
    ticks = [digit * 10**power for power in range(12) for digit in (1, 2, 5)]
    return {
        "title": "perplexity on the test text, per word (logarithmic scale)",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"format": ",d", "values": [tick for tick in ticks if low <= tick <= high]},
    }


def _point(row: dict[str, Any]) -> dict[str, Any]:
    names = {name: shown(str(row[name])) for name in ("model", "corpus")}
    said = f"{names['model']}, {names['corpus']}: score {row['score']:.3f}, perplexity {row['perplexity']:.1f}"
    ends = {name: or_none(row[name]) for name in ("score", "low", "high")}
    return {**names, "perplexity": row["perplexity"], **ends, "said": said}


def _lines(table: pl.DataFrame) -> list[Spec]:
    """Horizontal lines with their names at the right edge, moved apart where they would overlap."""
    values: list[dict[str, Any]] = []
    at = float("inf")
    for row in table.filter(pl.col("score").is_finite()).sort("score").iter_rows(named=True):
        at = min(at - _APART, HEIGHT * (1 - row["score"]))
        values.append({"name": shown(row["model"]), "score": row["score"], "at": at})
    dashed = {"type": "rule", "strokeDash": [5, 4], "color": "#808080", "aria": False}
    name = {"type": "text", "align": "left", "fontSize": 11, "color": INK, "opacity": 0.8}
    place = {"field": "at", "type": "quantitative", "scale": None}
    if not values:
        return []
    return [
        {"data": {"values": values}, "mark": dashed, "encoding": {"y": _SCORE | {"field": "score"}}},
        {
            "data": {"values": values}, "mark": name,
            "encoding": {"y": place, "x": {"value": WIDTH + 6}, "text": {"field": "name"}},
        },
    ]  # fmt: skip


_SCORE: Spec = {
    "type": "quantitative",
    "title": "SG score",
    "scale": {"domain": [0, 1]},
    "axis": {"format": ".1f", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
}
