"""Several runs of the same suites: the suites that they share, and the values of the items under each run."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.errors import RunError
from syntagm.runs.store import Run
from syntagm.stats import matching, score
from syntagm.views.scores.numbers import predictions

_ITEM = ("item", "occurrence")


def shared_suites(runs: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Return the suites with the same content in all runs, and the other suites.

    Raises:
        RunError: there is no such suite.
    """
    hashes = [{suite.name: suite.hash for suite in run.suites} for run in runs]
    names = list(dict.fromkeys(name for suites in hashes for name in suites))
    shared = [name for name in names if len({suites.get(name) for suites in hashes}) == 1]
    if not shared:
        raise RunError(runs[0].place, "no suite has the same content in all runs", "at least one")
    return shared, [name for name in names if name not in shared]


def values_of(runs: Sequence[Run], suites: Sequence[str], measure: str) -> dict[str, NDArray[np.float64]]:
    """Return the values of each suite's items under each run; nan is undefined. Shapes (items, runs)."""
    tables = []
    for run in runs:
        chosen: Mapping[str, Sequence[str]] = {
            name: names for name, names in predictions(run, measure).items() if name in suites
        }
        verdicts = score.verdicts(run.results(), chosen, measure)
        tables.append(matching.numbered(verdicts.select("suite", "item", "value"), "suite"))
    matrices = {}
    for suite in suites:
        sides = [
            table.filter(pl.col("suite") == suite).drop("suite").rename({"value": f"{k}"})
            for k, table in enumerate(tables)
        ]
        joined = sides[0]
        for side in sides[1:]:
            joined = joined.join(side, on=_ITEM, how="full", coalesce=True, maintain_order="left_right")
        columns = [pl.col(f"{k}").fill_null(np.nan) for k in range(len(runs))]
        matrices[suite] = joined.select(columns).to_numpy().astype(np.float64)
    return matrices
