"""The claims of Hu et al. 2020 about scores, each judged under several analyses that could have been chosen as well.

An analysis says which models count, how the models of a class are weighted, and whether the suites are a sample of the
suites that could have been written (random) or all that matters (fixed). A claim consists of contrasts: differences
between means of scores, each with a claimed range. A contrast holds if its whole 95% interval is in the range, it does
not hold if the whole interval is outside, and otherwise it is inconclusive. A claim holds if all its contrasts do, and
does not hold if one of them does not. Of many contrasts at the limit of the range, some are outside by chance. So p,
adjusted for their number by Holm's method, must also be below 0.05. To hold, all intervals must be in the range, and
chance makes that rarer, not more frequent, so nothing is adjusted.

Models that a class consists of are random: the interval covers other training runs, as far as there are several.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import inf, isnan, nan

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.papers.hu2020.study import ALL_GPT2, Missing, Study, label
from syntagm.stats import FALSE, HOLDS, OPEN, Range, Suites, cluster_intervals, holm, interval, suite_intervals
from syntagm.views import INSTANCE, Cell, Table, or_none

# How a claim stands over all analyses, in the order of the table.
STANDINGS = (
    "holds under every analysis",
    "depends on the analysis",
    "holds under no analysis",
    "inconclusive under every analysis",
)
# Models that an analysis excludes, by its name.
MODELS = ("all", "without withdrawn", "without GPT-2")
WEIGHTS = ("pooled", "alike")
SUITES: tuple[Suites, ...] = ("random", "fixed")
Withdrawn = set[tuple[str, int]] | None
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One way to compute a number."""

    models: str = MODELS[0]  # The authors withdrew the GPT-2 models trained on MD and LG
    # "pooled" if all trained models have the same weight, as in the paper; "alike" if all corpora of a class have the
    # same weight, and all classes.
    weights: str = WEIGHTS[0]
    suites: Suites = SUITES[0]  # whether the suites are random or fixed


