"""What a bit costs: the slopes of the added predictors in a regression on all rows, and how far they are known.

Slopes by least squares, of times or of their logarithms, have cluster-robust errors: rows of a sentence (or text, or else tenth
of the table) and of a participant are correlated. Those of a mixed model have its own errors, which assume that the random terms
describe all correlations, and Satterthwaite's degrees of freedom.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from re import fullmatch

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError
from syntagm.reading_times import regressions, roles
from syntagm.reading_times.observations import Observations
from syntagm.stats import Covariance, Term, Variable, coefficient_covariance, critical, linear, spread_of_clusters

Numbers = NDArray[np.float64]
# With fewer units, intervals are too narrow: with 16 people and 20 sentences, those of 95% covered .91; with 40 and 60, .94.
_FEW = 30
COLUMNS = ("model", "predictor", "back", "slope", "se", "low", "high", "unit")


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its variance, its degrees of freedom, and its 95% interval."""

    value: float
    variance: float = nan
    freedom: float = nan

    @property
    def se(self) -> float:
        """The standard error; nan if it isn't known."""
        return sqrt(self.variance)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; nan if there is none."""
        if isnan(self.variance) or not self.freedom > 0:
            return nan, nan
        reach = critical(self.freedom) * sqrt(self.variance)
        return self.value - reach, self.value + reach


@dataclass(frozen=True, slots=True)
class Place:
    """What a slope belongs to: a predictor of the word itself (0 words back), or of a word before it."""

    predictor: str
    back: int

    def __str__(self) -> str:
        word = "the word" if not self.back else f"{self.back} before"
        return f"{self.predictor} of {word}"


@dataclass(frozen=True, slots=True, eq=False)
class Clustered:
    """The uncertainty of slopes by least squares."""

    influences: Numbers  # the influence of each row of the corpus on each slope. Shape (rows, slopes).
    clusters: Mapping[str, NDArray[np.int64]]  # the units of the corpus: name -> the unit of each row

    def of(self, weights: Numbers) -> tuple[float, float] | None:
        """Return the variance of a weighted sum of the slopes, cluster-robust, and its degrees of freedom; None with one unit."""
        spread = spread_of_clusters(self.influences @ weights, self.clusters)
        return None if spread is None else (spread.variance, spread.freedom)


@dataclass(frozen=True, slots=True, eq=False)
class Modelled:
    """The uncertainty of slopes that are coefficients of a mixed-effects model."""

    covariance: Covariance  # of all coefficients
    places: tuple[int, ...]  # the place of each slope among them

    def of(self, weights: Numbers) -> tuple[float, float]:
        """Return the variance of a weighted sum of the slopes, and Satterthwaite's degrees of freedom; infinite for no slope."""
        contrast = np.zeros((1, len(self.covariance.values)))
        contrast[0, list(self.places)] = weights
        variance = float((contrast @ self.covariance.values @ contrast.T).item())
        return (variance, float(self.covariance.degrees(contrast)[0])) if variance > 0 else (0.0, inf)


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """What a bit costs: the slopes of the added predictors of a word, and of the words before it."""

    model: str  # the language model
    places: tuple[Place, ...]  # what each slope belongs to
    values: Numbers  # milliseconds per unit of each
    uncertainty: Clustered | Modelled | None  # None if the slopes were given
    n: int  # the number of rows
    method: str = ""  # how the slopes were fitted, in words
    unit: str = "ms"  # of the times: `ms`, or `log ms` for natural logarithms
    messages: tuple[str, ...] = ()  # what the fit said of itself, such as that it is singular

    @property
    def predictors(self) -> list[str]:
        """The predictors, the first of which is the surprisal."""
        return [*dict.fromkeys(place.predictor for place in self.places)]

    @property
    def lags(self) -> int:
        """The number of words before a word whose predictors have slopes."""
        return max(place.back for place in self.places)

    def cells(self) -> list[tuple[str, str, int, float, float, float, float, str]]:
        # The unit is one of bits where the predictor is known as a surprisal by its name.
        found = []
        for place, amounts in zip(self.places, np.eye(len(self.places)), strict=True):
            bits = fullmatch(r"bits[\w.]*", place.predictor) or roles.choose([place.predictor], {}, ["bits"])
            number, unit = self.predict(amounts), f"{self.unit} per {'bit' if bits else 'unit'}"
            found.append((self.model, place.predictor, place.back, number.value, number.se, *number.ends, unit))
        return found

    def __str__(self) -> str:
        return f"{self.model}: " + ", ".join(
            f"{value:.4g} {unit} of {place}" + (f" (se {se:.2g})" if se == se else "")
            for place, (_, _, _, value, se, _, _, unit) in zip(self.places, self.cells(), strict=True)
        )

    def predict(self, amounts: Numbers) -> Number:
        """Return the milliseconds of some amounts of the predictors, with the uncertainty of the slopes."""
        value = float(self.values @ amounts)
        known = self.uncertainty.of(amounts) if self.uncertainty else None
        return Number(value) if known is None else Number(value, *known)


