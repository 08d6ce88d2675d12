"""Coverage and size where items belong to words, contexts, models or people: part of `benchmarks.coverage`."""

from math import erf, sqrt

import numpy as np
from scipy import special

from benchmarks.coverage_rows import ITEMS, POPULATIONS, Row, holds, rate, row
from syntagm.evaluation import Kind
from syntagm.stats import cluster_intervals, interval, judgements, model_classes, suite_intervals


def clusters(draw: np.random.Generator, draws: int, count: int) -> Row:
    """Accuracy with words as clusters of unequal size."""
    coverages = []
    for a, b in POPULATIONS.values():
        outcomes = []
        for _ in range(draws):
            sizes = draw.integers(5, 40, count)
            labels = np.repeat(np.arange(count), sizes)
            values = draw.random(len(labels)) < draw.beta(a, b, count)[labels]
            found = cluster_intervals.of_clusters(values, Kind.VERDICT, {"words": labels})
            outcomes.append(holds(found, a / (a + b)))
        coverages.append(rate(outcomes))
    return row("accuracy, words random", f"{count} words", coverages, method=found.method)


def crossed(draw: np.random.Generator, draws: int, rows: int, columns: int) -> Row:
    """Equal weight: the share of lemmas that win, over contexts; both kinds vary on the probit scale."""
    coverages = []
    for middle in (0.0, 1.0, 2.0):
        for of_lemmas in (0.3, 1.0):
            outcomes = []
            # P(z > 0) of a normal with the mean `middle` and the variance 1 + .5**2 + of_lemmas**2.
            truth = 0.5 * (1 + erf(middle / sqrt(2 * (1 + 0.25 + of_lemmas**2))))
            for _ in range(draws):
                z = middle + draw.normal(0, 0.5, (rows, 1)) + draw.normal(0, of_lemmas, (1, columns))
                won = draw.normal(z, 1.0) > 0
                found = cluster_intervals.of_shares(won.mean(axis=1), won.sum(axis=0), np.full(columns, float(rows)))
                outcomes.append(holds(found, truth))
            coverages.append(rate(outcomes))
    units = f"{rows} contexts, {columns} lemmas"
    return row("equal weight, contexts and lemmas random", units, coverages, method=found.method)


def weighted(draw: np.random.Generator, draws: int, rows: int, columns: int) -> Row:
    """Model weight: the share of the probability of right forms; lemmas differ in probability, too."""

    coverages = []
    quantiles = special.ndtri((np.arange(2000) + 0.5) / 2000)
    for middle in (0.0, 1.5, 3.0):
        truth, outcomes = float(special.expit(middle + sqrt(0.25 + 1 + 0.25) * quantiles).mean()), []
        for _ in range(draws):
            mass = np.exp(draw.normal(0, 1, (1, columns)) + draw.normal(0, 0.5, (rows, columns)))
            odds = middle + draw.normal(0, 0.5, (rows, 1)) + draw.normal(0, 1, (1, columns))
            right = mass * special.expit(odds + draw.normal(0, 0.5, (rows, columns)))
            shares = right.sum(axis=1) / mass.sum(axis=1)
            found = cluster_intervals.of_shares(shares, right.sum(axis=0), mass.sum(axis=0))
            outcomes.append(holds(found, truth))
        coverages.append(rate(outcomes))
    named = f"{rows} contexts, {columns} lemmas"
    return row("model weight, contexts and lemmas random", named, coverages, method=found.method)


def classes(draw: np.random.Generator, draws: int, count: int, models: int) -> Row:
    """A class of models: suites crossed with runs that differ little or much."""
    coverages = []
    for of_models in (0.0, 0.15, 0.5):
        outcomes = []
        truth = 0.5 * (1 + erf(0.3 / sqrt(2 * (2 + of_models**2 + 0.3**2))))
        for _ in range(draws):
            z = 0.3 + draw.normal(0, 1.0, (count, 1)) + draw.normal(0, of_models, (1, models))
            p = special.ndtr(z + draw.normal(0, 0.3, z.shape))
            values = {str(k): (draw.random((ITEMS, models)) < p[k]).astype(float) for k in range(count)}
            found = suite_intervals.over_models(values, Kind.VERDICT)
            outcomes.append(holds(found, truth))
        coverages.append(rate(outcomes))
    units = f"{count} suites, {models} models"
    return row("score of a class, suites and models random", units, coverages, method=found.method)


