"""Power of planned studies: of McNemar's test exactly, of others by simulation from a pilot.

| pilot | a study has | its test |
|---|---|---|
| `TwoModels`: two models on suites | suites, items of each | over suites (`over_suites`); of one suite McNemar's |
| `TwoClasses`: two classes of models on suites | suites, items of each, models per class | `model_classes.difference` |
| `People`: judgements of items | items, judgements of each | people and items random (`judgements.estimate`) |

If a pilot were resampled as it is, its sampling error would count as if suites, models or people differed by so much
more. So the variances of suites, items, models and people are estimated from it without that error, by analysis of
variance or a mixed model, and studies are drawn from these (generalisability theory: Brennan 2001). What remains is the
error of the estimates: a small pilot tells power badly. `benchmarks/coverage.py` compares predicted and true power.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError
from syntagm.evaluation import Kind
from syntagm.stats import bootstrap, interval, judgements, model_classes, suite_intervals
from syntagm.stats.interval import LEVEL
from syntagm.stats.judgements import Judgements

# The power of McNemar's test. Let `discordant` be the probability that two models judge an item differently. The number
# k of discordant items among n is binomial(n, discordant). Of these, the number in favour of b is binomial(k,
# (discordant + difference) / (2 discordant)), where difference is that of the accuracies, b - a. The power is the
# probability that the two-sided test rejects, summed over all k, without approximation (Schork & Williams 1980; Duffy
# 1984; for language models Card et al. 2020). For large n it approaches Connor's formula (1987):
#
#     difference = (z(1 - level/2) sqrt(discordant) + z(power) sqrt(discordant - difference^2)) / sqrt(n)
#
# Items are assumed to be independent. If they share words, the power is lower; see `cluster_intervals.clustered`.

POWER = 0.8
_STEPS = 40


def mcnemar_power(n: int, difference: float, discordant: float, level: float = LEVEL) -> float:
    """Compute the power of McNemar's test.

    Arguments:
        n: the number of items.
        difference: the difference of the accuracies, from -1 to 1.
        discordant: the proportion of items that the models judge differently; at least the absolute difference.
        level: the significance level; the test rejects at p <= level.

    Raises:
        InputError: the proportions are impossible.

    >>> mcnemar_power(6, 1.0, 1.0)  # all six items are discordant, all for one model: p = 2 / 2**6
    1.0
    >>> mcnemar_power(5, 1.0, 1.0)  # five can't reach the level: p = 2 / 2**5
    0.0
    >>> mcnemar_power(6, 0.5, 0.5) * 2**6  # four or more of six must be discordant (z = 4 / sqrt(4) = 2): 15 + 6 + 1
    22.0
    """
    size = abs(difference)
    if n < 0 or not size <= discordant <= 1:
        found = f"{n} items, difference {difference}, discordant {discordant}"
        raise InputError("power", found, "a number of items, and |difference| <= discordant <= 1")
    if not discordant:
        return 0.0
    return _power(n, size, discordant, level)


def detectable(n: int, balanced: float | None = None, level: float = LEVEL, wanted: float = POWER) -> float:
    """Find the smallest difference of accuracies that the test detects with the power `wanted`; nan if there is none.

    Arguments:
        n: the number of items.
        balanced: the proportion of items that are discordant without a difference, half in each direction. The
            difference is added to it: discordant = balanced + difference. None: all items are discordant (worst case).
        level: the significance level; the test rejects at p <= level.
        wanted: the power.

    Raises:
        InputError: a proportion is impossible.

    >>> round(detectable(100, balanced=0.1), 3), round(detectable(100), 3)
    (0.127, 0.29)
    >>> round(detectable(8, balanced=0.0), 3), detectable(5)  # four of eight must be discordant; five are too few
    (0.584, nan)
    """
    if balanced is not None and not 0 <= balanced <= 1:
        raise InputError(
            "detectable", f"a proportion of balanced discordant items of {balanced}", "a proportion from 0 to 1"
        )
    most = 1.0 if balanced is None else 1.0 - balanced

    def power_at(difference: float) -> float:
        return _power(n, difference, 1.0 if balanced is None else min(1.0, balanced + difference), level)

    if most <= 0 or power_at(most) < wanted:
        return math.nan
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= wanted else (middle, high)
    return high


def _power(n: int, size: float, discordant: float, level: float) -> float:
    from scipy.stats import binom

    if n < 1 or discordant <= 0:
        return 0.0
    # The probability of counts further from the mean is below 10^-20.
    reach = 10 * math.sqrt(n * discordant * (1 - discordant)) + 50
    k = np.arange(max(0, math.floor(n * discordant - reach)), min(n, math.ceil(n * discordant + reach)) + 1)
    minorities = np.arange(n // 2 + 1)
    # p is at least that of the exact test with all n items.
    exact = np.searchsorted(2 * binom.cdf(minorities, n, 0.5), level, side="right") - 1
    most = np.minimum(_critical(k, level), exact)
    to_b = (discordant + size) / (2 * discordant)
    rejected = binom.cdf(most, k, to_b) + binom.cdf(most, k, 1 - to_b)
    return float((binom.pmf(k, n, discordant) * np.where(most >= 0, rejected, 0.0)).sum())


def _critical(k: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """Return for each number of discordant items the largest minority that is rejected; -1 if none is. Shape (k,)."""
    from scipy.special import ndtri

    # A minority of m is rejected if (k - 2m) / sqrt(k) reaches the critical value.
    edge = np.floor((k + ndtri(level / 2) * np.sqrt(k)) / 2 + 1e-12)
    critical: NDArray[np.float64] = np.where((k > 0) & (edge >= 0), edge, -1.0)
    return critical


Numbers = NDArray[np.float64]
# Of this many studies, the standard error of a power is at most .016.
STUDIES = 1000
# Half-widths of intervals vary less.
REACHES = 40


@dataclass(frozen=True, slots=True)
class Power:
    """The power of studies of one size."""

    sizes: Mapping[str, int]  # the name of each size, for example "suites", and the number
    power: float  # the proportion of studies whose test has p <= .05
    low: float  # `low`, `high`: its 95% interval, for the error of the simulation alone
    high: float


class TwoModels:
    """A pilot of two models on the same items of some suites."""

    # With random suites, a study draws suites with differences like those of the pilot; with fixed suites, it has the
    # pilot's. In each suite, items are discordant as often as in the pilot, in favour of one model by the difference.

    def __init__(self, differences: Sequence[Numbers]) -> None:
        if not differences or not all(map(len, differences)):
            raise InputError("power", "a suite without items", "items in every suite")
        if sum(map(len, differences)) < 2:
            raise InputError("power", "a pilot of one item", "two or more, to see how items differ")
        means = np.array([items.mean() for items in differences])
        self.difference = float(means.mean())
        self.suites = len(means)
        noise = float(np.mean([items.var(ddof=1) / len(items) if len(items) > 1 else 0.0 for items in differences]))
        self.random = bootstrap.current().suites == "random"
        self.deviations = _without_noise(means, noise) if self.random else means - self.difference
        # What is discordant beside the difference. Random suites share it: a suite's own mean differs from 0 by sampling.
        beside = np.array([np.abs(items).mean() for items in differences]) - np.abs(self.difference + self.deviations)
        self.balanced = np.full(self.suites, max(0.0, float(beside.mean()))) if self.random else np.maximum(beside, 0.0)

    def simulate(self, source: np.random.Generator, difference: float, suites: int, items: int) -> float:
        """Draw a study, and return the p-value of its test."""
        chosen = source.integers(0, self.suites, suites) if self.random else np.arange(suites)
        truth = np.clip(difference + self.deviations[chosen], -1, 1)
        discordant = np.minimum(self.balanced[chosen] + np.abs(truth), 1)
        to_b = (discordant + truth) / 2
        draws = source.random((suites, items))
        values = (draws < to_b[:, None]).astype(float) - (draws > 1 - (discordant - to_b)[:, None])
        study = dict(zip(map(str, range(suites)), values, strict=True))
        return suite_intervals.over_suites(study, Kind.VERDICT, difference=True).p


class TwoClasses:
    """A pilot of two classes of models, each with several models, on the same items of several suites."""

    # A study draws the scores of models on suites. They vary by suite (as the pilot's suites do), by item, by model,
    # and by the interactions of suite and model and of item and model.

    def __init__(self, first: Mapping[str, Numbers], second: Mapping[str, Numbers]) -> None:
        if bootstrap.current().suites == "fixed":
            raise UsageError("power", "--suites fixed with classes of models", "random suites")
        sides = [list(values.values()) for values in model_classes.complete(first, second)]
        models = [values[0].shape[1] for values in sides]
        if len(sides[0]) < 2 or min(models) < 2:
            found = f"{len(sides[0])} suites, {models[0]} and {models[1]} models"
            raise UsageError("power", found, "at least two of each", "One model shows no variance between models.")
        for suite, items in zip(first, sides[0], strict=True):
            if len(items) < 2:
                found = f"{len(items)} items that are defined under all models"
                raise InputError(f"power, suite {suite}", found, "two or more in every suite")
        scores = [np.array([items.mean(axis=0) for items in values]) for values in sides]
        self.suites, self.models = len(scores[0]), models
        self.difference = float(scores[1].mean() - scores[0].mean())
        size = float(1 / np.mean([1 / len(items) for items in sides[0]]))
        # Variances of one model on one item, of a model on a suite beyond that, and of a model.
        self.residuals = [float(np.mean([_residual(items) for items in values])) for values in sides]
        interactions = [model_classes.interaction(table) for table in scores]
        self.interactions = [
            max(0.0, both - residual / size) for both, residual in zip(interactions, self.residuals, strict=True)
        ]
        self.of_models = [
            max(0.0, float(table.mean(axis=0).var(ddof=1)) - both / self.suites)
            for table, both in zip(scores, interactions, strict=True)
        ]
        # The variance of the difference of the classes on an item, and on a suite.
        contrasts = [b.mean(axis=1) - a.mean(axis=1) for a, b in zip(*sides, strict=True)]
        of_models = sum(residual / count for residual, count in zip(self.residuals, models, strict=True))
        within = float(np.mean([items.var(ddof=1) for items in contrasts]))
        self.of_items = max(0.0, within - of_models)
        noise = within / size + sum(part / count for part, count in zip(self.interactions, models, strict=True))
        self.deviations = _without_noise(np.array([items.mean() for items in contrasts]), noise)

    def simulate(self, source: np.random.Generator, difference: float, suites: int, items: int, models: int) -> float:
        """Draw a study with as many models in each class, and return the p-value of its test."""
        shared = difference + self.deviations[source.integers(0, self.suites, suites)]
        shared = shared + source.normal(0, sqrt(self.of_items / items), suites)
        scores = []
        for residual, both, of_models in zip(self.residuals, self.interactions, self.of_models, strict=True):
            noise = source.normal(0, sqrt(both + residual / items), (suites, models))
            scores.append(noise + source.normal(0, sqrt(of_models), models))
        scores[1] = scores[1] + shared[:, None]
        value = float(scores[1].mean() - scores[0].mean())
        return interval.p_value(value, model_classes.of_scores(*scores))


class People:
    """A pilot of people who judged items, with two conditions or with a number that the mean is compared with."""

    # A mixed model of the pilot says how people and items vary, and how the difference between conditions does. In a
    # study, each item has as many judgements as each other one, and each person judges as many items as in the pilot.
    # With two conditions, each person sees each item in one of them, and each item is seen in both.

    def __init__(self, pilot: Judgements, against: float = 0.5) -> None:
        if pilot.second is None and pilot.kind is Kind.VERDICT and not 0 < against < 1:
            raise UsageError("--against", f"{against:g}", "a number between 0 and 1 for judgements of 0 and 1")
        self.against, self.kind, self.paired = against, pilot.kind, pilot.second is not None
        self.judged = pilot.kind is Kind.VERDICT
        if pilot.second is not None:
            for name, article, units in (("person", "a", pilot.people), ("item", "an", pilot.items)):
                if not set(units[pilot.second]) & set(units[~pilot.second]):
                    found = f"a pilot in which each {name} has one condition"
                    raise UsageError("power", found, f"{article} {name} with both")
        from syntagm.stats.mixed import linear, logistic

        self.difference, self.found = judgements.estimate(pilot, against)
        if not self.paired:
            self.difference -= against
        self.mean = float(pilot.values.mean()) if self.paired else against
        self.load = int(np.median(np.bincount(pilot.people)))
        condition = np.zeros(len(pilot.values)) if pilot.second is None else pilot.second - 0.5
        columns = {"value": pilot.values, "person": pilot.people, "item": pilot.items, "condition": condition}
        table = pl.DataFrame(columns).with_columns(pl.col("person", "item").cast(pl.String))
        effects = "(condition || {})" if self.paired else "(1 | {})"
        formula = f"value ~ {'condition' if self.paired else '1'} + " + " + ".join(
            map(effects.format, ("person", "item"))
        )
        fit = (logistic if self.judged else linear).fit(formula, table, starts=1)
        # That a variance is 0 matters for planning; that tests of this fit are inexact does not.
        self.messages = tuple(message for message in fit.messages if message.startswith("singular"))
        self.residual = 0.0 if self.judged else fit.sigma
        # Standard deviations of intercepts and of differences, of people and of items.
        self.sd = {name: [0.0, 0.0] for name in ("person", "item")}
        for group in fit.groups:
            for effect, sd in zip(group.effects, group.sd, strict=True):
                self.sd[group.name][effect == "condition"] = sd

    def people(self, items: int, each: int) -> int:
        """Return how many people a study needs."""
        return ceil(items * each / min(self.load, items))

    def simulate(self, source: np.random.Generator, difference: float, items: int, each: int) -> float:
        """Draw a study with `each` judgements of each item, and return the p-value of its test."""
        return judgements.estimate(self.study(source, difference, items, each), self.against)[1].p

    def study(
        self, source: np.random.Generator, difference: float, items: int, each: int, load: int | None = None
    ) -> Judgements:
        """Draw a study with `each` judgements of each item."""
        slots = np.arange(items * each)
        item, person = slots % items, slots // min(load or self.load, items)
        # Items change their condition from one round through all items to the next.
        second = (slots // items + item) % 2 == 1 if self.paired else None
        codes = np.zeros(len(slots)) if second is None else second - 0.5
        value = self._centre(codes, difference)
        for sd, units in zip(self.sd.values(), (person, item), strict=True):
            count = int(units.max()) + 1
            value = value + source.normal(0, sd[0], count)[units] + source.normal(0, sd[1], count)[units] * codes
        if self.judged:
            value = (source.random(len(value)) < 1 / (1 + np.exp(-value))).astype(np.float64)
        else:
            value = value + source.normal(0, self.residual, len(value))
        return Judgements(person, item, value, self.kind, second)

    def reach(self, items: int, each: int, load: int | None = None) -> float:
        """Return the mean half-width of the 95% intervals of `REACHES` studies like the pilot; for arguments see `study`."""
        source = bootstrap.generator(f"reach/{items}/{each}/{load}", bootstrap.current().seed)
        halves = []
        for _ in range(REACHES):
            drawn = self.study(source, self.difference, items, each, load)
            found = judgements.estimate(drawn, self.against)[1]
            halves.append((found.high - found.low) / 2)
        return float(np.nanmean(halves))

    def _centre(self, codes: Numbers, difference: float) -> Numbers:
        """Return the centre of each judgement: the mean of ratings, or the log odds whose mean proportion is wanted."""
        wanted = self.mean + difference * (codes if self.paired else np.ones(len(codes)))
        if not self.judged:
            return np.asarray(wanted)
        centres = np.empty(len(codes))
        for code, mean in set(zip(codes.tolist(), wanted.tolist(), strict=True)):
            sd = sqrt(sum(sds[0] ** 2 + (code * sds[1]) ** 2 for sds in self.sd.values()))
            centres[codes == code] = log_odds(mean, sd)
        return centres


def people_for(pilot: People, reach: float, items: int, load: int | None = None, most: int = 2000) -> int:
    """Return the smallest number of people with whom the 95% interval is as narrow as wished, on average."""
    if items < 2:
        raise UsageError(
            "--precision", "one item", "two or more items", "Add items: intervals are for other items, too."
        )
    load = min(load or items, items)

    def reached(people: int) -> float:
        return pilot.reach(items, max(1, round(people * load / items)), load)

    low, high = 2, most
    if (best := reached(high)) > reach:
        raise UsageError(
            "--precision", f"{reach:g} with {items} items", f"at least {best:.3g}, the half-width with {most:,} people",
            "Add items: intervals are for other items, too.",
        )  # fmt: skip
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) <= reach else (middle + 1, high)
    return low


def log_odds(mean: float, sd: float) -> float:
    """Return the centre of normally distributed log odds whose proportions have this mean.

    >>> round(log_odds(0.75, 0.0), 4), log_odds(0.75, 1.0) > 1.0986  # log 3
    (1.0986, True)
    """
    if not 0 < mean < 1:
        raise UsageError("difference", f"a mean of {mean:g}", "proportions between 0 and 1", "State a smaller one.")
    from scipy.optimize import brentq
    from scipy.special import expit, ndtri

    quantiles = sd * ndtri((np.arange(200) + 0.5) / 200)
    return float(brentq(lambda centre: expit(centre + quantiles).mean() - mean, -60, 60))


def _residual(values: Numbers) -> float:
    """Return the variance of values that items and models don't explain; 0 with one item. Shape (items, models)."""
    return model_classes.interaction(values) if len(values) > 1 else 0.0


