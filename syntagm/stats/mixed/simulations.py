"""Likelihood ratios of simulated responses, in files that survive a killed process.

A file belongs to one test: its name is a hash of the data, of both formulas and of the seed. The responses follow from
the seed and from the fits, so only their likelihood ratios are kept.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import RENEWED, Form, Progress, RunError, atomic
from syntagm.stats.mixed.design import Design
from syntagm.stats.mixed.fit import Fit

# simulations/NAME.json. `chi2` is the observed likelihood ratio, `fits` a hash of the estimates, and a ratio is null if the
# models can't be fitted to the response.
SIMULATIONS = Form(
    "the record of the simulated responses of a likelihood-ratio test",
    1,
    {
        "format": int,
        "smaller": str,
        "larger": str,
        "chi2": float,
        "fits": str,
        "ratios": [(float, None)],
        "renewed?": RENEWED,
    },
    "Remove it; the command that made the experiment then simulates the responses again. If the change was intended, "
    "`syntagm seal` with the folder of the experiment renews the seal.",
)
# Responses of a linear and of a logistic model between two writes, which wait for the disk. A killed process loses those
# of a second or a few: the number is not by the clock, so that the same command makes the same calls.
_LINEAR, _LOGISTIC = 25, 5


def name(smaller: Design, larger: Design, linear_model: bool, seed: int) -> str:
    """Return the name of the file of a test: a hash of what its simulated responses depend on, except for the estimates."""
    content = hashlib.sha256(f"{linear_model}\n{seed}\n".encode())
    for design in (smaller, larger):
        content.update(f"{design.model.text}\n{design.fixed.names}\n".encode())
        parts: list[NDArray[Any]] = [design.response, design.trials, design.fixed.values]
        for grouping in design.groupings:
            content.update(f"{grouping.name}\n{grouping.levels}\n{grouping.effects}\n".encode())
            parts += [grouping.index, grouping.columns, grouping.free]
        for part in parts:
            content.update(f"{part.dtype} {part.shape}\n".encode() + np.ascontiguousarray(part).tobytes())
    return content.hexdigest()[:16]


@dataclass(slots=True)
class SimulatedRatios:
    """The likelihood ratios of a test, in the order of the simulated responses; nan if a response can't be fitted."""

    values: list[float]  # the ratios
    path: Path | None  # the file; None for ratios in memory only
    about: dict[str, str | float]  # the other entries of the file
    every: int  # the number of ratios between two writes
    written: int  # the number of ratios in the file

    def append(self, ratio: float) -> None:
        """Add a ratio, and write the file if it is time. A ratio that is not finite is one of models that can't be fitted."""
        self.values.append(ratio if isfinite(ratio) else nan)
        if not len(self.values) % self.every:
            self.write()

    def write(self) -> None:
        """Write the ratios that the file lacks."""
        if self.path is not None and len(self.values) > self.written:
            atomic.make_folder(self.path.parent)
            ratios = [None if isnan(ratio) else ratio for ratio in self.values]
            SIMULATIONS.write(self.path, {**self.about, "ratios": ratios})
            self.written = len(self.values)


@contextmanager
def keep_ratios(
    smaller: Fit, larger: Fit, chi2: float, seed: int, folder: Path | None, progress: Progress
) -> Iterator[SimulatedRatios]:
    """Yield the kept likelihood ratios of a test; those that are added are kept, too, whatever ends the block."""
    # Ratios of other estimates don't count, because the responses would be others: a warning says so, as it does of a
    # damaged file, and they are simulated again.
    estimates = [*_numbers(smaller), *_numbers(larger), chi2]
    fits = hashlib.sha256(np.array(estimates, np.float64).tobytes()).hexdigest()
    about: dict[str, str | float] = {"smaller": smaller.formula, "larger": larger.formula, "chi2": chi2, "fits": fits}
    linear_model = isfinite(smaller.sigma)
    test = name(smaller.design, larger.design, linear_model, seed)
    path = folder / f"{test}.json" if folder else None
    values: list[float] = []
    if path is not None and path.exists():
        try:
            record = SIMULATIONS.read(path)
            found = "responses of other estimates" if record["fits"] != fits else ""
            values = [] if found else _ratios(record["ratios"])
        except RunError as error:
            found = error.found
        if found:
            progress.warned(f"{path}: {found}; they are simulated again")
    ratios = SimulatedRatios(values, path, about, _LINEAR if linear_model else _LOGISTIC, len(values))
    try:
        yield ratios
    finally:
        ratios.write()


def kept(folder: Path, test: str) -> tuple[list[float], float]:
    """Return the kept likelihood ratios of a test, and the observed one; none and nan if there is no file, or a damaged one."""
    path = folder / f"{test}.json"
    if not path.exists():
        return [], nan
    try:
        record = SIMULATIONS.read(path)
    except RunError:
        # The test itself warns of it.
        return [], nan
    return _ratios(record["ratios"]), record["chi2"]


def _ratios(values: list[float | None]) -> list[float]:
    return [nan if value is None else float(value) for value in values]


def _numbers(fit: Fit) -> list[float]:
    return [*(effect.estimate for effect in fit.coefficients), *fit.place, fit.sigma]
