"""The tasks by name, as in the records of runs."""

from typing import Any

from syntagm.evaluation import Gaps, Measures, People, Predictions, Sums, Task

TASKS: dict[str, type[Task[Any]]] = {task.name: task for task in (Predictions, Gaps, Measures, People, Sums)}
