"""The request for an evaluation: which models are asked what about which items, and where their runs are written.

The command line, a configuration file, a training study, the callback of a trainer and Python build an `Evaluation`.
Whatever carries it out (`runs.carrying_out`, with `runs.engine` or `runs.driver`) finds all that it needs to know in it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import NONE, Permissions, UsageError
from syntagm.evaluation import Predictions, Task
from syntagm.models import LanguageModel
from syntagm.runs.engine import Cache
from syntagm.suites import ALL_ITEMS, Draw, Suite


@dataclass(frozen=True, slots=True)
class Job:
    """A model to evaluate."""

    model: str | LanguageModel  # its name, or the model itself, loaded
    label: str = ""  # its name in tables and figures, `NAME` or `GROUP: NAME`; "" for the name that it has
    folder: Path | None = None  # its run directory; None for a run in memory
    place: int | None = None  # its place among the models of the command, from 0; None for one that is given alone

    @property
    def name(self) -> str:
        return self.model if isinstance(self.model, str) else self.model.name

    @property
    def shown(self) -> str:
        """The name in messages: the label, or else the name of the model."""
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is to be evaluated, and how.

    Arguments:
        task: what the suites are asked.
        suites: the suites; workers need a `SuiteFiles`.
        jobs: the models.
        draw: which items of each suite.
        permissions: what the user permits. Only flags of the command line and arguments in Python give permissions.
        output: the folder of all runs; None for runs in memory.
        executor: who computes, as `--executor` says it; "" for this process.
        cache: the cache of answers, or its file; None for none.
        command: the command line, for the record.

    Raises:
        UsageError: the draw does not suit the task.
    """

    task: Task[Any]
    suites: Iterable[Suite]
    jobs: tuple[Job, ...]
    draw: Draw = ALL_ITEMS
    permissions: Permissions = NONE
    output: Path | None = None
    executor: str = ""
    cache: Cache | Path | None = None
    command: str = ""

    def __post_init__(self) -> None:
        if self.draw.stop_at is not None:
            _refuse_beside_stop_at(self.task, self.draw, self.draw.stop_at)

    @property
    def job(self) -> Job:
        """The model, if there is one only."""
        [job] = self.jobs
        return job


def _refuse_beside_stop_at(task: Task[Any], draw: Draw, stop_at: float) -> None:
    """Refuse a half-width for which a pilot can't choose the number of items."""
    if isinstance(draw.limit, int) or not isinstance(task, Predictions):
        other = "a limit" if isinstance(draw.limit, int) else "measures"
        raise UsageError("--stop-at", f"{other} beside it", "one of them", "It chooses the items by predictions.")
    if not 0 < stop_at < 0.5:
        raise UsageError("--stop-at", f"{stop_at:g}", "a half-width between 0 and 0.5, for example 0.05")
