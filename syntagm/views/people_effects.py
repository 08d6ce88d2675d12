"""People, effects: ratings and reading times in ms by region: what the sides of a comparison differ by, for other people.

Ratings, magnitudes and verdicts have one effect for each comparison of the predictions; times have one in each region.
"""

from collections.abc import Sequence
from typing import Annotated

import polars as pl

from syntagm.runs import Run
from syntagm.views import people
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.table import Table
from syntagm.views.drawing.text import or_none
from syntagm.views.drawing.vega import pile
from syntagm.views.effects import contrast
from syntagm.views.people import Effect

COLUMNS = (
    "suite", "model", "measure", "contrast", "region", "compared", "unit", "effect", "low", "high", "people", "items",
    "answers",
)  # fmt: skip
OneSuite = Annotated[str, "name of a suite; default: every suite"]


def make_table(runs: Sequence[Run], suite: OneSuite = "") -> Table:
    """Make one row for each comparison, and for times one for each region.

    Raises:
        UsageError: there is no run of people with single sentences.
    """
    rows = tuple(
        (
            effect.estimate.group.suite, effect.estimate.group.model, effect.measure, contrast(effect.comparison),
            effect.region, "yes" if effect.compared else "no", effect.unit, or_none(effect.estimate.value),
            or_none(effect.estimate.low), or_none(effect.estimate.high), effect.people, effect.items, effect.estimate.n,
        )
        for effect in people.effects(runs, suite)
    )  # fmt: skip
    notes = (
        "effect: the difference between the two sides of the comparison, positive if people do what it says: read more "
        "slowly (ms), or rate lower (points; log2 of magnitudes; share of acceptance). compared: whether the prediction is about "
        "this region.",
        "low, high: 95% interval for other people and other items: crossed clusters (Cameron et al. 2011), Student's t.",
    )
    return Table("Effects on people", COLUMNS, rows, notes=notes)


SCHEMA = {
    "suite": pl.String, "model": pl.String, "contrast": pl.String, "region": pl.String, "unit": pl.String,
    "effect": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
}  # fmt: skip


def draw_figure(runs: Sequence[Run], suite: OneSuite = "") -> Figure:
    """Draw a panel for each comparison: a dot with its interval for each region, or for the sentence."""
    found = list(people.effects(runs, suite))
    models = list(dict.fromkeys(effect.estimate.group.model for effect in found))
    panels: dict[tuple[str, str, str], list[Effect]] = {}
    for effect in found:
        panels.setdefault((effect.estimate.group.suite, contrast(effect.comparison), effect.unit), []).append(effect)
    specs: list[Spec] = []
    for (name, of, unit), effects in panels.items():
        rows = [
            {
                "name": effect.region or "sentence", "series": effect.estimate.group.model, "note": "",
                "value": effect.estimate.value, "low": effect.estimate.low, "high": effect.estimate.high,
                "said": f"{effect.region or 'sentence'}: {effect.estimate.value:.3g} {unit}",
            }
            for effect in effects
        ]  # fmt: skip
        axis = vega.quantity("value", f"effect ({unit})")
        specs.append(dots.panel(rows, axis, f"{name}: {of}", 0.0, models))
    table = pl.DataFrame(
        [
            (
                effect.estimate.group.suite, effect.estimate.group.model, contrast(effect.comparison), effect.region,
                effect.unit, effect.estimate.value, effect.estimate.low, effect.estimate.high, effect.estimate.n,
            )
            for effect in found
        ],
        schema=SCHEMA,
        orient="row",
    )  # fmt: skip
    drawn = pile(specs, 20) if len(specs) > 1 else specs[0]
    return Figure(finish(drawn, "Effects on people", "95% intervals, for other people and other items"), table)
