"""The tasks by name, as in the records of runs."""

from typing import Any

from syntagm.evaluation.gaps.task import Gaps
from syntagm.evaluation.measured import Measures
from syntagm.evaluation.people import People
from syntagm.evaluation.predictions.task import Predictions
from syntagm.evaluation.sums import Sums
from syntagm.evaluation.task import Task

TASKS: dict[str, type[Task[Any]]] = {task.name: task for task in (Predictions, Gaps, Measures, People, Sums)}
