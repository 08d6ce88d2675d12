"""Runs and models in the files of other tools: one file a kind, whose `KIND` says how it is written.

`syntagm export --as` finds a kind by the name of its file, `lm_eval.py` as `lm-eval`; nothing is registered.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an export.

    Arguments:
        missing: a sentence for each thing of the run that is not in the files.
        notes: sentences about what was written.
    """

    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Kind(ABC):
    """What a run or a model can be written as. A file with neither its header nor its marks is not replaced unasked."""

    columns: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @abstractmethod
    def write(self, source: str, output: Path | None) -> Outcome:
        """Write what stands in the folder `source` at `output`, whole or not at all; None is the standard output.

        Raises:
            UsageError: it has more than one file, or is no text, and so can't go to the standard output.
            RunError: the run is damaged, or a file can't be written.
        """
