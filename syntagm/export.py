"""The numbers of a run as CSV, all suites in one file, for any other program.

tokens   model,suite,item,condition,index,start,token,bits,known     `recorded:FILE` reads it back as a model
regions  model,suite,item,condition,region,content,bits
results  model,suite,item,measure,value,margin

How cells are written is said in `syntagm.table`. Memory is bounded by the largest suite.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from syntagm import durable, table
from syntagm.recording import RESULT_COLUMNS
from syntagm.run import REGION_COLUMNS, TOKEN_COLUMNS, Run

COLUMNS = {"tokens": TOKEN_COLUMNS, "regions": REGION_COLUMNS, "results": RESULT_COLUMNS}
_BLOCK = 4096


def lines(run: Run, kind: str) -> Iterator[str]:
    """The header and a line a row, suite by suite.

    Arguments:
        kind: "tokens", "regions" or "results".
    """
    columns = COLUMNS[kind]
    yield from table.lines(columns, [])
    for suite in run.suites:
        rows = _rows(run, suite.name, kind).select(columns).iter_rows()
        yield from islice(table.lines(columns, rows), 1, None)


def write(run: Run, kind: str, path: Path) -> None:
    """Write the CSV whole, or not at all.

    Raises:
        RunError: it can't be written, or a shard is damaged.
    """
    durable.write_parts(path, _blocks(lines(run, kind)))


def _rows(run: Run, suite: str, kind: str) -> pl.DataFrame:
    match kind:
        case "tokens":
            return run.tokens(suite)
        case "regions":
            return run.regions(suite)
    return run.results(suite)


def _blocks(made: Iterator[str]) -> Iterator[bytes]:
    while block := "".join(islice(made, _BLOCK)):
        yield block.encode()
