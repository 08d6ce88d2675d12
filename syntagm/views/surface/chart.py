"""Accuracy against what is shallow about pairs (length, surprisal, confidence): a panel a property, a line a model."""

from collections.abc import Mapping, Sequence

import polars as pl

from syntagm.drawing.chart import Figure, Spec, colours, finish, legend, only, shapes, shown
from syntagm.drawing.dots import GREY
from syntagm.drawing.table import or_none
from syntagm.errors import UsageError
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import binned
from syntagm.views.surface.pair_properties import PAIRS, PROPERTIES, properties

SHOWN = ("words", "bits_per_word", "bits", "confidence")
WIDTH, HEIGHT, COLUMNS = 300, 200, 2


def draw(table: pl.DataFrame, title: str = "", labels: Mapping[str, str] = PROPERTIES) -> Figure:
    """The figure.

    Arguments:
        table: columns as in `binned.SCHEMA`.
        labels: property -> what its axis is called.
    """
    models = [shown(name) for name in dict.fromkeys(table["model"])]
    present = [name for name in labels if name in set(table["property"])]
    panels = [_panel(table, name, labels[name], models, at == 0) for at, name in enumerate(present)]
    counts = sorted(table["n"]) or [0]
    subtitle = (
        f"bins of {counts[0]:,} to {counts[-1]:,} pairs; "
        "bar: 95% interval, suites and the pairs in them drawn anew; dashed: chance"
    )
    spec: Spec = {"concat": panels, "columns": COLUMNS, "spacing": 28}
    return Figure(finish(spec, title, [subtitle, *only(models)]), table.select(list(binned.SCHEMA)))


def draw_figure(runs: Sequence[Run], measure: str = "full_sentence") -> Figure:
    """The curves of some runs over all their suites of minimal pairs.

    Raises:
        UsageError: there are none.
    """
    tables = [pairs(name, run, measure) for name, run in named(runs)]
    if all(table.is_empty() for table in tables):
        raise UsageError("measure", f"no suite of minimal pairs with {measure!r}", "at least one")
    return draw(binned.curves(pl.concat(tables), SHOWN), "Accuracy and what is shallow about pairs")


def pairs(name: str, run: Run, measure: str = "full_sentence") -> pl.DataFrame:
    """A row a pair of a run: model (`name`), suite, item, occurrence, value, margin, and the columns of `PROPERTIES`."""
    scored = run.record["model"]["start"] is not None
    tables = [
        properties(run.sentences(one.name), run.results(one.name).filter(pl.col("measure") == measure), scored)
        for one in run.suites
        if measure in one.predictions and {"good", "bad"} <= set(one.conditions)
    ]
    # Without suites of pairs there are no rows, but the columns are there.
    return pl.concat([pl.DataFrame(schema=PAIRS), *tables]).select(pl.lit(name).alias("model"), pl.all())


def _panel(table: pl.DataFrame, name: str, label: str, models: Sequence[str], key: bool) -> Spec:
    rows = table.filter(pl.col("property") == name)
    values = [_value(row, shift) for row, shift in zip(rows.iter_rows(named=True), _shifts(rows), strict=True)]
    told = legend(models, WIDTH * COLUMNS) if key and len(models) > 1 else None
    across: Spec = {
        "field": "middle", "type": "quantitative", "title": label, "scale": {"zero": False, "nice": True},
        "axis": {"grid": False, "tickCount": 6},
    }  # fmt: skip
    channels: Spec = {
        "x": across,
        "color": {"field": "model", "type": "nominal", "scale": colours(models), "legend": told},
    }
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": values},
        "layer": _layers(channels, {"field": "model", "type": "nominal", "scale": shapes(models), "legend": told}),
    }


def _shifts(rows: pl.DataFrame) -> list[float]:
    """How far each dot is moved, so that bars at the same place can be told apart: within 2 % of the width, or not at all."""
    models = list(dict.fromkeys(rows["model"]))
    middles = rows["middle"].to_list()
    if len(set(middles)) == len(middles):
        return [0.0] * len(middles)
    step = 0.02 * (max(middles) - min(middles)) / max(len(models) - 1, 1)
    return [(models.index(model) - (len(models) - 1) / 2) * step for model in rows["model"]]


def _value(row: Mapping[str, object], shift: float) -> dict[str, object]:
    numbers = {key: or_none(row[key]) for key in ("value", "low", "high")}
    model = shown(str(row["model"]))
    said = f"{model}: {row['value']:.3f} of {row['n']:,} pairs between {row['start']:.4g} and {row['end']:.4g}"
    return {"model": model, "middle": float(str(row["middle"])) + shift, **numbers, "said": said}


def _layers(channels: Spec, shape: Spec) -> list[Spec]:
    upright: Spec = {
        "type": "quantitative", "title": "accuracy", "scale": {"domain": [0, 1]},
        "axis": {"format": ".1f", "values": [0, 0.2, 0.4, 0.6, 0.8, 1], "tickCount": 6},
    }  # fmt: skip
    interval = channels | {"y": upright | {"field": "low"}, "y2": {"field": "high"}}
    value = channels | {"y": upright | {"field": "value"}}
    dashed = {"type": "rule", "strokeDash": [4, 3], "color": GREY, "aria": False}
    return [
        {"mark": dashed, "encoding": {"y": {"datum": 0.5}}},
        {"mark": {"type": "rule", "opacity": 0.45, "aria": False}, "encoding": interval},
        {"mark": {"type": "line", "strokeWidth": 1.6, "aria": False}, "encoding": value},
        {
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": value | {"shape": shape, "description": {"field": "said"}},
        },
    ]