def _without_noise(means: Numbers, noise: float) -> Numbers:
    """Return the deviations of means from their mean, shrunk to the variance that is not noise. Shape (means,)."""
    deviations: Numbers = means - means.mean()
    seen = float((deviations**2).mean())
    if not seen > 0:
        return deviations
    wanted = max(0.0, float(means.var(ddof=1)) - noise)
    shrunk: Numbers = deviations * sqrt(wanted / seen)
    return shrunk


Pilot = TwoModels | TwoClasses | People


def power(pilot: Pilot, difference: float, **sizes: int) -> Power:
    """Simulate `STUDIES` studies, and return the proportion that finds the difference.

    Arguments:
        difference: the true difference.
        sizes: the sizes of a study, the arguments of the pilot's `simulate`.

    >>> pilot = TwoModels([np.array([1.0, 0, 0, 0, -1, 1]), np.array([1.0, 0, 1, 0, 0, 0])])
    >>> found = power(pilot, 0.2, suites=1, items=20)
    >>> found.low < found.power < found.high
    True
    """
    source = bootstrap.generator(f"power/{sorted(sizes.items())}/{difference!r}", bootstrap.current().seed)
    found = [pilot.simulate(source, difference, **sizes) <= LEVEL for _ in range(STUDIES)]
    error = interval.of_items(np.array(found, np.float64), Kind.VERDICT)
    return Power(sizes, float(np.mean(found)), error.low, error.high)
