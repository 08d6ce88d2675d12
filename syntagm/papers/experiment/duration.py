"""Estimates of the duration of a controlled experiment before it starts, based on the estimates of each family.

The machine's speed in floating-point operations per second is measured here with one matrix product.
"""

import time
from collections.abc import Mapping

from syntagm.core import UsageError
from syntagm.papers.experiment import hyperparameters
from syntagm.papers.experiment.design import Cell, Design, Options
from syntagm.papers.experiment.measured import state
from syntagm.training import REACHED, Work, families


def operations(device: str) -> float:
    """Measure the floating-point operations per second of a matrix product on a device; return the best of several runs."""
    import torch

    size, repeats = (4096, 10) if device.startswith("cuda") else (512, 20)
    matrix = torch.rand(size, size, device=device)
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        float((matrix @ matrix)[0, 0])
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


def seconds(
    family: str, options: Options, words: int, texts: Mapping[str, int], speed: float, device: str = "cpu"
) -> tuple[float, float]:
    """Estimate the longest time that training and scoring a model can take."""
    controlled = families.find(family).controlled
    if controlled is None:
        known = ", ".join(other.name for other in hyperparameters.taking_part())
        raise UsageError("families", repr(family), f"one of {known}")
    scoring = hyperparameters.evaluation(family, options)
    work = Work(words, texts["valid"], texts["test"], speed, device, scoring)
    return controlled.duration(hyperparameters.settings(family, options, words), work)


def remaining(design: Design, cell: Cell, texts: Mapping[str, int], speed: float) -> float:
    """Estimate the longest time, in seconds, that the remaining work on a model can take; for the arguments see `seconds`."""
    options, words = design.options[cell.family], design.sizes[cell.size]
    total = seconds(cell.family, options, words, texts, speed, design.device)
    return {"done": 0.0, "trained": total[1]}.get(state(design, cell), sum(total))


def basis(speed: float) -> str:
    """Describe the basis of the estimates."""
    paces = [family.controlled.pace for family in hyperparameters.taking_part() if family.controlled]
    lines = [
        f"from a matrix product timed here ({speed / 1e9:,.0f} GFLOP/s, {REACHED:.0%} of it reached), "
        "the sizes of the models and guessed vocabularies",
        *(pace for pace in paces if pace),
    ]
    return "; ".join(lines)
