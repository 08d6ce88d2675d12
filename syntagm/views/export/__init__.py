"""Export of runs and models to files for other tools: one module per kind, with a constant `EXPORT`.

`syntagm export --as` finds a kind by the name of its module: `lm-eval` is `lm_eval.py`. Nothing needs to be registered.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path


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
