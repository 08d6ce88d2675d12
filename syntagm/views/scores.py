"""Scores: the accuracy of each model on each suite, with its interval, n, ties and the chance level.

For a measure whose values are not verdicts (such as `equal_weight` and `model_weight` of a fill run), the score is the
mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Annotated

import polars as pl

from syntagm.core import UsageError, counted
from syntagm.evaluation import Estimate, Group, Kind
from syntagm.runs import Run, named, not_asked, ties_of, titles
from syntagm.stats import in_words
from syntagm.views import gaps, shared_words
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import GREY, Figure, Spec, finish
from syntagm.views.drawing.table import Cell, Table, cells
from syntagm.views.drawing.text import distinct, lines, or_none, remarks, remarks_on
from syntagm.views.drawing.vega import Row, Series, estimated, heading, layer, pile, point
from syntagm.views.estimates import accuracies, by_group, chance_of, chance_of_suite, panel_tag, scores, shared_kind
from syntagm.views.options import Measure, Named, measures

SCHEMA = {
    "model": pl.String, "suite": pl.String, "measure": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "chance": pl.Float64, "method": pl.String,
}  # fmt: skip
WIDTH = 480
# With more suites than this, the axis is at the top of the figure.
MANY = 25


def draw_figure(runs: Sequence[Run], measure: Measure = "first") -> Figure:
    """Draw the scores of runs on all their suites."""
    names = titles(runs)
    tag = panel_tag(runs)
    estimates, chance, groups = [], {}, {}
    for model, run in named(runs):
        for estimate in accuracies(run, measure):
            record = run.suite(estimate.group.suite)
            title = names[record.name, record.hash]
            estimates.append(replace(estimate, group=Group(model, title, measure)))
            chance[title] = chance_of_suite(record, measure).value
            groups[title] = (record.group(tag) or f"no {tag}") if tag else ""
    kind = shared_kind(runs, measure)
    noun = "context" if gaps.over_gaps(runs[0]) else "item"
    title = "Accuracy by suite" if kind is Kind.VERDICT else f"{measure} by suite"
    return draw(estimates, chance, title, kind, f"mean {measure}", noun, groups)


def draw(
    estimates: Sequence[Estimate],
    chance: Mapping[str, float] | None = None,
    title: str = "",
    kind: Kind = Kind.VERDICT,
    quantity: str = "",
    noun: str = "",
    groups: Mapping[str, str] | None = None,
) -> Figure:
    rows = [_row(estimate, (chance or {}).get(estimate.group.suite, nan)) for estimate in estimates]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    models, suites = distinct(table["model"]), distinct(table["suite"])
    by_suite: dict[str, list[float]] = {suite: [] for suite in suites}
    for suite, value in table.select("suite", "value").iter_rows():
        by_suite[suite].append(value)
    panels = by_group(by_suite, groups) if groups and by_suite else {"": list(suites)}
    values = [_point(row, models[row["model"]], suites[row["suite"]]) for row in table.iter_rows(named=True)]
    known = any(value["chance"] is not None for value in values)
    plots = []
    for at, (group, members) in enumerate(panels.items()):
        of_group = {suites[suite] for suite in members}
        series = Series("model", list(models.values()), WIDTH, at == 0 and len(models) > 1)
        # With many suites, the axis is at the top of the figure, where readers start.
        labelled = at == (0 if len(suites) > MANY else len(panels) - 1)
        plot: Spec = {
            "width": WIDTH,
            "height": max(16, 9 * len(models) + 6) * max(1, len(members)),
            "data": {"values": [value for value in values if value["suite"] in of_group]},
            "layer": _layers(
                series, [suites[suite] for suite in members], kind, quantity, labelled, len(suites) > MANY
            ),
        }
        plots.append(plot | ({"title": heading(group, fontWeight="bold")} if len(panels) > 1 else {}))
    judged = kind is Kind.VERDICT
    explained = "proportion of items whose prediction holds" if judged else f"{quantity} over {noun}s"
    subtitle = f"{explained}, 95% interval" + ("; grey tick: chance" if known else "")
    spec = pile(plots, 10) if len(plots) > 1 else plots[0]
    return Figure(finish(spec, title, [subtitle, *lines(remarks_on(estimates))]), table)


def _row(estimate: Estimate, chance: float) -> tuple[object, ...]:
    names = (estimate.group.model, estimate.group.suite, estimate.group.measure)
    return (*names, *estimate.numbers, chance, estimate.method)


def _point(row: Row, model: str, suite: str) -> dict[str, object]:
    said = f"{model}, {suite}: {estimated(row)}"
    return {"model": model, "suite": suite, **point(row, said), "chance": or_none(row["chance"])}


def _layers(
    models: Series, suites: Sequence[str], kind: Kind, quantity: str, labelled: bool, on_top: bool
) -> list[Spec]:
    place: Spec = {"y": vega.names("suite", suites, offset=6)}
    beside = place | {"yOffset": models.place}
    title = "accuracy" if kind is Kind.VERDICT else quantity
    accuracy = vega.mean(
        kind, title if labelled else "", orient="top" if on_top else "bottom", labels=labelled, domain=labelled,
        tickSize=5 if labelled else 0,
    )  # fmt: skip
    chance = place | {"x": vega.of(accuracy, "chance")}
    interval = beside | vega.spread(accuracy, "x") | {"color": models.colour}
    dot = beside | {"x": accuracy, "color": models.colour, "shape": models.shape, "description": {"field": "said"}}
    tick = {"type": "tick", "color": GREY, "thickness": 2, "aria": False}
    return [
        layer(tick, chance, vega.defined("chance")),
        layer(vega.rule(strokeWidth=1.6), interval, vega.defined("low")),
        layer(vega.dot(50), dot, vega.defined("value")),
    ]


COLUMNS = ("suite", "measure", "model", "score", "low", "high", "n", "ties", "undefined", "chance")
MEANING = {
    "first": "Accuracy is that of the first prediction of each suite.",
    "all": "An item counts as correct if all predictions of its suite hold.",
    "each": "Each prediction has a row of its own.",
}
MeasureOrEach = Annotated[
    str,
    Named(
        "name of a prediction, `first`, `all`, or `each` for all predictions one by one",
        measures,
        ("first", "all", "each"),
    ),
]
Wide = Annotated[bool, "one column for each model"]


def make_table(runs: Sequence[Run], measure: MeasureOrEach = "first", wide: Wide = False) -> Table:
    """Make one row for each suite and model and one for the mean over suites; if `wide`, one column for each model.

    Raises:
        UsageError: no suite has the measure.
    """
    found = list(_rows(runs, measure))
    rows = [row for row, _ in found]
    if not rows:
        raise UsageError("measure=", f"no suite with {measure!r}", "the name of a prediction, first, all or each")
    meaning = MEANING.get(measure, f"Only suites with the prediction {measure} are shown.")
    limits = remarks((f"{row[0]} ({row[2]})", estimate.remarks) for row, estimate in found)
    notes = (
        " ".join(in_words.intervals(estimate.method for _, estimate in found)),
        *limits,
        *shared_words.of_runs(runs, "" if measure == "each" else measure),
        count_ties(runs, "" if measure == "each" else measure),
        meaning,
        *not_asked(runs),
    )
    if wide:
        return Table("Score by suite", *spread(rows, 2, ("suite", "measure")), notes=notes)
    return Table("Score by suite", COLUMNS, tuple(rows), notes=notes)


def count_ties(runs: Sequence[Run], measure: str) -> str:
    """Say how ties and undefined items count, and what chance is."""
    return (
        f"Ties count as {ties_of(runs, measure)}; n does not include undefined items. chance: accuracy if all values were "
        "independent random draws, computed from the formulas."
    )


def _rows(runs: Sequence[Run], measure: str) -> Iterator[tuple[tuple[Cell, ...], Estimate]]:
    names = titles(runs)
    for model, run in named(runs):
        for estimate in accuracies(run, "" if measure == "each" else measure):
            record = run.suite(estimate.group.suite)
            chance = chance_of_suite(record, estimate.group.measure).value
            suite = names[record.name, record.hash]
            yield (suite, _prediction(run, estimate), model, *cells(estimate), or_none(chance)), estimate
        if measure != "each" and len(run.suites) > 1:
            suites = counted(sum(bool(suite.predictions_for(measure)) for suite in run.suites), "suite")
            for estimate in scores(run, measure):
                chance = chance_of(run, estimate).value
                yield (f"mean of {suites}", measure, model, *cells(estimate), or_none(chance)), estimate


def _prediction(run: Run, estimate: Estimate) -> str:
    """Return the name of the prediction: for `first` that of the suite's first prediction, otherwise the measure."""
    measure, suite = estimate.group.measure, run.suite(estimate.group.suite)
    return next(iter(suite.predictions), measure) if measure == "first" else measure


