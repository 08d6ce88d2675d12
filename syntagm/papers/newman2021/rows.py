"""Which suites of a fill run make up a row of Table 2 of Newman et al. 2021, and the numbers of each row."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from syntagm.errors import RunError
from syntagm.papers.cited import cited
from syntagm.result import Estimate, Group
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import bootstrap
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.views.gaps import kept
from syntagm.views.gaps.estimates import contexts, of_suites

Rows = dict[str, list[str]]
PAIRED = "model_weight - equal_weight"


def fill_runs(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """The runs, each with the name of its model.

    Raises:
        RunError: one is no fill run, or none of its suites makes a context.
    """
    found = []
    for name, run in named(runs):
        cure = "Make one with `syntagm fill MODEL --suite ... --words verbs -o DIR`."
        if not kept.over_gaps(run):
            raise RunError(run.place, "a run of `syntagm run`", "a fill run", cure)
        if not rows(run):
            raise RunError(run.place, "no contexts", "at least one", cure)
        found.append((name, run))
    return found


def rows(run: Run) -> Rows:
    """Row -> suites, in the paper's order: by the tag `construction`; other suites are rows of their own, after those."""
    known = {tag: line["row"] for line in cited("newman2021")["table2"] for tag in line["constructions"]}
    found: Rows = {row: [] for row in known.values()}
    for suite in run.suites:
        if run.record["contexts"][suite.name]["contexts"]:
            found.setdefault(known.get(suite.tags.get("construction", ""), suite.name), []).append(suite.name)
    return {row: suites for row, suites in found.items() if suites}


def of_rows(runs: Sequence[tuple[str, Run]]) -> list[Estimate]:
    """All estimates of all rows, at all cut-offs; groups have model, measure and the label `row`."""
    return [one for name, run in runs for row, suites in rows(run).items() for one in _of_row(name, run, row, suites)]


def _of_row(name: str, run: Run, row: str, suites: Sequence[str]) -> Iterator[Estimate]:
    group = Group(name, labels=(("row", row),))
    yield from of_suites(run, group, row, suites, kept.cuts(run))
    yield _paired(replace(group, measure=PAIRED), run, row, suites)


def _paired(group: Group, run: Run, row: str, suites: Sequence[str]) -> Estimate:
    """MW less EW, context by context."""
    table = contexts(run, suites)
    found = (table["model_weight"] - table["equal_weight"]).fill_nan(None).drop_nulls().to_numpy()
    low, high = bootstrap.interval(bootstrap.column_means(found[:, None], row)[:, 0])
    method = bootstrap.remark(bootstrap.METHOD.replace("items", "contexts"), {row: len(found)})
    value = float(found.mean()) if len(found) else float("nan")
    return Estimate(group, value, low, high, len(found), method, 0, len(table) - len(found))


def signatures(runs: Sequence[tuple[str, Run]], measure: str = "equal_weight") -> list[str]:
    """A note a run: what its numbers rest on."""
    found = []
    for name, run in runs:
        suite = run.suites[0]
        text = run.signature(suite.name, measure)
        found.append(f"Signature of {name}: {text.over(len(run.suites)) if len(run.suites) > 1 else text}")
        if not run.done:
            found.append(f"The run of {name} is not finished: contexts without an answer are left out.")
    return found


def cut_offs(run: Run) -> tuple[Cut, ...]:
    """The cut-offs of a run, without the whole."""
    return tuple(cut for cut in kept.cuts(run) if not cut.whole)


def published(row: str) -> dict[str, Any]:
    """Model -> MW, EW, TSE in a row of the paper's table; empty for a row that it lacks."""
    lines = [line for line in cited("newman2021")["table2"] if line["row"] == row]
    return {name: lines[0][name] for name in cited("newman2021")["columns"]} if lines else {}
