"""The mixed-effects regressions of Hu et al. 2020: do model class and corpus size explain scores?

An observation is the score of a trained model on a suite. Random effects by suite are the intercept, the slope of log corpus
size and the differences between model classes, all correlated; each model has a random intercept. Fits maximize the
likelihood. An ablation removes a predictor from the fixed effects and keeps it in the random ones. (lme4,
`notebooks/lme-analysis.Rmd` of the paper's repository.) Not in the paper: the shares of variance, and regressions of items.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import polars as pl

from syntagm.core import InputError, SyntagmError, UsageError
from syntagm.papers.hu2020 import item_regressions
from syntagm.papers.hu2020.study import ALL_GPT2, ALL_NGRAMS, Study
from syntagm.stats import Fit, LikelihoodRatio, few_groups, linear, variance_shares
from syntagm.views import Cell, Table

RANDOM = "(log(numwords) + architecture | suite) + (1 | instance)"
FIXED = {
    "full": "log(numwords) + architecture",
    "no_size": "architecture",
    "no_architecture": "log(numwords)",
    "circuit_full": "log(numwords) * circuit + architecture * circuit",
    "circuit_no_size": "log(numwords) + architecture * circuit",
    "circuit_no_architecture": "log(numwords) * circuit + architecture",
}
# Tested predictor -> the models without and with it.
TESTS = {
    "size": ("no_size", "full"),
    "architecture": ("no_architecture", "full"),
    "size by circuit": ("circuit_no_size", "circuit_full"),
    "architecture by circuit": ("circuit_no_architecture", "circuit_full"),
}
# Footnote 7 of the paper: the same models without some model classes.
WITHOUT = {"without n-gram": (ALL_NGRAMS,), "without GPT-2": (ALL_GPT2,), "without both": (ALL_NGRAMS, ALL_GPT2)}
ALL = "all classes"
_ABLATIONS = ("full", "no_size", "no_architecture")


@dataclass(frozen=True, slots=True)
class Fits:
    """The fits of some models, and the reasons why others could not be fitted."""

    fits: Mapping[str, Fit]  # name of the model (a key of `FIXED`) -> fit
    failures: Mapping[str, str]  # name of the model -> reason


@dataclass(frozen=True)
class Regressions:
    """The regressions of suite scores of a study, and their tests; each is computed once, when it is first used."""

    study: Study
    # Where the likelihood ratios of simulated responses are kept, as in `few_groups.compare`.
    folder: Path | None = None

    @cached_property
    def observations(self) -> pl.DataFrame:
        return observations(self.study)

    @cached_property
    def fits(self) -> Fits:
        """All models, fitted to all model classes."""
        return fit_models(self.observations)

    @cached_property
    def without(self) -> Mapping[str, Fits]:
        """The models without circuits, fitted without the classes of footnote 7."""
        return {name: fit_models(table, _ABLATIONS) for name, table in self.remaining.items()}

    @cached_property
    def remaining(self) -> Mapping[str, pl.DataFrame]:
        """The observations without the classes of footnote 7; see `without_classes`."""
        return without_classes(self.observations)

    @cached_property
    def ratios(self) -> "Ratios":
        """The likelihood-ratio tests with all classes, and without those of footnote 7."""
        return ratios({ALL: self.fits, **self.without}, self.folder)


# (Classes, tested predictor) -> the test, or the reason why there is none.
Ratios = Mapping[tuple[str, str], LikelihoodRatio | str]


def observations(study: Study) -> pl.DataFrame:
    """Return the observations, one row per trained model and suite."""
    # The columns are performance, numwords (millions), architecture, suite, circuit, instance, and n, the number of
    # items.
    scores = study.scores().filter(pl.col("corpus") != "")
    return scores.select(pl.col("score").alias("performance"), *_predictors(study), "suite", _circuit(study), "n")


def items_of(study: Study) -> pl.DataFrame:
    """Return one row per trained model and item: correct, numwords, architecture, instance, suite and item."""
    table = study.items.filter((pl.col("corpus") != "") & pl.col("value").is_in([0.0, 1.0]))
    return table.select(pl.col("value").cast(pl.Int64).alias("correct"), *_predictors(study), "suite", "item")


def fit_models(table: pl.DataFrame, names: tuple[str, ...] = tuple(FIXED)) -> Fits:
    """Fit models to observations; a model that the data don't allow gets a reason instead of a fit."""
    fits: dict[str, Fit] = {}
    failures: dict[str, str] = {}
    for name in names:
        try:
            fits[name] = linear.fit(_formula(name), table)
        except SyntagmError as error:
            failures[name] = str(error)
    return Fits(fits, failures)


