"""The figure of effects: one panel for each suite, one row for each comparison, with intervals and numbers."""

import textwrap
from collections.abc import Sequence
from math import isfinite, isnan, nan
from typing import Any

import polars as pl

from syntagm.core import shown
from syntagm.runs import Run
from syntagm.views.drawing import axes, dots, panels
from syntagm.views.drawing.chart import INK, Figure, Spec, finish
from syntagm.views.drawing.series import COLOURS
from syntagm.views.drawing.text import IN_FIGURE, distinct, lines, only, spoken
from syntagm.views.effects.numbers import Effect, Measure, Suite, all_effects, contrast, limits, several

SCHEMA: dict[str, Any] = {
    "model": pl.String, "suite": pl.String, "measure": pl.String, "comparison": pl.String, "contrast": pl.String,
    "n": pl.Int64, "effect_bits": pl.Float64, "low": pl.Float64, "high": pl.Float64, "d": pl.Float64,
}  # fmt: skip
WIDTH = 420
# A figure with more effects than this also has an axis at the top.
MANY = 25


def draw_figure(runs: Sequence[Run], suite: Suite = "", measure: Measure = "each") -> Figure:
    """Draw the effects, one panel for each suite and one row for each comparison.

    The errors are the same as for `make_table`.
    """
    drawn = list(all_effects(runs, suite, measure))
    skipped = any(len(record.predictions) > 1 for run in runs for record in run.suites if suite in ("", record.name))
    return draw(drawn, "Effects", measure if skipped else "each")


def draw(
    estimated: Sequence[Effect], title: str = "", measure: str = "each", ends: tuple[float, float] | None = None
) -> Figure:
    """Draw effects, one panel for each suite, in the order of first appearance."""
    # If every suite has the same single comparison, as minimal pairs do, one panel has a row for each suite.
    ends = ends or extent(estimated)
    models = list(distinct(effect.estimate.group.model for effect in estimated).values())
    by_suite: dict[str, list[Effect]] = {}
    for effect in estimated:
        by_suite.setdefault(effect.estimate.group.suite, []).append(effect)
    below = ["mean difference within items in bits, 95% interval; right of 0 supports the prediction", *only(models)]
    below += [] if measure == "each" else [_named(measure)]
    compared = {contrast(effect.comparison) for effect in estimated}
    if len(compared) == 1 and len(by_suite) > 1 and not several(estimated):
        below.append(f"effect: {compared.pop()}")
        spec = panel(estimated, models, "", ends, by_suite=True)
    else:
        labelled = [""] * (len(by_suite) - 1) + ["bottom"]
        if len(estimated) > MANY:
            labelled[0] = "top"
        plots = [
            panel(of_suite, models, suite, ends, at == 0, labelled[at])
            for at, (suite, of_suite) in enumerate(by_suite.items())
        ]
        spec = panels.pile(plots, 8)
    return Figure(finish(spec, title, [*below, *lines(limits(estimated, IN_FIGURE))], offset=14), frame(estimated))


def _in_bits(effect_bits: float, low: float, high: float) -> str:
    """Format an effect with its interval, for the right edge of the figure.

    >>> _in_bits(-0.5, -1.25, 0.25), _in_bits(-1e-9, nan, nan), _in_bits(nan, nan, nan)
    ('−0.50 [−1.25, 0.25]', '0.00', 'undefined')
    """
    if isnan(effect_bits):
        return "undefined"
    value, *ends = (f"{round(number, 2) + 0.0:.2f}" for number in (effect_bits, low, high))
    return (value if isnan(low) else f"{value} [{', '.join(ends)}]").replace("-", "−")


def _named(measure: str) -> str:
    return "first prediction of each suite only" if measure == "first" else f"prediction {shown(measure)} only"


def frame(estimated: Sequence[Effect]) -> pl.DataFrame:
    """Return effects as a frame, with the columns of `SCHEMA`."""
    rows = [
        (group.model, group.suite, group.measure, str(effect.comparison), contrast(effect.comparison), effect.estimate.n,
         *effect.estimate.numbers[:3], effect.d)
        for effect in estimated for group in [effect.estimate.group]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def extent(estimated: Sequence[Effect]) -> tuple[float, float]:
    """Return the lowest and the highest number of bits to draw, including all intervals and 0."""
    ends = [end for effect in estimated for end in effect.estimate.numbers[:3] if isfinite(end)]
    return min([0.0, *ends]), max([0.0, *ends])


def panel(
    estimated: Sequence[Effect],
    models: Sequence[str],
    title: str,
    ends: tuple[float, float],
    key: bool = True,
    labelled: str = "bottom",
    by_suite: bool = False,
) -> Spec:
    """Make a panel with a row for each comparison."""
    apart = several(estimated)
    rows = []
    for of_row, row in zip(estimated, frame(estimated).iter_rows(named=True), strict=True):
        effect = f"{row['measure']}, {row['contrast']}" if apart else row["contrast"]
        name = row["suite"] if by_suite else effect
        numbers = {key: row[key] if isfinite(row[key]) else nan for key in ("effect_bits", "low", "high")}
        described = f"{row['model']}, {row['suite']}, {effect}: {spoken(*numbers.values())} bits, n={row['n']}"
        rows.append(
            {
                **{
                    "name": "\n".join(textwrap.wrap(shown(name), 48, break_on_hyphens=False)),
                    "series": row["model"],
                    "note": _in_bits(**numbers),
                    "method": of_row.estimate.method,
                },
                **dict(zip(("value", "low", "high"), numbers.values(), strict=True)),
                "said": described + ("" if isnan(row["d"]) else f", d={row['d']:.2f}"),
            }
        )
    title_of_axis = "effect (bits)" if labelled else None
    scale = {"domain": list(ends), "nice": True}
    edge = {"labels": bool(labelled), "ticks": bool(labelled), "orient": labelled or "bottom"}
    axis = axes.quantity("value", title_of_axis, scale, tickCount=6, **edge)
    # A single model is not a series: its colour could be taken for that of a condition.
    colours = COLOURS if len(models) > 1 else (INK,)
    return dots.panel(rows, axis, title, 0.0, models, WIDTH, key=key and len(models) > 1, colours=colours)
