"""Nucleus: scores at cut-offs at the top (nucleus) and at the bottom of the model's distribution, by construction."""

from collections.abc import Mapping, Sequence
from math import ceil, isnan
from typing import Annotated, Literal

import polars as pl

from syntagm.core import UsageError, shown
from syntagm.evaluation import Estimate, MeasureName, parse_cut
from syntagm.runs import Run
from syntagm.views import gaps
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.text import readable
from syntagm.views.drawing.vega import Row, Series, estimated, layer, point

SCHEMA = {
    "group": pl.String, "model": pl.String, "end": pl.String, "share": pl.Float64, "whole": pl.Boolean, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "undefined": pl.Int64, "method": pl.String,
}  # fmt: skip
Weight = Literal["equal_weight", "model_weight", "covered", "invalid"]
MEASURES = {
    "equal_weight": "equal weight (EW)",
    "model_weight": "model weight (MW)",
    "covered": "mass of counted forms",
    "invalid": "share of invalid contexts",
}
WIDTH, HEIGHTS = 180, {"top": 110, "bottom": 60}
TOP, BOTTOM = "top", "bottom"


def row_of(estimate: Estimate, group: str, model: str, measure: str) -> tuple[object, ...] | None:
    """Return the row of an estimate at a cut-off, or None if it belongs to another measure."""
    if MeasureName.parse(estimate.group.measure).name != measure:
        return None
    cut = parse_cut(estimate.group.measure, measure)
    end, share = (BOTTOM, cut.bottom) if cut.bottom < 1 else (TOP, cut.top)
    return (group, model, end, share, cut.whole, *estimate.numbers[:4], estimate.undefined, estimate.method)


def title(measure: str) -> str:
    return MEASURES[measure][0].upper() + MEASURES[measure][1:] + " at cut-offs"


def subtitle(measure: str, runs: Sequence[tuple[str, Run]]) -> list[str]:
    explanations = {
        "equal_weight": "proportion of lemmas whose correct form is more probable",
        "model_weight": "proportion of the probability mass of counted forms that is on correct forms",
        "covered": "probability mass of the counted forms",
        "invalid": "proportion of contexts in which no lemma counts",
    }
    several = [shown(name) for name, run in runs if gaps.several_tokens(run)]
    names = f" for {', '.join(several)}" if len(several) < len(runs) else ""
    pale = "the paler a dot, the fewer contexts are valid; " if measure in ("equal_weight", "model_weight") else ""
    return [
        f"{explanations[measure]}; mean over contexts; band, bar: 95% interval",
        "upper panels: most probable tokens with the probability mass on the axis; lower panels: least probable tokens",
        f"{pale}dot at 1: no cut-off" + (f", forms of several tokens included{names}" if several else ""),
    ]


def draw_figure(
    runs: Sequence[Run], measure: Annotated[Weight, "the measure that is drawn at each cut-off"] = "equal_weight"
) -> Figure:
    """Draw fill runs at their cut-offs, by the tag `construction` of their suites, or by suite without the tag.

    Raises:
        UsageError: no run has cut-offs.
        RunError: a run is not a fill run.
    """
    rows, named_runs = [], gaps.filled(runs)
    for name, run in named_runs:
        tagged = all("construction" in suite.tags for suite in run.suites)
        for estimate in gaps.pooled(run) if tagged else gaps.estimates(run):
            group = estimate.group["construction"] if tagged else estimate.group.suite
            if row := row_of(estimate, group, name, measure):
                rows.append(row)
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    if table["whole"].all():
        cure = "Make one with `syntagm fill ... --top published --bottom published`."
        raise UsageError("the runs", "no cut-offs", "a run with cut-offs", cure)
    return draw(table, measure, title(measure), subtitle(measure, named_runs))


