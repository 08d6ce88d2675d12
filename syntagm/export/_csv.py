"""A run as one CSV, all suites in it, as `syntagm.io.csv` writes. Memory is bounded by the largest suite."""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import final

from syntagm.export import Kind, Outcome
from syntagm.io import atomic, csv
from syntagm.runs.store import Run, open_run

_BLOCK = 4096

Row = Sequence[object]


@final
class Csv(Kind):
    """A CSV with these columns, and a function from a run to its rows, which refuses at once a run that has none."""

    def __init__(self, columns: Sequence[str], rows: Callable[[Run], Iterator[Row]]) -> None:
        self.columns, self.rows = tuple(columns), rows

    def lines(self, run: Run) -> Iterator[str]:
        """The header and a line a row; RunError, before the header, if the run has no such rows."""
        return csv.lines(self.columns, self.rows(run))

    def write(self, source: str, output: Path | None) -> Outcome:
        """Write the CSV of a run; see `Kind`."""
        run = open_run(source)
        lines = self.lines(run)
        if output:
            atomic.write_parts(output, _blocks(lines))
        else:
            for line in lines:
                sys.stdout.buffer.write(line.encode())
        return Outcome(tuple(unfinished(run)))


def unfinished(run: Run) -> Iterator[str]:
    """The sentence that a run is not finished, if it isn't."""
    if not run.done:
        yield f"run {run.place} is not finished: only its finished shards are exported"


def _blocks(made: Iterator[str]) -> Iterator[bytes]:
    while block := "".join(islice(made, _BLOCK)):
        yield block.encode()
