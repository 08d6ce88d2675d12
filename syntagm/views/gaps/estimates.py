"""The estimates of a fill run: means over items (tse) and over distinct contexts (everything else), with intervals.

    tse                            over the items whose two words are eligible
    equal_weight, model_weight     over the contexts where they are defined
    covered                        over all contexts; where nothing counts it is 0
    invalid                        the share of contexts where the weights are undefined

each of the last four at every cut-off, named like its measure: `covered(top=0.9)`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from syntagm.result import Estimate, Group
from syntagm.runs.store import Run
from syntagm.stats import bootstrap
from syntagm.tasks.gaps import tables
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.views.gaps import kept

METHOD = bootstrap.METHOD.replace("items", "contexts")


def estimates(run: Run, cuts: Sequence[Cut] | None = None) -> list[Estimate]:
    """Those of each suite; groups have model, suite and measure.

    Arguments:
        cuts: at which cut-offs; at all of the run by default.
    """
    chosen = kept.cuts(run) if cuts is None else cuts
    return [
        one
        for suite in run.suites
        for one in of_suites(run, Group(run.model, suite.name), suite.name, [suite.name], chosen)
    ]


def pooled(run: Run, tag: str = "construction", cuts: Sequence[Cut] | None = None) -> list[Estimate]:
    """Those of all suites with one value of a tag together; groups have model, the label and measure.

    A context that several of them have counts once, as it does in its first suite.
    """
    chosen = kept.cuts(run) if cuts is None else cuts
    values = dict.fromkeys(suite.tags[tag] for suite in run.suites if tag in suite.tags)
    suites = {value: [suite.name for suite in run.suites if suite.tags.get(tag) == value] for value in values}
    groups = {value: Group(run.model, labels=((tag, value),)) for value in values}
    return [one for value, names in suites.items() for one in of_suites(run, groups[value], value, names, chosen)]


def contexts(run: Run, suites: Sequence[str]) -> pl.DataFrame:
    """The distinct contexts of some suites, each as in the first of them that has it; columns as in `kept.contexts`."""
    return pl.concat([kept.contexts(run, name) for name in suites]).unique("context", keep="first", maintain_order=True)


def of_suites(run: Run, group: Group, key: str, suites: Sequence[str], cuts: Sequence[Cut]) -> Iterator[Estimate]:
    """Those of some suites together, as in `pooled`.

    Arguments:
        group: what they are about, but for the measure.
        key: whose contexts these are; the random numbers depend on it.
    """
    yield _tse(run, group, key, suites)
    table = contexts(run, suites).select(f"{name}{cut}" for cut in cuts for name in tables.WEIGHTS)
    columns = {name: table[name].to_numpy() for name in table.columns}
    columns |= {f"invalid{cut}": np.isnan(columns[f"equal_weight{cut}"]).astype(np.float64) for cut in cuts}
    if not len(table):
        return
    values = np.column_stack(list(columns.values()))
    for name, (mean, low, high, defined) in zip(columns, bootstrap.column_estimates(values, key), strict=True):
        method = bootstrap.remark(METHOD, {key: defined})
        yield Estimate(replace(group, measure=name), mean, low, high, defined, method, 0, len(values) - defined)


def _tse(run: Run, group: Group, key: str, suites: Sequence[str]) -> Estimate:
    rows = pl.concat([run.results(name).filter(pl.col("measure") == "tse") for name in suites])
    defined = rows.filter(pl.col("value").is_not_nan())
    values = defined["value"].to_numpy()
    low, high = bootstrap.interval(bootstrap.redrawn_means(values, key))
    ties = int((defined["margin"].abs() <= run.tolerance).sum())
    mean = float(values.mean()) if len(values) else np.nan
    method = bootstrap.remark(bootstrap.METHOD, {key: len(values)})
    return Estimate(replace(group, measure="tse"), mean, low, high, len(values), method, ties, len(rows) - len(values))