def draw(table: pl.DataFrame, measure: str, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """Draw two panels for each group: top cut-offs on a linear axis and, below, bottom cut-offs on a logarithmic axis."""
    models = list(dict.fromkeys(table["model"]))
    groups = list(dict.fromkeys(table["group"]))
    ends = [end for end in (TOP, BOTTOM) if (table["end"] == end).any()]
    # The number of columns that leaves the fewest empty places in the last row.
    columns = min((5, 4, 3), key=lambda many: -len(groups) % many) if len(groups) > 3 else max(len(groups), 1)
    uprights = {end: _upright(table.filter(pl.col("end") == end), measure) for end in ends}
    plots = [
        _pair(table.filter(pl.col("group") == group), group, uprights, models, at, columns)
        for at, group in enumerate(groups)
    ]
    spec = finish(vega.grid(plots, columns, 22), title, subtitle, offset=14)
    return Figure(spec, table.select(list(SCHEMA)))


def _pair(
    rows: pl.DataFrame, name: str, uprights: Mapping[str, Spec], models: Sequence[str], at: int, columns: int
) -> Spec:
    series = Series("model", [shown(model) for model in models], WIDTH * columns, at == 0 and len(models) > 1)
    # The title of the axis appears once in each row of panels.
    titled_end = next(iter(uprights)) if at % columns == 0 else ""
    plots = [
        _panel(rows.filter(pl.col("end") == end), end, up | ({} if end == titled_end else {"title": ""}), series)
        for end, up in uprights.items()
    ]
    title = vega.heading(readable(name), limit=WIDTH + 30)
    return {"title": title, **vega.pile(plots, 6)}


def _panel(rows: pl.DataFrame, end: str, up: Spec, models: Series) -> Spec:
    # A line and a band join the dots of several cut-offs; a single dot has a bar.
    cut = pl.col("whole").not_()
    rows = rows.filter(pl.col("value").is_not_nan()).with_columns(joined=cut & (cut.sum().over("model") > 1))
    values = [_point(row) for row in rows.iter_rows(named=True)]
    place: Spec = {"x": _across(end, rows["share"].to_list()), "color": models.colour}
    pale = {"field": "valid", "type": "quantitative", "scale": {"domain": [0, 1], "range": [0.25, 1]}, "legend": None}
    dot = place | {"y": up, "shape": models.shape, "description": {"field": "said"}, "opacity": pale}
    joined = vega.equal("joined", True)
    dash = [4, 3] if end == BOTTOM else [1, 0]
    return {
        "width": WIDTH,
        "height": HEIGHTS[end],
        "data": {"values": values},
        "layer": [
            layer(vega.band(0.18), place | vega.spread(up), joined),
            layer(vega.rule(opacity=0.35), place | vega.spread(up), vega.equal("joined", False)),
            layer(vega.line(1.5, strokeDash=dash), place | {"y": up}, joined),
            layer(vega.dot(26, opacity=None), dot),
        ],
    }


def _upright(rows: pl.DataFrame, measure: str) -> Spec:
    """Make the vertical channel for all top or all bottom panels: up to 1, or up to the largest value for a mass."""
    finite = [number for number in (*rows["value"], *rows["high"]) if not isnan(number)]
    top = min(1.0, ceil(max(finite, default=1.0) * 20 + 1e-9) / 20) if measure == "covered" else 1.0
    axis = {"format": ".1f" if top == 1 else ".3~f", "values": [0, top / 2, top], "titleFontSize": 11}
    return vega.quantity("value", MEASURES[measure], {"domain": [0, top]}, **axis)


def _across(end: str, shares: Sequence[float]) -> Spec:
    title = f"{end} cut-off"
    if end == TOP:
        quarters = [0, 0.25, 0.5, 0.75, 1]
        return vega.proportion(title, "share", quarters, format=".2~f", titleFontSize=11)
    ticks = sorted(set(shares), reverse=True)
    domain = (min(ticks) / 1.5, 1.0) if ticks else (0.1, 1.0)
    # Of cut-offs with powers of ten among them, only these are labelled, because more labels would overlap.
    powers = [share for share in ticks if f"{share:e}".startswith("1.000000e")] or ticks
    return vega.logarithmic(
        "share", title, domain, powers[:: 1 if len(powers) < 4 else 2], format=".0e", titleFontSize=11
    )


def _point(row: Row) -> dict[str, object]:
    where = "nothing cut off" if row["whole"] else f"{row['end']} {row['share']:g}"
    said = f"{row['model']}, {row['group']}, {where}: {estimated(row)}"
    valid = row["n"] / max(row["n"] + row["undefined"], 1)
    return {**point(row, said, "model", "share", "joined"), "valid": valid}
