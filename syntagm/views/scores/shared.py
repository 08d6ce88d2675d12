"""Several runs of the same suites: the suites that they share, and the values of the items under each run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import RunError
from syntagm.evaluation import Kind
from syntagm.runs import Run
from syntagm.stats import matching, score
from syntagm.views.estimates import predictions

_ITEM = ("item", "occurrence")
_EMPTY = pl.DataFrame(schema={"item": pl.String, "occurrence": pl.Int64, "value": pl.Float64})


def shared_suites(runs: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Return the suites with the same content in all runs, and the other suites."""
    hashes = [{suite.name: suite.hash for suite in run.suites} for run in runs]
    names = list(dict.fromkeys(name for suites in hashes for name in suites))
    shared = [name for name in names if len({suites.get(name) for suites in hashes}) == 1]
    if not shared:
        raise RunError(runs[0].place, "no suite has the same content in all runs", "at least one")
    return shared, [name for name in names if name not in shared]


def shared_kind(runs: Sequence[Run], measure: str) -> Kind:
    """Return the kind of the values of a measure, which must be the same in all runs that have it."""
    kinds = {run.kind(measure): run for run in runs if any(suite.predictions_for(measure) for suite in run.suites)} or {
        runs[0].kind(measure): runs[0]
    }
    if len(kinds) > 1:
        found = ", ".join(f"{kind.described} in {run.place}" for kind, run in kinds.items())
        cure = "If their conventions differ, --convention judges all by one."
        raise RunError(f"measure {measure}", found, "values of one kind in all runs", cure)
    return next(iter(kinds))


def values_of(runs: Sequence[Run], suites: Sequence[str], measure: str) -> dict[str, NDArray[np.float64]]:
    """Return the values of each suite's items under each run; nan is undefined. Shapes (items, runs)."""
    # Runs are read one after the other, so that only the values of all of them are in memory together.
    rows: dict[str, dict[tuple[Any, ...], int]] = {suite: {} for suite in suites}
    matrices = {suite: np.empty((0, len(runs))) for suite in suites}
    latest: dict[str, tuple[pl.DataFrame, NDArray[np.intp]]] = {}
    for column, run in enumerate(runs):
        chosen = {name: names for name, names in predictions(run, measure).items() if name in rows}
        verdicts = score.verdicts(run.results(), chosen, measure).select("suite", "item", "value")
        of_suite = matching.numbered(verdicts, "suite").partition_by("suite", as_dict=True)
        for suite in suites:
            table = of_suite.get((suite,), _EMPTY)
            items = table.select(_ITEM)
            # Nearly always, all runs have the same items in the same order.
            if suite not in latest or not items.equals(latest[suite][0]):
                places = [rows[suite].setdefault(item, len(rows[suite])) for item in items.iter_rows()]
                latest[suite] = items, np.array(places, np.intp)
                matrices[suite] = _grown(matrices[suite], len(rows[suite]))
            matrices[suite][latest[suite][1], column] = table["value"].to_numpy()
    return matrices


def _grown(matrix: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Return a matrix with nan in the rows that it lacks."""
    grown = np.full((rows, matrix.shape[1]), np.nan, order="F")
    grown[: len(matrix)] = matrix
    return grown
