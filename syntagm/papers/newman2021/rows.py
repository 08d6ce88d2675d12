"""The rows of Table 2 of Newman et al. 2021: for each row, its suites in a fill run and its estimates."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from syntagm.core import RunError
from syntagm.evaluation import Cut, Estimate, Group, Kind
from syntagm.papers.paper import cited
from syntagm.runs import Run, named
from syntagm.stats import paired_intervals
from syntagm.suites import unpaired
from syntagm.views import gaps

Rows = dict[str, list[str]]
PAIRED = "model_weight - equal_weight"


def fill_runs(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    checked = []
    for name, run in named(runs):
        cure = "Make one with `syntagm fill MODEL --suite ... --words verbs -o DIR`."
        if not gaps.over_gaps(run):
            raise RunError(run.place, "a run of `syntagm run`", "a fill run", cure)
        if not rows(run):
            raise RunError(run.place, "no contexts", "at least one", cure)
        checked.append((name, run))
    return checked


def rows(run: Run) -> Rows:
    """Return the suites of each row, in the paper's order: row -> names of suites."""
    # The tag `construction` assigns suites to rows, or without it the name. Each other suite gets a separate row after
    # those of the paper.
    known = {tag: line["row"] for line in cited("newman2021")["table2"] for tag in line["constructions"]}
    by_row: Rows = {row: [] for row in known.values()}
    for suite in run.suites:
        if run.record["contexts"][suite.name]["contexts"]:
            by_row.setdefault(known.get(suite.tags.get("construction", suite.name), suite.name), []).append(suite.name)
    return {row: suites for row, suites in by_row.items() if suites}


def has_all_suites(run: Run, row: str) -> bool:
    """Return whether a run has all suites of a row of the paper: those of its templates, or all those of a collection."""
    of_run = rows(run).get(row, [])
    tags = {suite.tags.get("construction", suite.name) for suite in run.suites if suite.name in of_run}
    known = [line["constructions"] for line in cited("newman2021")["table2"] if line["row"] == row]
    return any(row in tags or tags.issuperset(others) for _, *others in known) and not unpaired(of_run)


def of_rows(runs: Sequence[tuple[str, Run]]) -> list[Estimate]:
    """Compute the estimates of all rows at all cut-offs; their groups have model, measure and the label `row`."""
    return [
        estimate
        for name, run in runs
        for row, suites in rows(run).items()
        for estimate in _of_row(name, run, row, suites)
    ]


def _of_row(name: str, run: Run, row: str, suites: Sequence[str]) -> Iterator[Estimate]:
    group = Group(name, labels=(("row", row),))
    yield from gaps.of_suites(run, group, suites, gaps.cut_offs(run))
    yield estimate_difference(
        replace(group, measure=PAIRED), gaps.distinct_contexts(run, suites), "model_weight", "equal_weight"
    )


def with_tse(run: Run, suites: Sequence[str]) -> pl.DataFrame:
    """Return the distinct contexts of suites, with a column `tse`: the mean TSE of the items of a context."""
    by_item = []
    for suite in suites:
        table = gaps.contexts(run, suite)
        # A run keeps the items of a suite context by context.
        items = table.select(pl.col("context").repeat_by("items").explode())
        tse = run.results(suite).filter(pl.col("measure") == "tse")["value"].fill_nan(None)
        by_item.append(items.with_columns(tse=tse))
    means = pl.concat(by_item).group_by("context").agg(pl.col("tse").mean())
    return gaps.distinct_contexts(run, suites).join(means, on="context", maintain_order="left")


def estimate_difference(group: Group, table: pl.DataFrame, first: str, second: str) -> Estimate:
    """Estimate the mean difference of two columns of a table of contexts, paired by context."""
    differences = (table[first] - table[second]).fill_nan(None).drop_nulls().to_numpy()
    found = paired_intervals.of_difference(differences, Kind.SHARE, "contexts")
    value = float(differences.mean()) if len(differences) else float("nan")
    return found.estimate(group, value, len(differences), undefined=len(table) - len(differences))


def signatures(runs: Sequence[tuple[str, Run]], measure: str = "equal_weight") -> list[str]:
    """Return notes that give each run's signature and list the unfinished runs."""
    notes = []
    for name, run in runs:
        suite = run.suites[0]
        text = run.signature(suite.name, measure)
        notes.append(f"Signature of {name}: {text.over(len(run.suites)) if len(run.suites) > 1 else text}")
        if not run.done:
            notes.append(f"The run of {name} is not finished: contexts without an answer are excluded.")
    return notes


def cut_offs(run: Run) -> tuple[Cut, ...]:
    """Return the nucleus cut-offs of a run, excluding the whole distribution."""
    return tuple(cut for cut in gaps.cut_offs(run) if not cut.whole)


def published_row(row: str) -> dict[str, Any]:
    """Return the published MW, EW and TSE in a row, by model; empty for a row that is not in the paper."""
    lines = [line for line in cited("newman2021")["table2"] if line["row"] == row]
    return {name: lines[0][name] for name in cited("newman2021")["columns"]} if lines else {}