def spread(
    rows: Sequence[tuple[Cell, ...]], keys: int, names: Sequence[str], suites: Sequence[int] = ()
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Convert rows of (keys, model, estimate, chance) to rows with one column for each model.

    Each cell has the score with its interval and n, and the chance level and the number of suites if models differ in them.

    Arguments:
        keys: the number of key cells at the start of a row.
        names: the names of the key columns.
        suites: for each row, the number of suites.

    >>> spread([("s", "m", 0.5, 0.25, 0.75, 8, 1, 0, 0.5)], 1, ["suite"])
    (('suite', 'chance', 'm'), (('s', 0.5, '0.500 [0.250, 0.750] n=8, 1 tie'),))
    """
    models = list(dict.fromkeys(str(row[keys]) for row in rows))
    counts = suites or [0] * len(rows)
    by_key: dict[tuple[Cell, ...], dict[str, tuple[tuple[Cell, ...], int]]] = {}
    for row, count in zip(rows, counts, strict=True):
        by_key.setdefault(row[:keys], {})[str(row[keys])] = row[keys + 1 :], count
    wide = []
    for key, of_models in by_key.items():
        chances, numbers = {row[-1] for row, _ in of_models.values()}, {count for _, count in of_models.values()}
        texts = {
            model: _describe(*row[:-1])
            + (f", {counted(count, 'suite')}" if len(numbers) > 1 else "")
            + (f", chance {row[-1]:.3f}" if len(chances) > 1 and row[-1] is not None else "")
            for model, (row, count) in of_models.items()
        }
        level = chances.pop() if len(chances) == 1 else None
        wide.append((*key, level, *(texts.get(model, "not run") for model in models)))
    return (*names, "chance", *models), tuple(wide)


def _describe(score: Cell, low: Cell, high: Cell, n: Cell, ties: Cell, undefined: Cell) -> str:
    value = "undefined" if score is None else f"{score:.3f}"
    value += f" [{low:.3f}, {high:.3f}]" if low is not None else ""
    tied = f", {counted(ties, 'tie')}" if isinstance(ties, int) and ties else ""
    return f"{value} n={n}{tied}" + (f", {undefined} undefined" if undefined else "")


__all__ = ["draw_figure", "make_table"]
