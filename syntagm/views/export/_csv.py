"""Export of a run as one CSV file with all suites, in the format of `syntagm.core.io.csv`, with one suite in memory at a time."""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import final

from syntagm.core import atomic, csv
from syntagm.runs import Run, describe, open_run
from syntagm.views.export import Export, Outcome

_BLOCK = 4096  # lines that are written at once

Row = Sequence[object]


@final
class Csv(Export):
    """A kind of export that is one CSV file.

    Arguments:
        columns: the header.
        rows: a function from a run to its rows; if the run has no such rows, the call raises RunError.
        judged: whether the rows have verdicts, which depend on the convention of the run.
        further: columns after these, which the rows of some runs have, and whether a run has them.
    """

    def __init__(
        self, columns: Sequence[str], rows: Callable[[Run], Iterator[Row]], judged: bool = False,
        further: tuple[Sequence[str], Callable[[Run], bool]] = ((), lambda run: False),
    ) -> None:  # fmt: skip
        self.columns, self.rows, self.judged = tuple(columns), rows, judged
        self.further, self.has_further = tuple(further[0]), further[1]

    def lines(self, run: Run) -> Iterator[str]:
        """Yield the header and a line for each row; raise RunError before the header if the run has no such rows."""
        return csv.lines((*self.columns, *(self.further if self.has_further(run) else ())), self.rows(run))

    def write(self, source: str, output: Path | None) -> Outcome:
        """Write the CSV of a run; see `Export`."""
        run = open_run(source)
        lines = self.lines(run)
        if output:
            atomic.write_parts(output, _blocks(lines))
        else:
            for line in lines:
                sys.stdout.buffer.write(line.encode())
        note = describe([run]) if self.judged else ""
        return Outcome(tuple(unfinished(run)), (note,) if note else ())


def unfinished(run: Run) -> Iterator[str]:
    """Yield a sentence if the run is not finished."""
    if not run.done:
        yield f"run {run.place} is not finished: only its finished shards are exported"


def _blocks(lines: Iterator[str]) -> Iterator[bytes]:
    while block := "".join(islice(lines, _BLOCK)):
        yield block.encode()
