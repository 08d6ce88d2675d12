"""The numbers of a run as CSV, all suites in one file, for any other program.

tokens   model,suite,item,condition,index,start,token,bits,known     `recorded:FILE` reads it back as a model
regions  model,suite,item,condition,region,content,bits
results  model,suite,item,measure,value,margin
scores   model,of,name,measure,value,low,high,n,ties,undefined,chance,chance_method,method,signature

Scores are the accuracies of suites (`of` is suite), and means over all suites or over those with one tag (`of` is the tag,
`name` its value); `measure` is a prediction, or a rule of `stats.score`. Means have no signature of their own. Of a fill run
the scores of suites are its estimates, `covered` and `invalid` among them (see `views.gaps.estimates`).
How cells are written is said in `syntagm.io.csv`. Memory is bounded by the largest suite.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from syntagm.io import atomic, csv
from syntagm.result import Estimate
from syntagm.runs.engine import RESULT_COLUMNS
from syntagm.runs.gap_run import FillRun
from syntagm.runs.store import REGION_COLUMNS, TOKEN_COLUMNS, Run
from syntagm.views.gaps import estimates as blank_estimates
from syntagm.views.scores import numbers as estimates

SCORE_COLUMNS = (
    *("model", "of", "name", "measure", "value", "low", "high", "n", "ties", "undefined"),
    *("chance", "chance_method", "method", "signature"),
)
COLUMNS = {"tokens": TOKEN_COLUMNS, "regions": REGION_COLUMNS, "results": RESULT_COLUMNS, "scores": SCORE_COLUMNS}
_BLOCK = 4096


def lines(run: Run, kind: str) -> Iterator[str]:
    """The header and a line a row, suite by suite.

    Arguments:
        kind: "tokens", "regions", "results" or "scores".

    Raises:
        RunError: the run has none of that kind, which is said before the header; or a shard is damaged.
    """
    columns = COLUMNS[kind]
    if isinstance(run, FillRun) and kind in ("tokens", "regions"):
        run.refuse(kind)
    if kind == "scores":
        yield from csv.lines(columns, _scores(run))
        return
    yield from csv.lines(columns, [])
    for suite in run.suites:
        rows = _rows(run, suite.name, kind).select(columns).iter_rows()
        yield from islice(csv.lines(columns, rows), 1, None)


def write(run: Run, kind: str, path: Path) -> None:
    """Write the CSV whole, or not at all.

    Raises:
        RunError: it can't be written, or as `lines`.
    """
    atomic.write_parts(path, _blocks(lines(run, kind)))


def _rows(run: Run, suite: str, kind: str) -> pl.DataFrame:
    match kind:
        case "tokens":
            return run.tokens(suite)
        case "regions":
            return run.regions(suite)
    return run.results(suite)


def _scores(run: Run) -> Iterator[tuple[object, ...]]:
    if isinstance(run, FillRun):
        # The numbers of a context have estimates of their own, over contexts; scores over suites are made as of any run.
        over_suites = (one for one in estimates.estimates(run) if "suite" not in one.group)
        yield from (score_row(run, one) for one in (*blank_estimates.estimates(run), *over_suites))
        return
    several = {suite.name for suite in run.suites if len(suite.predictions) > 1 and estimates.conjoins(run)}
    together = [one for one in estimates.accuracies(run, "all") if one.group["suite"] in several] if several else []
    overall = estimates.scores(run, "all") if several else []
    for one in (*estimates.estimates(run), *together, *overall):
        yield score_row(run, one)


def score_row(run: Run, one: Estimate) -> tuple[object, ...]:
    """The row of an estimate as `syntagm.views.scores.compute` makes it; columns as in `SCORE_COLUMNS`."""
    expected = estimates.chance_of(run, one)
    numbers = (one.value, one.low, one.high, one.n, one.ties, one.undefined, expected.value, expected.method)
    return (one.group["model"], *_about(one), *numbers, one.method, _signature(run, one))


def _about(one: Estimate) -> tuple[str, str, str]:
    """What kind of thing an estimate is about, which, and by which measure or rule."""
    group = one.group
    if "suite" in group:
        return "suite", group["suite"], group["measure"]
    tag = next((key for key in group if key not in ("model", "rule")), "")
    return (tag, group[tag], group["rule"]) if tag else ("all suites", "", group["rule"])


def _signature(run: Run, one: Estimate) -> str:
    return run.signature(one.group["suite"], one.group["measure"]) if "suite" in one.group else ""


def _blocks(made: Iterator[str]) -> Iterator[bytes]:
    while block := "".join(islice(made, _BLOCK)):
        yield block.encode()
