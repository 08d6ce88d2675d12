"""Power: how often studies with other numbers of suites, items or models would find a difference, simulated from a pilot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import inf
from typing import Annotated

import numpy as np
import polars as pl

from syntagm.core import Reader, UsageError, shown
from syntagm.runs import Run, listed
from syntagm.stats import STUDIES, People, Pilot, Power, TwoClasses, TwoModels, bootstrap, paired, power
from syntagm.views.comparison import letters, pairs_of_runs
from syntagm.views.drawing import curves, vega
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.table import Table
from syntagm.views.drawing.text import signed
from syntagm.views.drawing.vega import Series, point
from syntagm.views.estimates import shared_suites, values_of
from syntagm.views.options import Measure

Sizes = tuple[int, ...]
Grid = Sequence[Mapping[str, int]]
SUITES, ITEMS, MODELS, JUDGEMENTS = (10, 20, 40), (10, 30, 100), (2, 3, 5, 10), (3, 5, 10, 20)


def read_sizes(text: str) -> Sizes:
    """Read whole numbers of 1 or more, with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= 10_000 for part in parts):
        raise UsageError(
            "a number of suites, items, models or judgements", repr(text), "whole numbers, such as 10,20,40"
        )
    return tuple(dict.fromkeys(map(int, parts)))


