"""How long a controlled experiment will take: an estimate made before it starts, of what each family says of itself.

How many floating-point operations the machine makes in a second is measured here, on one matrix product of its best size.
"""

import time
from collections.abc import Mapping

from syntagm.errors import UsageError
from syntagm.papers.experiment import hyperparameters
from syntagm.papers.experiment.design import Cell, Design, Options
from syntagm.papers.experiment.measured import state
from syntagm.training import families
from syntagm.training.duration import REACHED, Work


def operations(device: str) -> float:
    """How many floating-point operations a second one matrix product makes here, the best of several."""
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
    """How long a model takes at most.

    Arguments:
        words: of its part of the corpus.
        texts: the words of the texts `valid` and `test`.
        speed: floating-point operations a second, see `operations`.

    Returns:
        Seconds of training, and of scoring.
    """
    controlled = families.find(family).controlled
    if controlled is None:
        known = ", ".join(one.name for one in hyperparameters.taking_part())
        raise UsageError("families", repr(family), f"one of {known}")
    work = Work(words, texts["valid"], texts["test"], speed, device)
    return controlled.duration(hyperparameters.settings(family, options, words), work)


def remaining(design: Design, cell: Cell, texts: Mapping[str, int], speed: float) -> float:
    """How many seconds of the work on a model are left, at most; arguments as `seconds`."""
    options, words = design.options[cell.family], design.sizes[cell.size]
    found = seconds(cell.family, options, words, texts, speed, design.device)
    return {"done": 0.0, "trained": found[1]}.get(state(design, cell), sum(found))


def basis(speed: float) -> str:
    """What the estimates rest on, in words."""
    paces = [family.controlled.pace for family in hyperparameters.taking_part() if family.controlled]
    lines = [
        f"from a matrix product timed here ({speed / 1e9:,.0f} GFLOP/s, {REACHED:.0%} of it reached), "
        "the sizes of the models and guessed vocabularies",
        *(pace for pace in paces if pace),
    ]
    return "; ".join(lines)