ANALYSES = tuple(Analysis(*choices) for choices in product(MODELS, WEIGHTS, SUITES))


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference between means of scores, and the claimed range."""

    name: str  # what is compared
    weights: _Array  # the weight of each model. Shape (models,).
    claimed: Range
    suites: Sequence[str | tuple[str, str]]
    minus: Mapping[str, float] | None = None  # suite -> a score that is subtracted, for example that of chance


@dataclass(frozen=True, slots=True)
class Row:
    """A number that a claim is about, under one analysis, with its 95% interval, the claimed range and the verdict."""

    # `p` is that of the hypothesis that the number is in the range, two-sided; nan if there is none.
    # `adjusted_together` adjusts it.

    claim: str
    part: str
    models: str
    weights: str
    suites: str
    value: float
    low: float
    high: float
    claimed: Range
    verdict: str
    p: float = nan

    @property
    def analysis(self) -> tuple[str, str, str]:
        """The choices of the analysis: models, weights, suites."""
        return self.models, self.weights, self.suites

    @property
    def text(self) -> str:
        number = f"{self.value:.1f}" if self.low == self.high else f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"
        if isnan(self.low):
            number = "undefined" if isnan(self.value) else f"{self.value:.3f} without an interval"
        return f"{self.part} {number} ({', '.join(self.analysis)})"

    @property
    def room(self) -> float:
        """How far the number is inside the claimed range; negative if it is outside."""
        return min(self.value - self.claimed.low, self.claimed.high - self.value)


def counting(models: str, withdrawn: Withdrawn) -> pl.Expr:
    """Return the condition that a row is of a model that counts."""
    gpt2 = pl.col("model").is_in(ALL_GPT2) & (pl.col("corpus") != "")
    dropped = pl.struct("corpus", "seed").is_in([{"corpus": corpus, "seed": seed} for corpus, seed in withdrawn or ()])
    return ~{MODELS[0]: pl.lit(False), MODELS[1]: gpt2 & dropped, MODELS[2]: gpt2}[models]


class View:
    """The data of a study as one analysis sees them."""

    def __init__(self, study: Study, analysis: Analysis, withdrawn: Withdrawn) -> None:
        self.study, self.analysis = study, analysis
        self.items = study.items.filter(counting(analysis.models, withdrawn))

    @cached_property
    def models(self) -> list[tuple[str, str, int]]:
        """The models: class, corpus, seed."""
        return list(self.items.select(INSTANCE).unique(maintain_order=True).iter_rows())

    @cached_property
    def values(self) -> dict[str, _Array]:
        """The verdicts: suite -> shape (items, models)."""
        order = {model: index for index, model in enumerate(self.models)}
        values = {}
        for (suite,), rows in self.items.group_by(["suite"], maintain_order=True):
            items = {item: index for index, item in enumerate(rows["item"].unique(maintain_order=True))}
            array = np.full((len(items), len(order)), np.nan)
            for model, corpus, seed, item, value in rows.select(*INSTANCE, "item", "value").iter_rows():
                array[items[item], order[model, corpus, seed]] = value
            values[str(suite)] = array
        return values

    def mean(self, model: str, corpus: str | None = None) -> _Array:
        """Return the weights of models in the mean of a class, on one corpus or on all. Shape (models,)."""
        chosen = [(name == model and corpus in (None, on), on) for name, on, _ in self.models]
        return self._weights([on if fits else None for fits, on in chosen], model, corpus)

    def mean_of_corpus(self, corpus: str, classes: Set[str] | None = None) -> _Array:
        """Return the weights of models in the mean over all classes on a corpus, or over some. Shape (models,)."""
        chosen = self.classes_on(corpus) if classes is None else classes
        return self._weights([name if on == corpus and name in chosen else None for name, on, _ in self.models], corpus)

    def classes_on(self, corpus: str) -> set[str]:
        return {name for name, on, _ in self.models if on == corpus}

    def _weights(self, cells: Sequence[str | None], *names: str | None) -> _Array:
        """Weigh models that are in a cell (not None): all alike, or all cells alike."""
        counts = Counter(cell for cell in cells if cell is not None)
        if not counts:
            raise Missing("no results of " + " on ".join(label(name) for name in names if name))
        pooled = self.analysis.weights == WEIGHTS[0]
        size = counts.total()
        return np.array(
            [0.0 if cell is None else 1 / size if pooled else 1 / (len(counts) * counts[cell]) for cell in cells]
        )

    def judge(self, claim: str, contrast: Contrast) -> Row:
        samples = [self._differences(suite, contrast) for suite in contrast.suites]
        value = float(np.mean([sample.mean() for sample in samples]))
        spread = self._spread(samples, contrast)
        found, excess = interval.student(value, spread), contrast.claimed.excess(value)
        analysis = self.analysis
        return Row(
            claim, contrast.name, analysis.models, analysis.weights, analysis.suites, value, found.low, found.high,
            contrast.claimed, contrast.claimed.verdict(found.low, found.high),
            interval.p_value(excess, spread) if excess else 1.0,
        )  # fmt: skip

    def _differences(self, suite: str | tuple[str, str], contrast: Contrast) -> _Array:
        """Return the contrast in each item of a suite. Shape (items,)."""
        if isinstance(suite, tuple):
            first, second = self.values[suite[0]], self.values[suite[1]]
            if len(first) != len(second):
                raise Missing(f"{suite[0]} and {suite[1]} have different numbers of items")
            return np.asarray((first - second) @ contrast.weights)
        minus = (contrast.minus or {}).get(suite, 0.0)
        return np.asarray(self.values[suite] @ contrast.weights - minus)

    def _spread(self, samples: Sequence[_Array], contrast: Contrast) -> interval.Spread:
        """Return the variance of a contrast: of suites or items, and of the models of each class."""
        if len(samples) == 1 and self.analysis.suites == "random":
            # One suite can't show how suites differ.
            return interval.Spread(nan, inf, (("suites", 1),))
        suites = suite_intervals.spread_over_suites(samples, self.analysis.suites)
        models = self._variance_of_models(contrast)
        if models is None:
            return suites
        variance, units = models
        return cluster_intervals.combined([suites.variance, variance], [suites.units[0], ("models", units)])

    def _variance_of_models(self, contrast: Contrast) -> tuple[float, int] | None:
        """Return the variance from training models again, and the number of models; None if no cell has several."""
        # Models of a class with one corpus and other seeds differ by chance, with a variance that the corpora share.
        means = np.mean([self._means_of_models(suite) for suite in contrast.suites], axis=0)
        variance, freedom = 0.0, 0
        for model in dict.fromkeys(name for name, _, _ in self.models):
            squares, degrees = 0.0, 0
            of_class = np.array([name == model for name, _, _ in self.models])
            # Not a set: its order differs from process to process, and with it the last digits of the sum.
            for corpus in dict.fromkeys(on for name, on, _ in self.models if name == model):
                cell = means[of_class & np.array([on == corpus for _, on, _ in self.models])]
                squares += float(((cell - cell.mean()) ** 2).sum())
                degrees += len(cell) - 1
            if degrees and contrast.weights[of_class].any():
                variance += squares / degrees * float((contrast.weights[of_class] ** 2).sum())
                freedom += degrees
        return (variance, freedom + 1) if freedom else None

    def _means_of_models(self, suite: str | tuple[str, str]) -> _Array:
        if isinstance(suite, tuple):
            return self._means_of_models(suite[0]) - self._means_of_models(suite[1])
        return np.asarray(self.values[suite].mean(axis=0))


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper that consists of contrasts."""

    text: str  # the claim
    printed: str  # what the paper prints of it
    # A function that returns them; it raises Missing if models or suites are missing.
    contrasts: Callable[[View], list[Contrast]]


