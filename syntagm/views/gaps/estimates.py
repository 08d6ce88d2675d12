"""Estimates of a fill run: means over items (`tse`) and over distinct contexts (all other measures), with intervals.

    tse                            mean over the items whose two words are eligible
    equal_weight, model_weight     mean over the contexts where they are defined
    covered                        mean over all contexts; 0 where no form is counted
    invalid                        proportion of contexts where the weights are undefined

The last four are computed at every cut-off and named like measures, for example `covered(top=0.9)`. `equal_weight` and
`model_weight` are about contexts and lemmas, which are crossed, so both are random (Cameron, Gelbach & Miller 2011). At a
cut-off, runs keep no sums by lemma, and only contexts are random, as the method of the interval says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.evaluation import WEIGHTS, Cut, Estimate, Group, Kind
from syntagm.runs import Run
from syntagm.stats import Interval, cluster_intervals, interval
from syntagm.views.gaps import kept


def estimates(run: Run, cuts: Sequence[Cut] | None = None) -> list[Estimate]:
    """Compute the estimates for each suite; their groups have model, suite and measure."""
    chosen = kept.cuts(run) if cuts is None else cuts
    return [
        estimate
        for suite in run.suites
        for estimate in of_suites(run, Group(run.model, suite.name), [suite.name], chosen)
    ]


def pooled(run: Run, tag: str = "construction", cuts: Sequence[Cut] | None = None) -> list[Estimate]:
    """Compute the estimates over all suites with each value of a tag; their groups have model, label and measure."""
    # A context that several of the suites share counts once, with its values in the first of them.
    chosen = kept.cuts(run) if cuts is None else cuts
    values = dict.fromkeys(suite.tags[tag] for suite in run.suites if tag in suite.tags)
    suites = {value: [suite.name for suite in run.suites if suite.tags.get(tag) == value] for value in values}
    groups = {value: Group(run.model, labels=((tag, value),)) for value in values}
    return [estimate for value, names in suites.items() for estimate in of_suites(run, groups[value], names, chosen)]


def contexts(run: Run, suites: Sequence[str]) -> pl.DataFrame:
    """Return the distinct contexts of suites, each with its values in the first suite that contains it."""
    # The columns are the same as for `kept.contexts`.
    return pl.concat([kept.contexts(run, name) for name in suites]).unique("context", keep="first", maintain_order=True)


def of_suites(run: Run, group: Group, suites: Sequence[str], cuts: Sequence[Cut]) -> Iterator[Estimate]:
    """Yield the estimates over several suites, as in `pooled`."""
    yield _tse(run, group, suites)
    table = contexts(run, suites).select(f"{name}{cut}" for cut in cuts for name in WEIGHTS)
    columns = {name: table[name].to_numpy() for name in table.columns}
    columns |= {f"invalid{cut}": np.isnan(columns[f"equal_weight{cut}"]).astype(np.float64) for cut in cuts}
    if not len(table):
        return
    for name, column in columns.items():
        kind = Kind.VERDICT if name.startswith("invalid") else Kind.SHARE
        [(mean, found, n)] = interval.of_columns(column[:, None], kind, "contexts")
        ends = found
        if name in _CROSSED and n > 1:
            ends = _crossed(name, columns[name], pl.concat([kept.lemmas(run, suite) for suite in suites])) or found
        yield ends.estimate(replace(group, measure=name), mean, n, undefined=len(table) - n)


_CROSSED = ("equal_weight", "model_weight")


def _crossed(measure: str, values: NDArray[np.float64], lemmas: pl.DataFrame) -> Interval | None:
    """Return the interval for other contexts and other lemmas; None with fewer than two lemmas."""
    sums = (
        lemmas.group_by("row", maintain_order=True)
        .agg(pl.col("contexts", "won", "right", "wrong").sum())
        .filter(pl.col("contexts") > 0)
    )
    if sums.height < 2:
        return None
    part, whole = ("won", sums["contexts"]) if measure == "equal_weight" else ("right", sums["right"] + sums["wrong"])
    wholes = whole.to_numpy().astype(np.float64)
    return cluster_intervals.of_shares(values[~np.isnan(values)], sums[part].to_numpy(), wholes)


def _tse(run: Run, group: Group, suites: Sequence[str]) -> Estimate:
    rows = pl.concat([run.results(name).filter(pl.col("measure") == "tse") for name in suites])
    defined = rows.filter(pl.col("value").is_not_nan())
    values = defined["value"].to_numpy()
    found = interval.of_items(values, Kind.VERDICT)
    ties = int((defined["margin"].abs() <= run.tolerance).sum())
    mean = float(values.mean()) if len(values) else np.nan
    return found.estimate(replace(group, measure="tse"), mean, len(values), ties, len(rows) - len(values))
