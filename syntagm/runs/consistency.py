"""The check that the record of a run agrees with its ledger and its tables, before `syntagm seal` renews its seal.

It compares what both have: suites, units, measures, items, conditions, and the tolerance for ties. The name of the model
and tags are in the record only, and may be changed.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from syntagm.core import RunError
from syntagm.evaluation import Kind, SuiteRecord
from syntagm.runs.files import LEDGER, kinds
from syntagm.runs.store import Run

_CURE = "Undo this change of run.json: a run of something else needs a folder of its own."


def refuse_contradictions(run: Run, entries: Mapping[str, Mapping[str, Any]]) -> None:
    place = f"{run.folder}/run.json"
    names = [suite.name for suite in run.suites]
    _require(f"{place}, suites", names, list(dict.fromkeys(names)), "each name once")
    for suite in run.suites:
        _refuse_other_units(f"{place}, suite {suite.name}", suite, entries, run.record["status"] == "done")
    recorded = {unit for suite in run.suites for unit in suite.shards}
    if extra := next((unit for unit in entries if unit not in recorded), None):
        expected = f"that of suite {entries[extra]['suite']} in {LEDGER}"
        raise RunError(f"{place}, suites", f"no unit {extra}", expected, _CURE)
    for unit, entry in entries.items():
        # A unit of a fill run may have rows of several suites.
        if missing := next((suite for suite in entry.get("suites", ()) if suite not in names), None):
            expected = f"that suite, of which unit {unit} has rows"
            raise RunError(f"{place}, suites", f"no suite {missing}", expected, _CURE)
    if "contexts" in run.record:
        _require(f"{place}, contexts", run.record["contexts"], names, "the suites of the record")
    for suite in run.suites:
        _refuse_other_tables(f"{place}, suite {suite.name}", suite, run, entries)
    declared = kinds(run.record["task"], run.record["options"], run.record["suites"])
    named, wanted = ([f"{name}: {kind}" for name, kind in of.items()] for of in (run.record["kinds"], declared))
    _require(f"{place}, kinds", named, wanted, "those of the task and its options")


def _refuse_other_units(
    place: str, suite: SuiteRecord, entries: Mapping[str, Mapping[str, Any]], is_done: bool
) -> None:
    for unit in suite.shards:
        if unit in entries:
            _require(place, [suite.name], [entries[unit]["suite"]], f"the suite of unit {unit} in {LEDGER}")
        elif is_done:
            raise RunError(place, f"unit {unit}, which is not in {LEDGER}", "the units of the run", _CURE)


def _refuse_other_tables(place: str, suite: SuiteRecord, run: Run, entries: Collection[str]) -> None:
    try:
        tables = {ending: run.table(ending, suite.name) for ending in run.tables}
    except pl.exceptions.PolarsError as error:
        raise RunError(place, f"tables with other columns ({error})", "those of the options", _CURE) from error
    results = tables["results.parquet"]
    if results.is_empty():
        return
    _require(place, [suite.name], results["suite"].unique(), "the suite in the tables")
    _require(f"{place}, predictions", suite.predictions, results["measure"].unique(), "the measures in the tables")
    for measure in set(suite.predictions) & set(run.record["kinds"]):
        kind, values = run.kind(measure), results.filter(pl.col("measure") == measure)["value"]
        if not_allowed := [value for value in values if not kind.allows(value)]:
            found, expected = f"the value {not_allowed[0]:g}", f"{kind.described}, as `kinds` says"
            raise RunError(f"{place}, {measure}", found, expected, _CURE)
    verdicts = results.filter(
        pl.col("measure").is_in([name for name, kind in run.record["kinds"].items() if kind == Kind.VERDICT.value])
        & pl.col("margin").is_not_nan()
    )
    # Under a convention by which ties are hits, a margin of 0 may be either.
    decided = verdicts.filter(pl.col("margin") != 0) if "convention" in run.record["options"] else verdicts
    if wrong := decided.filter((pl.col("margin") > run.tolerance) != (pl.col("value") == 1)).height:
        found = f"{run.tolerance:g}, under which {wrong:,} verdicts of suite {suite.name} would differ"
        raise RunError(f"{run.folder}/run.json, options.tolerance", found, "the tolerance of the verdicts", _CURE)
    if "parquet" in tables and all(unit in entries for unit in suite.shards):
        sentences = tables["parquet"]
        _require(f"{place}, items", [suite.items], [sentences["item"].n_unique()], "the number in the tables")
        first = sentences.filter(pl.col("item") == sentences["item"][0])["condition"]
        _require(f"{place}, conditions", suite.conditions, first, "the conditions in the tables")


def _require(place: str, recorded: Iterable[Any], expected: Iterable[Any], what: str) -> None:
    """Refuse recorded values other than the expected ones, in any order."""
    found, wanted = sorted(recorded), sorted(expected)
    if found != wanted:
        shown, needed = (", ".join(map(str, values)) for values in (found, wanted))
        raise RunError(place, shown or "none", f"{what}: {needed}", _CURE)