def tables(found: Regressions) -> Iterator[tuple[str, Table]]:
    yield "regressions", regressions(found.fits)
    yield "regression_fits", fits(found.fits)
    yield "regression_tests", tests({ALL: found.fits, **found.without}, found.ratios)
    if found.fits.fits:
        yield "regression_coefficients", coefficients(found.fits)
        yield "regression_random_effects", random_effects(found.fits)
    yield "variances", variances(found.observations)
    yield from item_regressions.tables(items_of(found.study), found.folder)


def without_classes(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the observations without some model classes, if the data contain these."""
    present = set(table["architecture"])
    return {
        name: table.filter(~pl.col("architecture").is_in([*chain(*classes)]))
        for name, classes in WITHOUT.items()
        if all(present.intersection(names) for names in classes)
    }


def regressions(fitted_models: Fits) -> Table:
    """Make the table of log-likelihood, AIC and BIC of each model."""
    rows = tuple(
        (name, fit.loglik, fit.aic, fit.bic) if (fit := fitted_models.fits.get(name)) else (name, None, None, None)
        for name in FIXED
    )
    return Table("Mixed-effects regressions", ("model", "loglik", "aic", "bic"), rows, (), _notes(fitted_models))


def fits(fitted_models: Fits) -> Table:
    """Make the table of fit diagnostics: parameters, observations, starts and their agreement, convergence, singularity."""
    rows = tuple(
        (name, fit.k, fit.n, fit.sigma, len(fit.reached), max(fit.reached) - min(fit.reached), _yes(fit.converged),
         _yes(fit.singular), "; ".join(fit.messages))
        for name, fit in fitted_models.fits.items()
    )  # fmt: skip
    columns = (
        "model", "parameters", "observations", "residual SD", "starts", "spread", "converged", "singular", "remarks",
    )  # fmt: skip
    notes = ("spread: the range of the final deviances of all starts.", *_notes(fitted_models))
    return Table("Mixed-effects regressions: fit diagnostics", columns, rows, (), notes)


def ratios(by_classes: Mapping[str, Fits], folder: Path | None = None) -> Ratios:
    """Test predictors by likelihood ratios, if the models without and with them could be fitted."""
    # If a group has few levels, a parametric bootstrap is used; see `few_groups.compare`, also for `folder`.
    found: dict[tuple[str, str], LikelihoodRatio | str] = {}
    for classes, fitted_models in by_classes.items():
        for tested, (smaller, larger) in TESTS.items():
            if smaller in fitted_models.fits and larger in fitted_models.fits:
                small, large = fitted_models.fits[smaller], fitted_models.fits[larger]
                try:
                    found[classes, tested] = few_groups.compare(small, large, folder=folder)
                except (InputError, UsageError) as error:
                    found[classes, tested] = str(error)
    return found


def plan_tests(study: Study, folder: Path) -> list[few_groups.Planned]:
    """Plan the likelihood-ratio tests of a study that have simulated responses, with those of counts of items."""
    table = observations(study)
    plans = item_regressions.plan_tests(items_of(study), folder)
    for classes, chosen in {ALL: table, **without_classes(table)}.items():
        for smaller, larger in TESTS.values():
            if classes != ALL and larger not in _ABLATIONS:
                continue
            # A model that the data don't allow has no test.
            with suppress(InputError, UsageError):
                small, large = (linear.designed(_formula(name), chosen) for name in (smaller, larger))
                plans.append(few_groups.planned(small, large, True, folder))
    return [plan for plan in plans if plan.responses]


def tests(by_classes: Mapping[str, Fits], ratios: Ratios) -> Table:
    """Make the table of likelihood-ratio tests and F tests, with the AIC with and without the tested predictor."""
    # A note gives the reason for each test that can't be performed.
    rows: list[tuple[Cell, ...]] = []
    notes = [
        "classes: all, and without those of footnote 7 of the paper. method: what chi2 is compared with.",
        "F: Kenward and Roger's test, which holds with few groups, too. Its model is fitted by restricted likelihood.",
    ]
    for classes, fitted_models in by_classes.items():
        notes += [f"{classes}: {note}" for note in _notes(fitted_models)[1:]]
        restricted: dict[str, Fit] = {}
        for tested, (smaller, larger) in TESTS.items():
            ratio = ratios.get((classes, tested))
            if isinstance(ratio, str):
                notes.append(f"{classes}: {tested} is not tested: {ratio}")
            elif ratio:
                small, large = fitted_models.fits[smaller], fitted_models.fits[larger]
                f_test: tuple[Cell, ...] = (None,) * 3
                try:
                    restricted[larger] = restricted.get(larger) or _restricted(large)
                    found = few_groups.f_test(small, restricted[larger])
                    f_test = found.value, found.denominator, found.p
                except SyntagmError as error:
                    notes.append(f"{classes}: {tested} has no F test: {error}")
                numbers = ratio.chi2, ratio.df, ratio.p, ratio.method
                rows.append((classes, tested, *numbers, *f_test, large.aic, small.aic, large.n))
                notes += [f"{classes}: {tested}: {ratio.remark}"] if ratio.remark else []
    columns = (
        "classes", "tested", "chi2", "df", "p", "method", "F", "denominator df", "p of F", "aic with", "aic without",
        "observations",
    )  # fmt: skip
    return Table("Likelihood-ratio tests", columns, tuple(rows), (), tuple(notes))


def coefficients(fitted_models: Fits) -> Table:
    """Make the table of the fixed effects of all models, with tests and intervals that hold with few groups."""
    rows: list[tuple[Cell, ...]] = []
    notes = [
        *_notes(fitted_models)[:1],
        "These estimates are by restricted maximum likelihood. se, df, t, p and the 95% intervals: Kenward and Roger's.",
    ]
    for name, fit in fitted_models.fits.items():
        try:
            rows += [(name, *astuple(effect)) for effect in _restricted(fit).tests("kenward-roger")]
        except SyntagmError as error:
            notes.append(f"{name} is not fitted by restricted likelihood: {error}")
    columns = ("model", "term", "estimate", "se", "df", "t", "p", "low", "high")
    return Table("Fixed effects", columns, tuple(rows), (), tuple(notes))


def _restricted(fit: Fit) -> Fit:
    return linear.fit_design(fit.design, True, len(fit.reached), 1)


def random_effects(fitted_models: Fits) -> Table:
    """Make the table of the standard deviations of random effects and of their correlations with the effects before them."""
    rows = tuple(
        (
            name,
            group.name,
            effect,
            group.sd[index],
            ", ".join(f"{group.correlations[index][other]:.3f}" for other in range(index)),
        )
        for name, fit in fitted_models.fits.items()
        for group in fit.groups
        for index, effect in enumerate(group.effects)
    )
    return Table(
        "Random effects", ("model", "group", "effect", "sd", "correlations"), rows, (), _notes(fitted_models)[:1]
    )


def split(table: pl.DataFrame) -> variance_shares.Split:
    """Split the variance of observations into what classes, sizes, training runs, suites and items contribute."""
    table = table.filter(pl.col("performance").is_not_nan())
    chosen = {"class": "architecture", "size": "numwords", "training run": "instance", "suite": "suite"}
    groups = {name: table[column].to_list() for name, column in chosen.items()}
    for name in ("class", "size"):
        groups[f"{name} by suite"] = list(zip(groups[name], groups["suite"], strict=True))
    of_items = table.select(pl.col("performance") * (1 - pl.col("performance")) / (pl.col("n") - 1).clip(1)).to_series()
    return variance_shares.split(table["performance"].to_list(), groups, of_items.to_list())


def variances(table: pl.DataFrame) -> Table:
    notes = [
        "The variance of the scores of trained models on suites. sd: the standard deviation between levels, in the unit of "
        "scores. items: what another choice of items would change; residual: by training run and suite, beyond this.",
        "Sums of squares (Henderson's method 3); 95 % generalized intervals. remark: few levels tell little about others, "
        "and the whole contains them.",
    ]
    rows: list[tuple[Cell, ...]] = []
    try:
        rows += map(astuple, split(table).shares())
    except SyntagmError as error:
        notes.append(f"The variance is not split: {error}")
    columns = ("part", "levels", "sd", "share", "low", "high", "remark")
    return Table("Shares of variance", columns, tuple(rows), (), tuple(notes))


def _formula(name: str) -> str:
    return f"performance ~ {FIXED[name]} + {RANDOM}"


def _predictors(study: Study) -> tuple[pl.Expr, ...]:
    words = pl.col("corpus").replace_strict(dict(study.words), default=None, return_dtype=pl.Float64)
    instance = pl.format("{}-{}-{}", "model", "corpus", "seed")
    return words.alias("numwords"), pl.col("model").alias("architecture"), instance.alias("instance")


def _circuit(study: Study) -> pl.Expr:
    # The only suite without a circuit is a level of its own.
    return pl.col("suite").replace_strict(dict(study.circuits), default="none", return_dtype=pl.String).alias("circuit")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _notes(fitted_models: Fits) -> tuple[str, ...]:
    text = (
        f"performance ~ fixed + {RANDOM}; numwords in millions; maximum likelihood. Ablations keep the random effects."
    )
    return text, *(f"{name} is not fitted: {reason}" for name, reason in fitted_models.failures.items())
