"""Modifier stability: scores of suites without and with intervening modifiers, side by side.

A modifier is inserted between the parts of a dependency. Each modified suite is compared with the suite without
modifiers.
"""

from collections.abc import Iterable, Sequence
from math import nan

import polars as pl

from syntagm.core import RunError
from syntagm.evaluation import Estimate
from syntagm.runs import Run, named, unequal
from syntagm.stats import score
from syntagm.views.classes import INSTANCE
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import Figure, finish
from syntagm.views.drawing.text import lines, remarks_on, signed
from syntagm.views.estimates import predictions

PLAIN, MODIFIED = "no modifier", "with modifier"
# What a suite's name has more than that of the same suite without modifiers, as in the collection hu2020.
_ENDINGS = ("_mod", "_modifier")
SCHEMA = {
    "model": pl.String, "kind": pl.String, "modifier": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip


def pairs(suites: Iterable[str]) -> dict[str, str]:
    """Return suite -> the same suite with modifiers, for those of which there are both.

    >>> pairs(["mvrr_mod", "mvrr", "cleft_modifier", "fgd_pp"])
    {'mvrr': 'mvrr_mod'}
    """
    names = sorted(set(suites))
    return {name: name + ending for name in names for ending in _ENDINGS if name + ending in names}


def modifier_stability(scores: pl.DataFrame) -> pl.DataFrame:
    """Select the scores of suites and of their modified versions, for instances that have both.

    Columns: model, corpus, seed, pair, modifier, score.

    Arguments:
        scores: the scores that `classes.suite_scores` returns.

    >>> rows = [("a", "xs", 1, "mvrr", 0.5), ("a", "xs", 1, "mvrr_mod", 0.25), ("b", "xs", 1, "mvrr", 1.0)]
    >>> table = pl.DataFrame(rows, schema=["model", "corpus", "seed", "suite", "score"], orient="row")
    >>> modifier_stability(table).select("model", "modifier", "score").rows()
    [('a', 'no modifier', 0.5), ('a', 'with modifier', 0.25)]
    """
    both = pairs(scores["suite"].to_list())
    members = [(plain, plain, PLAIN) for plain in both]
    members += [(modified, plain, MODIFIED) for plain, modified in both.items()]
    named = pl.DataFrame(members, schema=dict.fromkeys(("suite", "pair", "modifier"), pl.String), orient="row")
    joined = scores.join(named, on="suite", how="inner", maintain_order="left")
    complete = joined.filter(pl.len().over(*INSTANCE, "pair") == 2)
    return complete.select(*INSTANCE, "pair", "modifier", "score")


def _of_run(model: str, run: Run) -> list[Estimate]:
    both = pairs(suite.name for suite in run.suites)
    labels = dict.fromkeys(both, PLAIN) | dict.fromkeys(both.values(), MODIFIED)
    chosen, kind = predictions(run, "first"), run.kind("first")
    results = run.results().with_columns(model=pl.lit(model))
    return score.score(results, chosen, kind, run.tolerance, tag="modifier", labels=labels)


def draw_figure(runs: Sequence[Run]) -> Figure:
    """Draw runs of suites of which some are NAME and NAME_mod or NAME_modifier, as in the collection hu2020.

    Raises:
        RunError: no run has a suite together with its modified version.
    """
    estimates = [estimate for name, run in named(runs) for estimate in _of_run(name, run)]
    rows = [(each.group.model, "", each.group["modifier"], *each.numbers[:4], each.method) for each in estimates]
    if not rows:
        place, expected = runs[0].place if runs else "", "suites NAME and NAME_mod, as in hu2020"
        raise RunError(place, "no suite with its modified version", expected)
    subtitle = [
        "mean accuracy over suites with its 95% interval",
        "on the right: with minus without modifiers; n: items with modifiers",
        *lines([*unequal(runs), *remarks_on(estimates)]),
    ]
    return draw(pl.DataFrame(rows, schema=SCHEMA, orient="row"), "Scores without and with modifiers", subtitle)


def draw(table: pl.DataFrame, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """Draw one panel for each kind of model, beginning with the highest score without modifiers, and differences on the right."""
    kinds = list(dict.fromkeys(table["kind"]))
    plain = dict(table.filter(pl.col("modifier") == PLAIN).select("model", "value").iter_rows())
    order = sorted(plain, key=lambda model: -plain[model])
    plots = [
        dots.panel(
            [row for model in order for row in _rows(table.filter(pl.col("kind") == kind), model)],
            vega.proportion("mean suite score" if kind == kinds[-1] else ""),
            kind, nan, (PLAIN, MODIFIED), key=kind == kinds[0],
        )
        for kind in kinds
    ]  # fmt: skip
    return Figure(finish(vega.pile(plots, 14), title, subtitle), table.select(list(SCHEMA)))


def _rows(table: pl.DataFrame, model: str) -> list[dict[str, object]]:
    rows = table.filter(pl.col("model") == model).rows(named=True)
    values = {row["modifier"]: row["value"] for row in rows}
    change = signed(values.get(MODIFIED, nan) - values.get(PLAIN, nan))
    return [
        {
            **row, "name": model, "series": row["modifier"],
            "note": f"{change} (n = {row['n']:,})" if row["modifier"] == MODIFIED else "",
            "said": dots.describe({**row, "name": model, "series": row["modifier"]}),
        }
        for row in rows
    ]  # fmt: skip
