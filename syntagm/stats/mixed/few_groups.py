"""Tests of mixed models that hold their level with few groups.

The likelihood-ratio test compares with a chi-squared distribution, which needs many groups: with ten training runs it
rejects in 9 of 100 cases at the level .05, with four in 21. A likelihood ratio compared with those of simulated
responses, and Kenward and Roger's F test (Halekoh & Højsgaard 2014), don't; nor do the tests of single coefficients,
`Fit.tests`.
"""

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import RENEWED, Form, InputError, Progress, RunError, SyntagmError, UsageError, atomic
from syntagm.stats import bootstrap
from syntagm.stats.mixed import deviance, linear, logistic
from syntagm.stats.mixed.design import Design, Numbers
from syntagm.stats.mixed.fit import Fit
from syntagm.stats.mixed.linear import FEW_GROUPS, LikelihoodRatio, fewest_groups

# simulations/NAME.json has the ratios of one test. NAME is a hash of the data, of both formulas and of the seed. The
# responses follow from the seed and from the fits, so only their likelihood ratios are kept. `chi2` is the observed one,
# `fits` a hash of the estimates, and a ratio is null if the models can't be fitted to the response.
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


# Simulated responses of a likelihood-ratio test, so that p can be below .001 (in a logistic model, whose fits take
# longer, .005).
DRAWS, LOGISTIC_DRAWS = 1000, 200
# A bootstrap stops after one of this many ratios is larger.
_SHARE = 20
# Seconds of fitting both models to a response, for the fit itself and for each row: upper limits of what was measured on
# one processor core with 124 to 310 rows.
_SECONDS, _LOGISTIC_SECONDS = (0.005, 0.0001), (0.05, 0.003)


@dataclass(frozen=True, slots=True)
class F:
    """An F test."""

    value: float  # the statistic, with Kenward and Roger's factor
    df: int  # `df`, `denominator`: the degrees of freedom
    denominator: float
    p: float  # the probability of a value at least as large if the smaller model is true


