"""The content of the files of a run: the tables of a unit with its line in the ledger, and all results."""

import hashlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import polars as pl

from syntagm.core import csv
from syntagm.evaluation import RESULTS, Judged, Unit
from syntagm.runs.store import Run

RESULT_COLUMNS = ("model", "suite", "item", "measure", "value", "margin")


def encoded(unit: Unit, judged: Judged, cached: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the line of a finished unit in the ledger, and the content of its tables: suffix -> bytes."""
    files = {ending: _parquet(table) for ending, table in judged.tables.items()}
    digests = {ending: hashlib.sha256(content).hexdigest() for ending, content in files.items()}
    line: dict[str, Any] = {"shard": unit.name, "suite": unit.suite, "files": digests}
    line |= {"suites": judged.suites} if judged.suites else {}
    return line | {"undefined": dict(judged.undefined), "cached": cached}, files


def encoded_results(run: Run) -> dict[str, Iterable[bytes]]:
    """Return the content of all results of a run whose units are all committed, in parts: name -> content."""
    return {"results.csv": _lines(run), "results.parquet": _in_one_part(run)}


def _in_one_part(run: Run) -> Iterator[bytes]:
    # From the units, not from an earlier file of all results.
    yield _parquet(pl.concat([pl.DataFrame(schema=RESULTS), *(run.results(suite.name) for suite in run.suites)]))


def _lines(run: Run) -> Iterator[bytes]:
    """Yield the lines of results.csv, keeping one suite in memory at a time."""
    yield from (line.encode() for line in csv.lines(RESULT_COLUMNS, []))
    for suite in run.suites:
        lines = csv.lines(RESULT_COLUMNS, run.results(suite.name).select(RESULT_COLUMNS).iter_rows())
        next(lines)
        yield from (line.encode() for line in lines)


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    table.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