def rows(claim: Claim, study: Study, withdrawn: Withdrawn) -> list[Row]:
    """Judge a claim under all analyses that have its models."""
    # `withdrawn` is None for an experiment of one's own, which has no analysis without withdrawn models.
    judged: list[Row] = []
    missing: Missing | None = None
    for analysis in (each for each in ANALYSES if each.models != MODELS[1] or withdrawn is not None):
        view = View(study, analysis, withdrawn)
        try:
            judged += [view.judge(claim.text, contrast) for contrast in claim.contrasts(view)]
        except Missing as error:
            missing = missing or error
    if not judged:
        raise missing or Missing("nothing to compare")
    return adjusted_together(judged)


def adjusted_together(judged: Sequence[Row]) -> list[Row]:
    """Adjust the p of each number for the number of those that the claim is about, under each analysis (Holm 1979).

    A number whose interval is outside the range does not refute the claim if its adjusted p is 0.05 or more. Numbers
    without p are not adjusted.

    >>> row = Row("c", "p", "all", "pooled", "random", -0.5, -0.9, -0.1, Range(low=0.0), FALSE, 0.03)
    >>> [each.verdict for each in adjusted_together([row])]
    ['does not hold']
    >>> [(each.verdict, each.p) for each in adjusted_together([row, replace(row, part="another", verdict=OPEN, p=0.5)])]
    [('inconclusive', 0.06), ('inconclusive', 0.5)]
    """
    of_analysis: dict[tuple[str, str, str], list[int]] = {}
    for index, row in enumerate(judged):
        if not isnan(row.p):
            of_analysis.setdefault(row.analysis, []).append(index)
    adjusted = list(judged)
    for indices in of_analysis.values():
        for index, p in zip(indices, holm([judged[index].p for index in indices]), strict=True):
            row = judged[index]
            refuted = row.verdict == FALSE and p < interval.LEVEL
            adjusted[index] = replace(row, p=p, verdict=OPEN if row.verdict == FALSE and not refuted else row.verdict)
    return adjusted