def pairs_of_classes(draw: np.random.Generator, draws: int, count: int, models: int) -> Row:
    """The difference of two classes of models; suites favour the classes differently, models differ little or much.

    The power is that of a difference of .1 between classes whose models differ little.
    """
    coverages, sizes, power = [], [], 0.0
    for of_suites, of_models, truth in ((0.1, 0.0, 0.0), (0.1, 0.03, 0.0), (0.03, 0.1, 0.0), (0.05, 0.03, 0.1)):
        outcomes, rejected = [], []
        for _ in range(draws):
            level = draw.uniform(0.3, 0.7, (count, 1))
            contrast = draw.normal(truth, of_suites, (count, 1))
            sides = []
            for sign in (-0.5, 0.5):
                p = level + sign * contrast + draw.normal(0, of_models, models) + draw.normal(0, 0.03, (count, models))
                values = draw.random((ITEMS, count, models)) < np.clip(p, 0, 1)
                sides.append({str(k): values[:, k].astype(float) for k in range(count)})
            _, found = model_classes.difference(*sides, Kind.VERDICT)
            outcomes.append(holds(found, truth))
            rejected.append(found.p <= interval.LEVEL)
        coverages.append(rate(outcomes))
        if truth:
            power = rate(rejected)
        else:
            sizes.append(rate(rejected))
    units = f"{count} suites, 2 x {models} models"
    return row("difference of two classes; power at .1", units, coverages, sizes, power, found.method)


def people(draw: np.random.Generator, draws: int, shape: tuple[int, int, int], conditions: bool) -> Row:
    """Judgements with people and items random: the mean, or the difference between conditions that vary, too.

    The power is that of a mean of .6 against .5, or of a difference of .1.
    """
    count, items, each = shape
    person, item = np.divmod(np.arange(count * each), each)
    item = (item + each * person) % items
    second = (np.arange(count * each) // items + item) % 2 == 1 if conditions else None
    code = np.zeros(len(item)) if second is None else second - 0.5
    coverages, sizes, power = [], [], 0.0
    for sd in (0.3, 1.0):
        quantiles = special.ndtri((np.arange(2000) + 0.5) / 2000)
        spread = sqrt(2 * sd**2 + (0.5 * (sd / 2) ** 2 if conditions else 0.0))
        for middle, slope in ((0.0, 0.0), (1.5, 0.0), (0.0, 0.42), (0.5, 0.0)):
            if bool(slope) > conditions or (conditions and middle == 0.5):
                continue
            means = [float(special.expit(middle + by * slope + spread * quantiles).mean()) for by in (-0.5, 0.0, 0.5)]
            truth = means[2] - means[0] if conditions else means[1]
            null = 0.0 if conditions else means[1] if middle != 0.5 else 0.5
            outcomes, rejected = [], []
            for _ in range(draws):
                odds = middle + slope * code
                for units, size in ((person, count), (item, items)):
                    odds = odds + draw.normal(0, sd, size)[units]
                    odds = odds + (draw.normal(0, sd / 2, size)[units] * code if conditions else 0.0)
                values = (draw.random(len(odds)) < special.expit(odds)).astype(float)
                _, found = judgements.estimate(judgements.Judgements(person, item, values, Kind.VERDICT, second), null)
                outcomes.append(holds(found, truth))
                rejected.append(found.p <= interval.LEVEL)
            coverages.append(rate(outcomes))
            if slope or middle == 0.5:
                power = rate(rejected) if sd == 0.3 else power
            else:
                sizes.append(rate(rejected))
    name = (
        "judgements, difference of conditions; power at .1"
        if conditions
        else "judgements, mean; power at .62 against .5"
    )
    units = f"{count} people, {items} items, {each} each"
    return row(name, units, coverages, sizes, power, found.method)