def lines(found: Iterable[Slopes]) -> list[str]:
    """Say slopes with their standard errors and 95% intervals, the rows, and how they were fitted."""
    said, before = list[str](), ""
    for one in found:
        head = f"slopes, on all {one.n:,} rows, by {one.method}:"
        said += [head] if head != before else []
        before = head
        said += [
            f"{one.model}, {place}: {value:.4g} {unit}, se {se:.3g} [{low:.4g}, {high:.4g}]"
            for place, (_, _, _, value, se, low, high, unit) in zip(one.places, one.cells(), strict=True)
        ]
    return said


def given(values: Sequence[float]) -> Slopes:
    """Return slopes that a user gives: milliseconds per bit of the word itself, of the word before it, and so on."""
    places = tuple(Place("bits", back) for back in range(len(values)))
    return Slopes("given", places, np.array(values), None, 0, "as given")


def fit(
    label: str,
    rows: Observations,
    clusters: Mapping[str, NDArray[np.int64]],
    model: str = "ols",
    random: Sequence[str] = (),
) -> Slopes:
    if model == "smooth":
        found = "effects of --model smooth, which are curves"
        raise UsageError("slopes", found, "another --model", "See the view shape.")
    added = rows.added[label]
    columns = rows.columns((*rows.baseline, *added))
    if any(rows.frame[variable.column].dtype == pl.String for term in added for variable in term):
        raise UsageError("--add", f"a factor in {label}", "columns of numbers")
    places = tuple(_place(term, added) for term in added)
    kept = regressions.independent(columns.values)
    if not kept[-len(added) :].all():
        lost = places[int(np.argmin(kept[-len(added) :]))]
        raise InputError("slopes", f"{lost}, {label}, which other columns determine", "independent columns")
    if model == "mixed":
        return _mixed(label, rows, places, random)
    response = regressions.logarithms(rows) if model == "loglinear" else rows.times
    line = regressions.least_squares(columns.values, response)
    orthogonal, triangle = np.linalg.qr(columns.values[:, line.kept])
    residual = response - columns.values @ line.coefficients
    influences = np.linalg.solve(triangle, orthogonal.T)[-len(added) :].T * residual[:, None]
    few = [f"only {count} {name}" for name, own in clusters.items() if (count := len(np.unique(own))) < _FEW]
    units = "; ".join([f"{' and '.join(clusters)} random", *few])
    how, unit = ("least squares of logarithms", "log ms") if model == "loglinear" else ("least squares", "ms")
    return Slopes(
        label, places, line.coefficients[-len(added) :], Clustered(influences, clusters), len(residual),
        f"{how} with cluster-robust errors ({units})", unit,
    )  # fmt: skip


def _place(term: Term, terms: Sequence[Term]) -> Place:
    """Return what a term is: another one some words back, as of --lags or in the table, or a predictor of its own."""
    ends = {variable.column.rpartition("_")[2] for variable in term}
    if len(ends) == 1 and (back := ends.pop()).isdecimal():
        first = tuple(Variable(each.column.removesuffix(f"_{back}"), each.function) for each in term)
        if first in terms:
            return Place(":".join(map(str, first)), int(back))
    return Place(":".join(map(str, term)), 0)


def _mixed(label: str, rows: Observations, places: tuple[Place, ...], random: Sequence[str]) -> Slopes:
    added = rows.added[label]
    bars = regressions.random_terms(random, rows.response)
    formula, kept = regressions.mixed_formula(rows, added, bars)
    found = linear.fit(formula, regressions.grouped(rows, bars), reml=True, dependent="drop")
    # An interaction may have its variables in another order.
    names = [{*each.name.split(":")} for each in found.coefficients]
    at = tuple(names.index({*":".join(map(str, term)).split(":")}) for term in added)
    values = np.array([found.coefficients[place].estimate for place in at])
    covariance = coefficient_covariance(found.design, found.place, found.sigma, reml=True)
    said = "".join(f"; {each}" for each in found.messages)
    return Slopes(
        label, places, values, Modelled(covariance, at), len(rows.times),
        f"a mixed-effects model with {' + '.join(kept) or 'no random terms'}{said}", messages=tuple(found.messages),
    )  # fmt: skip