def verdict_by_analysis(judged: Sequence[Row]) -> dict[tuple[str, str, str], str]:
    """Combine the numbers of a claim under each analysis: models, weights, suites -> verdict."""
    parts: dict[tuple[str, str, str], list[str]] = {}
    for row in judged:
        parts.setdefault(row.analysis, []).append(row.verdict)
    return {
        key: next(verdict for verdict in (FALSE, OPEN, HOLDS) if verdict in of_key) for key, of_key in parts.items()
    }


def summary(judged: Sequence[Row], published: bool = True) -> str:
    """Summarise the verdicts on a claim over all analyses.

    Arguments:
        judged: its numbers.
        published: whether the data are those of the publication, some of whose models were withdrawn.

    >>> from dataclasses import replace
    >>> row = Row("c", "p", "all", "pooled", "random", 0.5, 0.4, 0.6, Range(low=0.0), HOLDS)
    >>> summary([row])
    'holds'
    >>> summary([row, replace(row, models="without GPT-2", verdict=OPEN)])
    'holds in 1, inconclusive in 1 of 2 analyses'
    """
    counts, withdrawn = Counter(verdict_by_analysis(judged).values()), _only_withdrawn(judged, published)
    if len(counts) == 1:
        return next(iter(counts)) + withdrawn
    listed = ", ".join(f"{verdict} in {counts[verdict]}" for verdict in (HOLDS, FALSE, OPEN) if counts[verdict])
    return f"{listed} of {counts.total()} analyses{withdrawn}"


def _only_withdrawn(judged: Sequence[Row], published: bool) -> str:
    # Only analyses with all models have such rows if the models of the claim are the withdrawn ones.
    only = published and {row.models for row in judged} == {MODELS[0]} and len({row.analysis for row in judged}) > 1
    return "; only with the withdrawn models" if only else ""


def standing(judged: Sequence[Row]) -> str:
    """Return how a claim stands over all analyses, which is one of `STANDINGS`.

    >>> row = Row("c", "p", "all", "pooled", "random", 0.5, 0.4, 0.6, Range(low=0.0), FALSE)
    >>> standing([row]), standing([row, replace(row, models="without GPT-2", verdict=OPEN)])
    ('holds under no analysis', 'holds under no analysis')
    """
    found = set(verdict_by_analysis(judged).values())
    always, depends, never, inconclusive = STANDINGS
    if HOLDS in found:
        return depends if len(found) > 1 else always
    return never if FALSE in found else inconclusive


def deciding(judged: Sequence[Row]) -> str:
    """Say under which choices a claim has which verdict, in as few words as possible; empty if it always has the same.

    >>> row = Row("c", "p", "all", "pooled", "random", 0.5, 0.4, 0.6, Range(low=0.0), HOLDS)
    >>> deciding([row, replace(row, suites="fixed", verdict=OPEN), replace(row, weights="alike")])
    'holds: random; inconclusive: fixed'
    """
    found = verdict_by_analysis(judged)
    if len(set(found.values())) == 1:
        return ""
    values = [["", *dict.fromkeys(analysis[place] for analysis in found)] for place in range(3)]
    # A combination of choices, where empty means any; those that leave most open come first.
    combinations = sorted(product(*values), key=lambda choices: sum(map(bool, choices)))
    texts = []
    for verdict in (HOLDS, FALSE, OPEN):
        left = {analysis for analysis, of_analysis in found.items() if of_analysis == verdict}
        parts = []
        for choices in combinations:
            chosen = {
                analysis for analysis in found if all(a in ("", b) for a, b in zip(choices, analysis, strict=True))
            }
            if chosen & left and all(found[analysis] == verdict for analysis in chosen):
                left -= chosen
                parts.append(", ".join(filter(None, choices)))
        texts += [f"{verdict}: {' or '.join(parts)}"] if parts else []
    return "; ".join(texts)


def against(judged: Sequence[Row]) -> Row | None:
    """Return the number that speaks most clearly against a claim under any analysis; None if nothing refutes it."""
    refuting = [row for row in judged if row.verdict == FALSE]
    return min(refuting, key=lambda row: row.room, default=None)


