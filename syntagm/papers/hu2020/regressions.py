"""The mixed-effects regressions of Hu et al. 2020: does model class explain scores, or the size of the corpus?

An observation is the score of a trained model on a suite. By suite, intercept, slope of log corpus size and differences of model
classes vary together; each model has an intercept of its own. Maximum likelihood. An ablation takes a predictor out of the
fixed effects and keeps it in the random ones. (lme4, `notebooks/lme-analysis.Rmd` of the paper's repository.)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.errors import SyntagmError
from syntagm.papers.hu2020.models import ALL_GPT2, ALL_NGRAMS
from syntagm.papers.hu2020.study import Study
from syntagm.stats.mixed import linear, logistic
from syntagm.stats.mixed.linear import Fit

RANDOM = "(log(numwords) + architecture | suite) + (1 | instance)"
FIXED = {
    "full": "log(numwords) + architecture",
    "no_size": "architecture",
    "no_architecture": "log(numwords)",
    "circuit_full": "log(numwords) * circuit + architecture * circuit",
    "circuit_no_size": "log(numwords) + architecture * circuit",
    "circuit_no_architecture": "log(numwords) * circuit + architecture",
}
# What is tested -> the models without and with it.
TESTS = {
    "size": ("no_size", "full"),
    "architecture": ("no_architecture", "full"),
    "size by circuit": ("circuit_no_size", "circuit_full"),
    "architecture by circuit": ("circuit_no_architecture", "circuit_full"),
}
# Footnote 7 of the paper: the same without some model classes.
WITHOUT = {"without n-gram": (ALL_NGRAMS,), "without GPT-2": (ALL_GPT2,), "without both": (ALL_NGRAMS, ALL_GPT2)}
_ABLATIONS = ("full", "no_size", "no_architecture")
LOGISTIC = "correct ~ log(numwords) + architecture + (1 | suite) + (1 | suite:item) + (1 | instance)"


@dataclass(frozen=True, slots=True)
class Fits:
    """What could be fitted, and why the rest could not.

    Arguments:
        fits: name of the model, as in `FIXED` -> its fit.
        failures: name -> the reason.
    """

    fits: Mapping[str, Fit]
    failures: Mapping[str, str]


def observations(study: Study) -> pl.DataFrame:
    """A row a trained model and suite: performance, numwords (millions), architecture, suite, circuit, instance."""
    scores = study.scores().filter(pl.col("corpus") != "")
    return scores.select(pl.col("score").alias("performance"), *_predictors(study), "suite", _circuit(study))


def fitted(table: pl.DataFrame, names: tuple[str, ...] = tuple(FIXED)) -> Fits:
    """The fits of some models to observations; those that the data don't allow have a reason instead."""
    fits: dict[str, Fit] = {}
    failures: dict[str, str] = {}
    for name in names:
        try:
            fits[name] = linear.fit(f"performance ~ {FIXED[name]} + {RANDOM}", table)
        except SyntagmError as error:
            failures[name] = str(error)
    return Fits(fits, failures)


def tables(study: Study) -> Iterator[tuple[str, Table]]:
    """All tables of regressions, by the names of their files."""
    table = observations(study)
    found = fitted(table)
    yield "regressions", regressions(found)
    yield "regression_fits", fits(found)
    yield "regression_tests", tests({"all classes": found, **without_classes(table)})
    if found.fits:
        yield "regression_coefficients", coefficients(found)
        yield "regression_random_effects", random_effects(found)
    yield "regression_items", items(study)


def without_classes(table: pl.DataFrame) -> dict[str, Fits]:
    """The models without circuits, fitted without some model classes, as far as those are there to be left out."""
    there = set(table["architecture"])
    return {
        name: fitted(table.filter(~pl.col("architecture").is_in([*chain(*classes)])), _ABLATIONS)
        for name, classes in WITHOUT.items()
        if all(there.intersection(names) for names in classes)
    }


def regressions(found: Fits) -> Table:
    """Log-likelihood, AIC and BIC of each model."""
    rows = tuple(
        (name, fit.loglik, fit.aic, fit.bic) if (fit := found.fits.get(name)) else (name, None, None, None)
        for name in FIXED
    )
    return Table("Mixed-effects regressions", ("model", "loglik", "aic", "bic"), rows, (), _notes(found))


