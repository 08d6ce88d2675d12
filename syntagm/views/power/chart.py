"""The figure of power: curves of power against the number of suites, items, models or judgements."""

from collections.abc import Sequence

import polars as pl

from syntagm.core import shown
from syntagm.runs import Run
from syntagm.views.drawing import axes, curves, panels
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.points import point
from syntagm.views.drawing.series import Series
from syntagm.views.drawing.text import signed
from syntagm.views.options import Measure
from syntagm.views.power.numbers import SCHEMA, Classes, Difference, Items, Models, Plan, Suites, frame, of_runs

WIDTH, HEIGHT, COLUMNS = 260, 180, 2
_TITLES = {
    "models": "models of each class", "suites": "suites", "items": "items", "judgements": "judgements of each item",
}  # fmt: skip
_WANTED = 0.8


def draw_figure(
    runs: Sequence[Run],
    suites: Suites = (),
    items: Items = (),
    models: Models = (),
    classes: Classes = (),
    difference: Difference = None,
    measure: Measure = "first",
) -> Figure:
    """Draw one panel for each pair of pilot runs, or of classes of runs.

    The errors are those of `make_table`.
    """
    return draw(of_runs(runs, suites, items, models, classes, difference, measure))


def draw(plan: Plan) -> Figure:
    """Draw the curves of a plan, against the first size of which there are several."""
    table = frame(plan)
    varying = [name for name in _TITLES if table[name].n_unique() > 1]
    across = varying[0] if varying else next(name for name in _TITLES if table[name].null_count() == 0)
    others = varying[1:]
    table = table.with_columns(
        series=pl.concat_str([pl.format(f"{{}} {name}", name) for name in others], separator=", ")
        if others
        else pl.lit("")
    )
    names = list(dict.fromkeys(table["series"]))
    ticks = sorted(set(table[across]))
    plots = []
    for at, ((a, b), rows) in enumerate(table.group_by("A", "B", maintain_order=True)):
        series = Series("series", names, WIDTH * COLUMNS, at == 0 and len(names) > 1)
        plots.append(_panel(rows, f"{b} − {a}: {signed(rows['difference'][0])}", series, across, ticks))
    subtitle = [
        f"proportion of simulated studies with p ≤ 0.05; dashed: {_WANTED}",
        "bar: 95% interval of the simulation's error",
        *_same(table, across, varying),
    ]
    spec = panels.grid(plots, min(COLUMNS, len(plots)), 22)
    return Figure(finish(spec, "Power of planned studies", subtitle, offset=14), table.select(list(SCHEMA)))


def _same(table: pl.DataFrame, across: str, varying: Sequence[str]) -> list[str]:
    """Return a line that names the sizes that don't vary."""
    constant = [f"{_TITLES[name]}: {table[name][0]}" for name in _TITLES
                if name not in (*varying, across) and table[name].null_count() == 0]  # fmt: skip
    return ["; ".join(constant)] if constant else []


def _panel(rows: pl.DataFrame, title: str, series: Series, across: str, ticks: Sequence[int]) -> Spec:
    values = [
        point(row, f"{', '.join(filter(None, (f'{row[across]} {across}', row['series'])))}: {row['power']:.3f}",
              "series", across, estimate=("power", "low", "high"))
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    domain = (ticks[0] / 1.15, ticks[-1] * 1.15)
    horizontal = axes.logarithmic(
        across, f"{_TITLES[across]} (logarithmic)", domain, ticks, base=2, format="~d", grid=False
    )
    return {
        "title": panels.heading(shown(title), anchor="start"),
        "width": WIDTH,
        "height": HEIGHT,
        "layer": curves.marks(values, horizontal, axes.proportion("power"), series, _WANTED),
    }
