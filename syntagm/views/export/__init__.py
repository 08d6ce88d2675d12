"""Export of runs and models to files for other tools: one module per kind, with a constant `EXPORT`.

`syntagm export --as` finds a kind by the name of its module: `lm-eval` is `lm_eval.py`. Nothing needs to be registered.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, final

from syntagm.core import atomic, csv

if TYPE_CHECKING:
    from syntagm.runs import Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an export.

    Arguments:
        missing: a sentence for each part of the run that could not be exported.
        notes: sentences about the files.
    """

    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Export(ABC):
    """The base class of kinds of export.

    An existing file is replaced only if it has the header or one of the marks of its kind, or with --force. A kind without
    both replaces only a file of the same content.

    Attributes:
        columns: the header of a CSV.
        further: the columns that the CSV of some runs has after these.
        marks: texts that identify files of this kind.
    """

    columns: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @abstractmethod
    def write(self, source: str, output: Path | None) -> Outcome:
        """Export the run or model in the folder `source` to `output`, completely or not at all.

        Arguments:
            output: the file to write; None is standard output.

        Raises:
            UsageError: this kind can't be written to standard output.
            RunError: the run is damaged, or a file can't be written.
        """


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
        self, columns: Sequence[str], rows: "Callable[[Run], Iterator[Row]]", judged: bool = False,
        further: "tuple[Sequence[str], Callable[[Run], bool]]" = ((), lambda run: False),
    ) -> None:  # fmt: skip
        self.columns, self.rows, self.judged = tuple(columns), rows, judged
        self.further, self.has_further = tuple(further[0]), further[1]

    def lines(self, run: "Run") -> Iterator[str]:
        """Yield the header and a line for each row; raise RunError before the header if the run has no such rows."""
        return csv.lines((*self.columns, *(self.further if self.has_further(run) else ())), self.rows(run))

    def write(self, source: str, output: Path | None) -> Outcome:
        from syntagm.runs import describe, open_run

        run = open_run(source)
        lines = self.lines(run)
        if output:
            atomic.write_parts(output, _blocks(lines))
        else:
            for line in lines:
                sys.stdout.buffer.write(line.encode())
        note = describe([run]) if self.judged else ""
        return Outcome(tuple(unfinished(run)), (note,) if note else ())


def unfinished(run: "Run") -> Iterator[str]:
    if not run.done:
        yield f"run {run.place} is not finished: only its finished shards are exported"


def _blocks(lines: Iterator[str]) -> Iterator[bytes]:
    while block := "".join(islice(lines, _BLOCK)):
        yield block.encode()
