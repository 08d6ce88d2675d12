"""Runs of people among the runs of which a paper's tables are made, and what they did with its pairs."""

from collections.abc import Sequence

import polars as pl

from syntagm.core import RunError
from syntagm.evaluation import Estimate, People
from syntagm.runs import Run
from syntagm.views import Agreement, Cell, or_none, people

# The columns of `cells`.
COLUMNS = ("individual", "low", "high", "majority", "won", "pairs", "ties")
NOTES = (
    "individual: the mean over pairs of the share of answers that choose the favoured sentence. 95 % interval: for other people "
    "and other pairs (crossed clusters).",
    "majority: the share of pairs that most people judge as predicted, won of them; a tie is lost.",
)


def divided(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Divide runs into those of models and those of people."""
    models = [run for run in runs if run.task is not People]
    groups = [run for run in runs if run.task is People]
    for run in groups:
        if people.asks(run) != "pairs":
            found = f"answers of people in the design {run.record['options']['design']}"
            raise RunError(run.place, found, "choices between two sentences", "Ask with --design forced-choice.")
    return models, groups


def rates(run: Run, suite: str) -> pl.DataFrame:
    """Return the share of answers that choose the favoured sentence of each pair of a suite."""
    rows = people.answers(run, suite).group_by("item", "condition", maintain_order=True)
    return rows.agg(rate=pl.col("value").mean(), judgements=pl.len()).drop("condition")


def cells(found: Agreement) -> tuple[Cell, ...]:
    """Return the cells of `COLUMNS`."""
    majority, ties = found.majority, found.majority.ties
    shares = _with_interval(found.individual) if found.individual is not None else (None,) * 3
    return *shares, or_none(majority.value), found.won, majority.n, ties


def _with_interval(estimate: Estimate) -> tuple[Cell, ...]:
    return tuple(map(or_none, (estimate.value, estimate.low, estimate.high)))


def about(run: Run, name: str) -> list[str]:
    """Say of a run of people how many took part, whether they are simulated, and by which rules some are excluded."""
    counts = run.record["people"]
    simulated = ", who are simulated and know no language" if counts.get("simulated people") else ""
    rules = run.record["options"]["exclusions"]
    return [
        f"{name}: {counts['people']} people{simulated}, {counts.get('excluded people', 0)} of them excluded. "
        + " ".join(rules)
    ]