def f_test(smaller: Fit, larger: Fit) -> F:
    """Compare two linear models that differ in fixed effects only, by Kenward and Roger's F test (1997).

    Arguments:
        smaller: of this model only the fixed effects are used.
        larger: a fit by restricted likelihood.

    Raises:
        UsageError: the models aren't nested, differ in random effects or data, or have no restricted likelihood.
        InputError: there are too many random effects, or too few groups for the approximation.

    >>> import polars as pl
    >>> table = pl.DataFrame({"y": [1.0, 2.0, 4.0, 5.0, 8.0, 9.5], "x": [0, 1] * 3, "g": list("aabbcc")})
    >>> fits = [linear.fit(f"y ~ {fixed} + (1 | g)", table, reml=True) for fixed in ("1", "x")]
    >>> test = f_test(*fits)
    >>> round(test.value, 2), test.df, round(test.denominator, 2), round(test.p, 4)
    (49.0, 1, 2.0, 0.0198)
    """
    from scipy.special import fdtrc

    linear.nested(smaller, larger)
    small, large = smaller.design, larger.design
    sides = [sorted(str(bar) for bar in design.model.bars) for design in (small, large)]
    if sides[0] != sides[1]:
        place = f"{smaller.formula} against {larger.formula}"
        raise UsageError(place, "different random effects", "models that differ in fixed effects only")
    # The smaller model is the larger one with X_large b restricted to the columns of X_small.
    inside = np.linalg.lstsq(large.fixed.values, small.fixed.values)[0]
    contrasts = np.linalg.svd(inside)[0][:, len(smaller.coefficients) :].T
    adjusted = larger.adjusted()
    factor, denominator = adjusted.test(contrasts)
    values = contrasts @ np.array([effect.estimate for effect in larger.coefficients])
    covariance = contrasts @ adjusted.covariance @ contrasts.T
    value = factor * float(values @ np.linalg.solve(covariance, values)) / len(contrasts)
    # The factor and the degrees of freedom are moments of an expansion, which few groups take out of its range.
    if not (denominator > 0 and value >= 0):
        place, found = (
            f"{smaller.formula} against {larger.formula}",
            f"F = {value:.3f} with {denominator:.3f} denominator df",
        )
        raise InputError(place, found, "more groups: Kenward and Roger's approximation fails with so few")
    return F(value, len(contrasts), denominator, float(fdtrc(len(contrasts), denominator, value)))


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned likelihood-ratio test with simulated responses."""

    responses: int  # the largest number of simulated responses; 0: the test has none
    kept: int  # how many of them are kept from before
    left: int  # how many are still to be simulated, at most
    seconds: float  # about how long these take, at most


def compare(smaller: Fit, larger: Fit, draws: int | None = None, folder: Path | None = None) -> LikelihoodRatio:
    """Compare two nested models by a likelihood-ratio test, with a parametric bootstrap where groups are few."""
    # Responses are simulated from the smaller model, and both models are fitted to each. p is the share of likelihood
    # ratios that are at least as large as the observed one, which is counted among them. As soon as it is clear that p
    # is above .05, because a twentieth of all ratios are, the simulation stops, and p is the share until then (Besag &
    # Clifford 1991). The seed is that of `bootstrap.current()`.
    #
    # `draws` is the largest number of simulated responses; 0: the chi-squared distribution. By default that of
    # `bootstrap.current()`, or if that has none, `DRAWS` if a group has fewer than 20 levels, otherwise 0. Fits of
    # logistic models take seconds, so for these it is `LOGISTIC_DRAWS` where groups are few, otherwise 0, unless
    # `bootstrap.current()` has 0.
    plain = linear.compare(smaller, larger)
    design, linear_model = bootstrap.current(), _is_linear(smaller)
    wanted = _wanted(larger.design, linear_model) if draws is None else draws
    if not wanted:
        return plain
    if smaller.method == "REML":
        raise UsageError(larger.formula, "restricted likelihoods", "maximum likelihood", "Fit both with reml=False.")
    source = bootstrap.generator(f"{smaller.formula} | {larger.formula}", design.seed)
    deviance_of = linear.deviance_of if linear_model else logistic.deviance_of
    progress, start = bootstrap.progress(), time.monotonic()
    with keep_ratios(smaller, larger, plain.chi2, design.seed, folder, progress) as ratios:
        before = len(ratios.values)
        counted = _counted(ratios.values, plain.chi2, wanted)
        if not counted.decided:
            kept = f", {before:,} of them kept" if before else ""
            progress.began(f"Likelihood-ratio test: up to {wanted:,} simulated responses of {smaller.formula}{kept}")
        # Those that are kept take their random numbers, too.
        for _ in range(before):
            simulate(smaller, source)
        while not counted.decided:
            response, ratio = simulate(smaller, source), nan
            # A simulated response may have no variance; the number of these is said.
            with suppress(SyntagmError):
                ratio = deviance_of(smaller, response) - deviance_of(larger, response)
            ratios.append(ratio)
            done = len(ratios.values)
            progress.simulated(done, wanted, (time.monotonic() - start) / (done - before) * (wanted - done))
            counted = _counted(ratios.values, plain.chi2, wanted)
    number, fitted, larger_ratios, stopped = counted.number, counted.fitted, counted.larger, counted.stopped
    p = larger_ratios / fitted if stopped else (1 + larger_ratios) / (1 + fitted)
    drawn = f"{number} of {wanted}" if number < wanted else f"{wanted}"
    failed = f", {number - fitted} not fitted" if fitted < number else ""
    method = f"parametric bootstrap({drawn}, seed {design.seed}{failed})"
    return LikelihoodRatio(plain.chi2, plain.df, p, method, least=0.0 if stopped else 1 / (1 + fitted))


def planned(smaller: Design, larger: Design, linear_model: bool, folder: Path) -> Planned:
    """Plan a likelihood-ratio test, as `compare` performs it, before its models are fitted."""
    wanted = _wanted(larger, linear_model)
    values, chi2 = kept(folder, name(smaller, larger, linear_model, bootstrap.current().seed))
    counted = _counted(values, chi2, wanted)
    left = 0 if counted.decided else wanted - counted.number
    least, of_row = _SECONDS if linear_model else _LOGISTIC_SECONDS
    return Planned(wanted, counted.number, left, left * (least + of_row * len(larger.response)))


@dataclass(frozen=True, slots=True)
class _Counted:
    """Likelihood ratios until the test is decided."""

    number: int  # how many responses count
    fitted: int  # to how many of these the models could be fitted
    larger: int  # how many of their ratios are at least as large as the observed one
    stopped: bool  # whether it is clear that p is above .05
    decided: bool  # whether no more responses are needed


def _counted(ratios: Sequence[float], chi2: float, wanted: int) -> _Counted:
    values, enough = np.array(ratios[:wanted], np.float64), max(1, wanted // _SHARE)
    larger = np.cumsum(values >= chi2 - deviance.SAME)
    stopped = bool(len(larger)) and int(larger[-1]) >= enough
    number = int(np.argmax(larger >= enough)) + 1 if stopped else len(values)
    fitted = int(np.isfinite(values[:number]).sum())
    return _Counted(number, fitted, int(larger[number - 1]) if number else 0, stopped, stopped or number == wanted)


def _wanted(larger: Design, linear_model: bool) -> int:
    """Return the largest number of simulated responses of a test; 0 for the chi-squared distribution."""
    wanted = bootstrap.current().simulated
    if wanted is None or (wanted and not linear_model):
        few = fewest_groups(larger) < FEW_GROUPS
        wanted = (DRAWS if linear_model else LOGISTIC_DRAWS) if few else 0
    return wanted


def _is_linear(fit: Fit) -> bool:
    return bool(np.isfinite(fit.sigma))


def simulate(fit: Fit, source: np.random.Generator) -> Numbers:
    design, linear_model = fit.design, _is_linear(fit)
    sigma = fit.sigma if linear_model else 1.0
    mean = design.fixed.values @ np.array([effect.estimate for effect in fit.coefficients])
    for grouping, lower in zip(design.groupings, deviance.triangles(fit.place, design.groupings), strict=True):
        effects = sigma * source.normal(size=(len(grouping.levels), len(grouping.effects))) @ lower.T
        mean = mean + (grouping.columns * effects[grouping.index]).sum(axis=1)
    if linear_model:
        return np.asarray(mean + sigma * source.normal(size=len(mean)), np.float64)
    from scipy.special import expit

    return source.binomial(design.trials.astype(int), expit(mean)).astype(np.float64)