def fits(found: Fits) -> Table:
    """How each fit went: parameters, observations, starts, how far they agree, and whether it is singular."""
    rows = tuple(
        (name, one.k, one.n, one.sigma, len(one.reached), max(one.reached) - min(one.reached), _yes(one.converged),
         _yes(one.singular), "; ".join(one.messages))
        for name, one in found.fits.items()
    )  # fmt: skip
    columns = (
        "model",
        "parameters",
        "observations",
        "residual SD",
        "starts",
        "spread",
        "converged",
        "singular",
        "remarks",
    )
    notes = ("spread: between the deviances that the starts end at.", *_notes(found))
    return Table("Mixed-effects regressions: how the fits went", columns, rows, (), notes)


def tests(found: Mapping[str, Fits]) -> Table:
    """Likelihood-ratio tests, and AIC with and without what is tested; a test that can't be made is a note."""
    rows: list[tuple[Cell, ...]] = []
    notes = ["Classes: all, and without those of footnote 7 of the paper."]
    for classes, several in found.items():
        notes += [f"{classes}: {note}" for note in _notes(several)[1:]]
        for tested, (smaller, larger) in TESTS.items():
            if smaller in several.fits and larger in several.fits:
                try:
                    rows.append((classes, tested, *_tested(several.fits[smaller], several.fits[larger])))
                except SyntagmError as error:
                    notes.append(f"{classes}: no test of {tested}: {error}")
    columns = ("classes", "tested", "chi2", "df", "p", "aic with", "aic without", "observations")
    return Table("Likelihood-ratio tests", columns, tuple(rows), (), tuple(notes))


def coefficients(found: Fits) -> Table:
    """The fixed effects of all models."""
    rows = tuple(
        (name, one.name, one.estimate, one.se, one.t) for name, fit in found.fits.items() for one in fit.coefficients
    )
    return Table("Fixed effects", ("model", "term", "estimate", "se", "t"), rows, (), _notes(found)[:1])


def random_effects(found: Fits) -> Table:
    """Standard deviations of the random effects, and their correlations with those before them."""
    rows = tuple(
        (
            name,
            group.name,
            effect,
            group.sd[at],
            ", ".join(f"{group.correlations[at][other]:.3f}" for other in range(at)),
        )
        for name, fit in found.fits.items()
        for group in fit.groups
        for at, effect in enumerate(group.effects)
    )
    return Table("Random effects", ("model", "group", "effect", "sd", "correlations"), rows, (), _notes(found)[:1])


def items(study: Study) -> Table:
    """Beyond the paper: a logistic regression of single items, because means of suites hide how many items they rest on."""
    table = study.items.filter((pl.col("corpus") != "") & pl.col("value").is_in([0.0, 1.0]))
    rows = table.select(pl.col("value").cast(pl.Int64).alias("correct"), *_predictors(study), "suite", "item")
    columns = ("term", "estimate", "se", "z")
    title = "Logistic regression of items"
    try:
        fit = logistic.fit(LOGISTIC, rows)
    except SyntagmError as error:
        return Table(title, columns, (), (), (f"Not fitted: {error}",))
    notes = (
        f"{LOGISTIC}; Laplace's approximation; log odds; {fit.n:,} items; log-likelihood {fit.loglik:.2f}.",
        "Standard deviations: " + ", ".join(f"{group.name} {group.sd[0]:.3f}" for group in fit.groups) + ".",
        *fit.messages,
    )
    return Table(title, columns, tuple((one.name, one.estimate, one.se, one.t) for one in fit.coefficients), (), notes)


def _predictors(study: Study) -> tuple[pl.Expr, ...]:
    words = pl.col("corpus").replace_strict(dict(study.words), default=None, return_dtype=pl.Float64)
    instance = pl.format("{}-{}-{}", "model", "corpus", "seed")
    return words.alias("numwords"), pl.col("model").alias("architecture"), instance.alias("instance")


def _circuit(study: Study) -> pl.Expr:
    # The one suite without a circuit is a level of its own.
    return pl.col("suite").replace_strict(dict(study.circuits), default="none", return_dtype=pl.String).alias("circuit")


def _tested(small: Fit, large: Fit) -> tuple[Cell, ...]:
    ratio = linear.compare(small, large)
    return ratio.chi2, ratio.df, ratio.p, large.aic, small.aic, large.n


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _notes(found: Fits) -> tuple[str, ...]:
    text = (
        f"performance ~ fixed + {RANDOM}; numwords in millions; maximum likelihood. Ablations keep the random effects."
    )
    return text, *(f"{name} is not fitted: {reason}" for name, reason in found.failures.items())