def decisive(judged: Sequence[Row]) -> Row:
    """Return the number that decides a claim under the first analysis: the one with the worst verdict."""
    # Of several, it is the one nearest to the limit of the claimed range, or farthest beyond it.
    order = {FALSE: 0, OPEN: 1, HOLDS: 2}
    first = [row for row in judged if row.analysis == judged[0].analysis]
    return min(first, key=lambda row: (order[row.verdict], row.room))


def _interval(row: Row) -> tuple[Cell, Cell]:
    """Return the limits of an interval; None if there is none, as of a difference of AICs."""
    return (None, None) if row.low == row.high else (or_none(row.low), or_none(row.high))


def table(judged: Sequence[Row]) -> Table:
    """Make the table of all numbers: a row per claim, contrast and analysis."""
    columns = ("claim", "part", "models", "weights", "suites", "value", "low", "high", "claimed", "p (Holm)", "verdict")
    lines: Iterator[tuple[Cell, ...]] = (
        (row.claim, row.part, *row.analysis, or_none(row.value), *_interval(row), str(row.claimed), or_none(row.p), row.verdict)
        for row in judged
    )  # fmt: skip
    explained = (
        "p (Holm): of the hypothesis that the number is in the claimed range, adjusted for the numbers of the claim under "
        "the analysis.",
        *notes(judged),
    )
    return Table("The claims under all analyses", columns, tuple(lines), (), explained)


def verdict_table(judged: Sequence[Row], criteria: Sequence[str] = ()) -> Table:
    """Make the small table of verdicts: a row per claim, with the number of analyses for each verdict."""
    lines: list[tuple[Cell, ...]] = []
    published = any(row.models == MODELS[1] for row in judged)
    by_claim: dict[str, list[Row]] = {}
    for row in judged:
        by_claim.setdefault(row.claim, []).append(row)
    for claim, of_claim in sorted(by_claim.items(), key=lambda pair: STANDINGS.index(standing(pair[1]))):
        counts = Counter(verdict_by_analysis(of_claim).values())
        worst, refuting = decisive(of_claim), against(of_claim)
        numbers = (worst.part, or_none(worst.value), *_interval(worst), str(worst.claimed))
        counted = (counts[verdict] for verdict in (HOLDS, FALSE, OPEN))
        lines.append((
            claim, *counted, *numbers, refuting.text if refuting else "", summary(of_claim, published),
            standing(of_claim) + _only_withdrawn(of_claim, published), deciding(of_claim),
        ))  # fmt: skip
    columns = (
        "claim", HOLDS, FALSE, OPEN, "decisive", "value", "low", "high", "claimed", "against", "verdict", "over all",
        "deciding choices",
    )  # fmt: skip
    explained = (
        "over all: a claim depends on the analysis if it holds under some and not under others. deciding choices: the choices "
        "on which its verdict depends; empty if there are none.",
        "holds, does not hold, inconclusive: the number of analyses. An analysis without the models of a claim doesn't count.",
        "decisive: the number with the worst verdict under the first analysis that has the models of the claim: if possible, "
        "all models, pooled, other suites of the kind.",
        "against: of the numbers that refute the claim under any analysis, the clearest, and the analysis.",
        *notes(judged),
        *criteria,
    )
    return Table("The claims: do they depend on the analysis?", columns, tuple(lines), (), explained)


def notes(judged: Sequence[Row]) -> list[str]:
    withdrawn = any(row.models == MODELS[1] for row in judged)
    return [
        "A claim holds if the whole 95% interval of each of its numbers is in the claimed range, and does not hold if one is "
        "wholly outside and its p, adjusted for the number of numbers (Holm), below 0.05; otherwise it is inconclusive.",
        " ".join([
            *(["models: the authors withdrew GPT-2 on MD and LG."] if withdrawn else []),
            "weights: pooled, every trained model alike; alike, every corpus of a class alike, and every class. suites: random, "
            "a sample of such suites; fixed, these suites only.",
        ]),
    ]  # fmt: skip
