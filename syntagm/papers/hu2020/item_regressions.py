"""Logistic regressions of items, which are not in Hu et al. 2020, with the diagnostics of their fits.

Means of suites hide the number of items behind them; a binomial model doesn't. Two models are fitted:

* `items`: one observation per item. It takes for granted that one suite is as hard as another for all models, apart from
  chance. This is seldom true, and then its standard errors are too small; `dispersion` shows it.
* `counts`: one observation per suite and trained model, the number of correct items. Suites may suit one class, one size
  and one trained model better than another. This is the recommended test of class against size.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from syntagm.core import InputError, SyntagmError, UsageError
from syntagm.stats import Fit, few_groups, logistic
from syntagm.views import Cell, Table

FIXED = "log(numwords) + architecture"
RANDOM = {
    "items": "(1 | suite) + (1 | suite:item) + (1 | instance)",
    "counts": "(log(numwords) || suite) + (1 | suite:architecture) + (1 | suite:instance) + (1 | instance)",
}
# Tested predictor -> the fixed effects without it.
WITHOUT = {"size": "architecture", "architecture": "log(numwords)"}
_CELL = ("suite", "instance")


@dataclass(frozen=True, slots=True)
class Fits:
    """The fits of both models, and the reasons why one could not be fitted."""

    fits: Mapping[str, Fit]  # name of the model (a key of `RANDOM`) -> fit
    failures: dict[str, str]  # name of the model, or what could not be computed -> reason

    @property
    def notes(self) -> tuple[str, ...]:
        """The formulas, and the reasons."""
        models = (f"{name}: correct ~ {FIXED} + {random}." for name, random in RANDOM.items())
        return *models, *(f"{name} is not computed: {reason}" for name, reason in self.failures.items())


def tables(items: pl.DataFrame, folder: Path | None = None) -> Iterator[tuple[str, Table]]:
    found = fit_models(items)
    yield "regression_items", coefficients(found)
    yield "regression_items_fits", fits(found)
    if "counts" in found.fits:
        yield "regression_items_tests", tests(found, counts(items), folder)
    if found.fits:
        yield "regression_items_residuals", residuals(found)
        yield "regression_items_influence", influence(found)


def counts(items: pl.DataFrame) -> pl.DataFrame:
    """Count the correct items of each trained model on each suite."""
    keys = [*_CELL, "numwords", "architecture"]
    return items.group_by(keys, maintain_order=True).agg(pl.col("correct").sum(), pl.len().alias("items"))


def fit_models(items: pl.DataFrame) -> Fits:
    """Fit both models; one that the data don't allow gets a reason instead of a fit."""
    found, failures = dict[str, Fit](), dict[str, str]()
    for name in RANDOM:
        try:
            found[name] = logistic.fit(_formula(name), items) if name == "items" else _counted(FIXED, counts(items))
        except SyntagmError as error:
            failures[name] = str(error)
    return Fits(found, failures)


def coefficients(found: Fits) -> Table:
    rows = tuple(
        (name, effect.name, effect.estimate, effect.se, effect.t, effect.p, effect.low, effect.high)
        for name, fit in found.fits.items()
        for effect in fit.tests()
    )
    notes = [
        *found.notes,
        "Laplace approximation; log odds; z, p and the 95% intervals assume many trained models.",
        *(
            f"{name}: log-likelihood {fit.loglik:.2f}; standard deviations: "
            + ", ".join(f"{group.name} {sd:.3f}" for group in fit.groups for sd in group.sd)
            for name, fit in found.fits.items()
        ),
    ]
    if (fit := found.fits.get("items")) and (ratio := logistic.dispersion(fit, _CELL)).p < 0.05:
        notes.append(
            f"items: the scores of suites vary {ratio.ratio:.1f} times as much between models as this model expects, so its "
            "standard errors and p are too small: use counts."
        )
    columns = ("model", "term", "estimate", "se", "z", "p", "low", "high")
    return Table("Logistic regression of items", columns, rows, (), tuple(notes))


