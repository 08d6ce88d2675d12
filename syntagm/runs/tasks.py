"""The tasks by name, as in the records of runs."""

from typing import Any

from syntagm.tasks.gaps.task import Gaps
from syntagm.tasks.measured import Measures
from syntagm.tasks.people import People
from syntagm.tasks.predictions.task import Predictions
from syntagm.tasks.sums import Sums
from syntagm.tasks.task import Task

TASKS: dict[str, type[Task[Any]]] = {task.name: task for task in (Predictions, Gaps, Measures, People, Sums)}