def read_difference(text: str) -> float:
    """Read a difference that is not 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < abs(number) < inf:
        raise UsageError("difference=", repr(text), "a number other than 0, such as 0.05")
    return number


Suites = Annotated[Sizes, Reader("numbers of suites", read_sizes, "10,20,40; with classes as in the pilot")]
Items = Annotated[
    Sizes, Reader("numbers of items, of each suite", read_sizes, "10,30,100; with classes as in the pilot")
]
Models = Annotated[Sizes, Reader("numbers of models of each class, such as seeds", read_sizes, "2,3,5,10")]
Classes = Annotated[tuple[str, ...], "the class of each run, in the order of the runs: plans numbers of models"]
Difference = Annotated[
    float | None,
    Reader("the true difference B - A, for example the smallest of interest", read_difference, "that of the pilot"),
]


@dataclass(frozen=True, slots=True)
class Curve:
    """The power of studies of several sizes, for one comparison."""

    a: str  # `a`, `b`: what is compared
    b: str
    pilot: float  # the difference in the pilot, b - a
    difference: float  # the difference that is taken for the true one
    powers: tuple[Power, ...]  # in the order of the sizes


@dataclass(frozen=True, slots=True)
class Plan:
    """Curves, and what a reader has to know about them.

    Arguments:
        notes: sentences.
    """

    curves: tuple[Curve, ...]
    notes: tuple[str, ...]


def of_runs(
    runs: Sequence[Run],
    suites: Suites = (),
    items: Items = (),
    models: Models = (),
    classes: Classes = (),
    difference: Difference = None,
    measure: Measure = "first",
) -> Plan:
    if difference is not None and abs(difference) >= 1:
        raise UsageError("difference=", f"{difference:g}", "a difference of accuracies between -1 and 1")
    if classes:
        return _of_classes(runs, suites, items, models, classes, difference, measure)
    if models:
        raise UsageError("models=", "no classes", "the class of each run", "For example classes=lstm,lstm,rnng,rnng")
    found, skipped = pairs_of_runs(runs, measure, "power")
    curves: list[Curve] = []
    for pair in found:
        paired.refuse_others_than_verdicts(measure, pair.kind, "power")
        pilot = TwoModels(paired.differences(pair.pairs))
        sizes = product(_suites(pilot, suites), items or ITEMS)
        grid = [{"suites": count, "items": size} for count, size in sizes]
        curves.append(_curve(pair.a, pair.b, pilot, difference, grid))
    resampling = bootstrap.current()
    test = f"test over suites ({resampling.suites}; of one suite, McNemar's)"
    return Plan(tuple(curves), (*letters(runs), *_notes(test, difference), *skipped))


def _suites(pilot: TwoModels, suites: Sizes) -> Sizes:
    if bootstrap.current().suites == "fixed" or pilot.suites == 1:
        if suites not in ((), (pilot.suites,)):
            found = ",".join(map(str, suites))
            if pilot.suites == 1:
                raise UsageError(
                    "suites=", f"{found} from a pilot of one suite", "1", "One suite doesn't show how suites differ."
                )
            raise UsageError("suites=", f"{found} with fixed suites", f"{pilot.suites}, those of the pilot")
        return (pilot.suites,)
    return suites or SUITES


def _of_classes(
    runs: Sequence[Run], suites: Sizes, items: Sizes, models: Sizes, classes: Sequence[str], difference: float | None,
    measure: str,
) -> Plan:  # fmt: skip
    if len(classes) != len(runs):
        raise UsageError("classes=", f"{len(classes)} names for {len(runs)} runs", "one for each run, in order")
    if min((*models, 2)) < 2:
        raise UsageError("models=", "1", "2 or more", "For two models: without classes=.")
    names = list(dict.fromkeys(classes))
    if len(names) < 2:
        raise UsageError("classes=", f"one class, {names[0]}", "two or more")
    shared, skipped = shared_suites(runs)
    chosen = [suite for suite in shared if runs[0].suite(suite).predictions_for(measure)]
    values = values_of(runs, chosen, measure)
    curves = []
    for a, b in combinations(names, 2):
        sides = [{name: table[:, [k for k, own in enumerate(classes) if own == side]] for name, table in values.items()}
                 for side in (a, b)]  # fmt: skip
        pilot = TwoClasses(*sides)
        counts = suites or (pilot.suites,)
        if min(counts) < 2:
            raise UsageError("suites=", "1", "2 or more for classes of models")
        sizes = items or (round(float(np.mean([len(table) for table in values.values()]))),)
        grid = [
            {"models": model, "suites": suite, "items": item}
            for suite, item, model in product(counts, sizes, models or MODELS)
        ]
        curves.append(_curve(a, b, pilot, difference, grid))
    members = [f"{name}: {classes.count(name)} models in the pilot." for name in names]
    members.append("suites: each with that many items; models: of each class.")
    notes = _notes("test over suites and models (both random)", difference)
    said = [f"Skipped: {listed(skipped)}, not in all runs with the same content."] if skipped else []
    return Plan(tuple(curves), (*members, *notes, *said))


def of_people(
    pilot: People, names: tuple[str, str], items: Sizes = (), judgements: Sizes = (), difference: float | None = None
) -> Plan:
    if min((*items, 2)) < 2:
        raise UsageError("items=", "1", "2 or more")
    grid = [{"items": item, "each": each} for item, each in product(items or ITEMS, judgements or JUDGEMENTS)]
    curve = _curve(*names, pilot, difference, grid)
    with_people = [
        Power({"items": found.sizes["items"], "judgements": found.sizes["each"],
               "people": pilot.people(found.sizes["items"], found.sizes["each"])}, found.power, found.low, found.high)
        for found in curve.powers
    ]  # fmt: skip
    low, high = pilot.found.low, pilot.found.high
    p = f", p = {pilot.found.p:.3g}" if pilot.found.p == pilot.found.p else ""
    number = "difference" if pilot.paired else "mean"
    centre = pilot.difference if pilot.paired else pilot.difference + pilot.against
    pilot_note = f"Pilot: {number} {centre:.3f} [{low:.3f}, {high:.3f}]{p} ({pilot.found.method})."
    load = f"people: each judges {pilot.load} items, as in the pilot, or all if there are fewer."
    notes = (
        pilot_note,
        load,
        *_notes("test of judgements (people and items random)", difference),
        *(f"Model of the pilot: {message}." for message in pilot.messages),
    )
    return Plan((Curve(curve.a, curve.b, curve.pilot, curve.difference, tuple(with_people)),), notes)


def _curve(a: str, b: str, pilot: Pilot, difference: float | None, grid: Grid) -> Curve:
    supposed = pilot.difference if difference is None else difference
    return Curve(a, b, pilot.difference, supposed, tuple(power(pilot, supposed, **sizes) for sizes in grid))


def _notes(test: str, difference: float | None) -> tuple[str, ...]:
    about = (
        f"power: the proportion of {STUDIES:,} simulated studies with p <= 0.05 in the {test}; low, high: its 95% interval, for "
        f"the error of the simulation; seed {bootstrap.current().seed}."
    )
    if difference is not None:
        return (about,)
    return (
        about,
        "The difference of the pilot is taken for the true one, which makes planning optimistic after a lucky pilot: "
        "difference= states the smallest one that matters.",
    )


def frame(plan: Plan) -> pl.DataFrame:
    """Return the numbers of a plan, with the columns of `SCHEMA`; sizes that the design does not have are null."""
    rows = [
        (curve.a, curve.b, curve.pilot, curve.difference, *(found.sizes.get(name) for name in SIZES), found.power, found.low,
         found.high)
        for curve in plan.curves
        for found in curve.powers
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


SIZES = ("models", "suites", "items", "judgements", "people")
SCHEMA = {
    "A": pl.String, "B": pl.String, "pilot": pl.Float64, "difference": pl.Float64, **dict.fromkeys(SIZES, pl.Int64),
    "power": pl.Float64, "low": pl.Float64, "high": pl.Float64,
}  # fmt: skip


WIDTH, HEIGHT, ACROSS = 260, 180, 2
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
        series = Series("series", names, WIDTH * ACROSS, at == 0 and len(names) > 1)
        plots.append(_panel(rows, f"{b} − {a}: {signed(rows['difference'][0])}", series, across, ticks))
    subtitle = [
        f"proportion of simulated studies with p ≤ 0.05; dashed: {_WANTED}",
        "bar: 95% interval of the simulation's error",
        *_same(table, across, varying),
    ]
    spec = vega.grid(plots, min(ACROSS, len(plots)), 22)
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
    horizontal = vega.logarithmic(
        across, f"{_TITLES[across]} (logarithmic)", domain, ticks, base=2, format="~d", grid=False
    )
    return {
        "title": vega.heading(shown(title), anchor="start"),
        "width": WIDTH,
        "height": HEIGHT,
        "layer": curves.marks(values, horizontal, vega.proportion("power"), series, _WANTED),
    }


COLUMNS = ("A", "B", "pilot B - A", "B - A", "models", "suites", "items", "power", "low", "high")
PEOPLE = ("A", "B", "pilot B - A", "B - A", "items", "judgements", "people", "power", "low", "high")


def make_table(
    runs: Sequence[Run],
    suites: Suites = (),
    items: Items = (),
    models: Models = (),
    classes: Classes = (),
    difference: Difference = None,
    measure: Measure = "first",
) -> Table:
    """Make one row for each pair of pilot runs, or of classes of runs, and each size of a study.

    Raises:
        UsageError: fewer than two runs or classes, sizes that the design does not have, or a measure whose values are not
            verdicts.
        RunError: the runs have no suite in common.
    """
    plan = of_runs(runs, suites, items, models, classes, difference, measure)
    return table(plan)


def table(plan: Plan, columns: Sequence[str] = COLUMNS) -> Table:
    numbers = (
        frame(plan).rename({"pilot": "pilot B - A", "difference": "B - A"}).with_columns(pl.col("models").fill_null(1))
    )
    numbers = numbers.select(columns)
    return Table("Power of planned studies", tuple(columns), tuple(numbers.iter_rows()), notes=plan.notes)


__all__ = ["draw_figure", "make_table"]
