"""The figure of conventions: how many verdicts differ between each two conventions, with the accuracy under each."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from syntagm.core import counted, shown
from syntagm.runs import Run, named, titles
from syntagm.views.conventions.numbers import Source, all_results, choose, flips, wide
from syntagm.views.conventions.table import HowCase, HowTokens, Names, Ratings, Suite, Unigrams
from syntagm.views.drawing.chart import INK, Figure, Spec, finish
from syntagm.views.drawing.layers import layer
from syntagm.views.drawing.panels import heading

SCHEMA = {
    "model": pl.String, "suite": pl.String, "a": pl.String, "b": pl.String, "n": pl.Int64, "flips": pl.Int64,
    "accuracy_a": pl.Float64, "accuracy_b": pl.Float64,
}  # fmt: skip
SIDE = 30


def draw_figure(
    runs: Sequence[Run],
    unigrams: Unigrams = "",
    ratings: Ratings = "",
    convention: Names = (),
    suite: Suite = "",
    tokens: HowTokens = "blanks",
    case: HowCase = "keep",
) -> Figure:
    """Draw a panel for each model, in which each cell is a pair of conventions; its numbers are by suite.

    Raises:
        UsageError: as for the table.
    """
    source = Source(unigrams, ratings, tokens, case)
    titled = titles(runs)
    rows: list[tuple[object, ...]] = []
    for model, run in named(runs):
        results = all_results(run, choose(run, source, convention), tokens, suite)
        hashes = {record.name: record.hash for record in run.suites}
        for (name,), own in results.group_by("suite", maintain_order=True):
            rows += _pairs(model, titled[str(name), hashes[str(name)]], wide(own))
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return draw(table, "Verdicts that depend on the convention")


def _pairs(model: str, suite: str, by_name: Mapping[str, pl.DataFrame]) -> Iterator[tuple[object, ...]]:
    names = list(by_name)
    means = {name: rows["value"].fill_nan(None).mean() for name, rows in by_name.items()}
    for place, a in enumerate(names):
        for b in names[place:]:
            one, other = by_name[a], by_name[b]
            both = int((one["value"].is_not_nan() & other["value"].is_not_nan()).sum())
            yield model, suite, a, b, both, flips(one, other), means[a], means[b]


def draw(table: pl.DataFrame, title: str = "") -> Figure:
    """Draw the pairs of conventions."""
    models = table["model"].unique(maintain_order=True).to_list()
    suites = {model: counted(table.filter(model=model)["suite"].n_unique(), "suite") for model in models}
    panels = [
        _panel(table.filter(model=model), f"{model}, {suites[model]}" if len(models) > 1 else "", at == 0)
        for at, model in enumerate(models)
    ]
    over = f", in {suites[models[0]]}" if len(models) == 1 else ""
    judged = f"per cent of pairs that two conventions judge differently{over}"
    subtitle = [f"{judged}; on the diagonal, in italics: accuracy under one"]
    spec: Spec = {"hconcat": panels, "spacing": 24}
    return Figure(finish(spec, title, subtitle), table)


def _panel(rows: pl.DataFrame, title: str, labels: bool) -> Spec:
    summed = rows.group_by("a", "b", maintain_order=True).agg(
        pl.col("n").sum(), pl.col("flips").sum(), pl.col("accuracy_a").mean()
    )
    names = list(dict.fromkeys(shown(name) for name in summed["a"]))
    values = []
    for a, b, n, flipped, accuracy in summed.iter_rows():
        share = flipped / n if n else None
        own = a == b
        number = accuracy if own else share
        text = "" if number is None else f"{100 * number:.1f}" if not own or number < 1 else "100"
        said = (
            f"{shown(a)}: accuracy {text} per cent"
            if own
            else f"{shown(a)} and {shown(b)}: {flipped} of {n} pairs differ"
        )
        cell = {"row": shown(b), "column": shown(a), "share": None if own else share}
        values.append({**cell, "text": text, "said": said, "own": own})
    axis = {"title": None, "labelLimit": 240, "ticks": False, "domain": False}
    x = {"field": "column", "type": "nominal", "sort": names, "axis": {**axis, "labelAngle": -55, "orient": "bottom"}}
    y = {"field": "row", "type": "nominal", "sort": names, "axis": axis if labels else None}
    highest = max((value["share"] or 0 for value in values), default=0) or 1
    colour = {
        "field": "share", "type": "quantitative", "legend": None,
        "scale": {"domain": [0, highest], "range": ["#FFFFFF", "#E69F00"]},
    }  # fmt: skip
    cells = layer(
        {"type": "rect", "stroke": "#DDDDDD"}, {"x": x, "y": y, "color": colour, "description": {"field": "said"}}
    )
    texts = [
        layer(
            {"type": "text", "fontSize": 9, "color": INK, "fontStyle": style},
            {"x": x, "y": y, "text": {"field": "text"}},
        )
        | {"transform": [{"filter": f"datum.own == {flag}"}]}
        for style, flag in (("italic", "true"), ("normal", "false"))
    ]
    size = SIDE * len(names)
    panel: Spec = {"width": size, "height": size, "data": {"values": values}, "layer": [cells, *texts]}
    return panel | ({"title": heading(title)} if title else {})