def fits(found: Fits) -> Table:
    """Make the table of diagnostics: convergence, singular fit and overdispersion."""
    rows: list[tuple[Cell, ...]] = []
    for name, fit in found.fits.items():
        ratio = logistic.dispersion(fit, _CELL)
        rows.append(
            (name, fit.k, fit.n, len(fit.reached), fit.gradient, "yes" if fit.converged else "no",
             "yes" if fit.singular else "no", ratio.ratio, ratio.df, ratio.p, "; ".join(fit.messages))
        )  # fmt: skip
    columns = (
        "model", "parameters", "observations", "starts", "largest derivative", "converged", "singular", "dispersion",
        "df", "p", "remarks",
    )  # fmt: skip
    notes = (
        *found.notes,
        "dispersion: Pearson's chi-squared of the scores of trained models on suites, divided by df; p: of a value at least as "
        "large. Well above 1, an effect is missing from the model. counts has an effect for each score, so it is below 1.",
    )
    return Table("Logistic regression of items: fit diagnostics", columns, tuple(rows), (), notes)


def tests(found: Fits, counted: pl.DataFrame, folder: Path | None) -> Table:
    """Make the table of likelihood-ratio tests of class and size in the model of counts."""
    rows: list[tuple[Cell, ...]] = []
    notes = [*found.notes[: len(RANDOM)], "method: what chi2 is compared with."]
    full = found.fits["counts"]
    for tested, fixed in WITHOUT.items():
        try:
            smaller = _counted(fixed, counted)
            ratio = few_groups.compare(smaller, full, folder=folder)
            rows.append((tested, ratio.chi2, ratio.df, ratio.p, ratio.method, full.aic, smaller.aic))
            notes += [f"{tested}: {ratio.remark}"] if ratio.remark else []
        except (InputError, UsageError) as error:
            notes.append(f"{tested} is not tested: {error}")
    columns = ("tested", "chi2", "df", "p", "method", "aic with", "aic without")
    return Table("Logistic regression of counts: likelihood-ratio tests", columns, tuple(rows), (), tuple(notes))


def plan_tests(items: pl.DataFrame, folder: Path) -> list[few_groups.Planned]:
    """Plan the likelihood-ratio tests of `tests`, with made-up items if the results are not known yet."""
    plans, counted = list[few_groups.Planned](), counts(items)
    for fixed in WITHOUT.values():
        with suppress(InputError, UsageError):
            smaller, larger = (
                logistic.designed(_formula("counts", each), counted, trials="items") for each in (fixed, FIXED)
            )
            plans.append(few_groups.planned(smaller, larger, False, folder))
    return plans


def residuals(found: Fits) -> Table:
    """Make the table behind a plot of residuals against fitted proportions."""
    rows = tuple((name, *row) for name, fit in found.fits.items() for row in logistic.residuals(fit).iter_rows())
    columns = ("model", "fitted", "observed", "residual", "low", "high", "n")
    notes = (
        "Averages over observations with similar fitted proportions; n: items. In a good model, 95 of 100 residuals lie between "
        "low and high, without a trend.",
    )
    return Table("Logistic regression of items: residuals", columns, rows, (), notes)


def influence(found: Fits) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, fit in found.fits.items():
        changes = logistic.influence(fit, "instance")
        rows += [(name, *row) for row in changes.iter_rows()]
    terms = next(iter(found.fits.values())).coefficients
    columns = ("model", "without", "distance", *(term.name for term in terms))
    notes = (
        "The change of each coefficient without a trained model, in standard errors; variances are held at their estimates.",
        "distance: Cook's. nan: the coefficient can't be estimated without this model.",
    )
    return Table("Logistic regression of items: influence of trained models", columns, tuple(rows), (), notes)


def _formula(name: str, fixed: str = FIXED) -> str:
    return f"correct ~ {fixed} + {RANDOM[name]}"


def _counted(fixed: str, counted: pl.DataFrame) -> Fit:
    # One start: each takes seconds, and variances without covariances make the search easy.
    return logistic.fit(_formula("counts", fixed), counted, trials="items", starts=1)
