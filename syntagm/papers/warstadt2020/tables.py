"""The tables of Warstadt et al. 2020, from accuracies by paradigm in runs or in the published data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf, isnan, nan

import numpy as np
import polars as pl

from syntagm.evaluation import Estimate, Group
from syntagm.papers.paper import cited
from syntagm.papers.warstadt2020.paradigms import CONTRASTS, Paradigm, of_paper
from syntagm.stats import Comparison, Key, Sample, score
from syntagm.views import Cell, LearningCurve, Table, narrowed, or_none

NUMBERS = ("accuracy", "low", "high", "n", "ties", "undefined")
# The part of a method that says over how many suites, which the table shows in a column.
_OVER = re.compile(r"^(mean of|difference,) [^;]*; ")
Samples = Mapping[Key, Sample]
Known = Mapping[str, Paradigm]
PRINTED = ("5-gram", "LSTM", "TXL", "GPT-2")


def means(samples: Samples, known: Known) -> list[Estimate]:
    """Compute the accuracy of each model over all paradigms, by field and by category."""
    # Groups have the model, the labels `over` ("all", "field" or "phenomenon") and `phenomenon` (its value), and the
    # count `paradigms`.
    estimates = []
    for over in ("all", "field", "phenomenon"):
        for name in _names(over, known):
            for model in dict.fromkeys(model for model, _ in samples):
                parts = [
                    sample
                    for (owner, suite), sample in samples.items()
                    if owner == model and name == _name(over, known[suite])
                ]
                if parts:
                    labels = (("over", over), ("phenomenon", name))
                    group = Group(model, labels=labels, counts=(("paradigms", len(parts)),))
                    estimates.append(score.mean(parts, group))
    return estimates


def _name(over: str, paradigm: Paradigm) -> str:
    return {"all": "all", "field": paradigm.field, "phenomenon": paradigm.phenomenon}[over]


def _names(over: str, known: Known) -> list[str]:
    return sorted({_name(over, paradigm) for paradigm in known.values()})


def people(samples: Samples, known: Known, estimates: Sequence[Estimate]) -> dict[tuple[str, str], float]:
    """Compute human scores for the paradigms of each model: (model, category or field) -> score."""
    # The score is nan if the score of any paradigm is unknown.
    scores: dict[tuple[str, str], float] = {}
    for estimate in estimates:
        model, over, name = estimate.group.model, estimate.group["over"], estimate.group["phenomenon"]
        suites = [suite for owner, suite in samples if owner == model and _name(over, known[suite]) == name]
        scores[model, name] = float(np.mean([known[suite].human for suite in suites]))
    return scores


def people_of_all(samples: Samples, known: Known) -> dict[str, float]:
    """Return the human score for each category and field, of models that have the same paradigms."""
    scores = people(samples, known, means(samples, known))
    return {name: score for (_, name), score in scores.items() if not isnan(score)}


def table3(
    samples: Samples, known: Known, estimates: Sequence[Estimate], notes: Sequence[str], published: bool = True
) -> Table:
    """Make Table 3: accuracy over all paradigms, by field and by category, with one row per model."""
    humans = people(samples, known, estimates)
    printed = {row["phenomenon"]: row for row in cited("warstadt2020")["table3"]}
    rows: list[tuple[Cell, ...]] = []
    for estimate in estimates:
        model, over, name = estimate.group.model, estimate.group["over"], estimate.group["phenomenon"]
        present = estimate.group.count("paradigms")
        suites = [suite for owner, suite in samples if owner == model and _name(over, known[suite]) == name]
        # Suites with other names are not those of the paper, even if their category has the same name.
        theirs, shared = len(of_paper(name)), sum(suite in of_paper("all") for suite in suites)
        line = printed.get(name, {}) if set(suites) == of_paper(name) else {}
        beside = (or_none(humans[model, name]), *(_share(line.get(model)) for model in PRINTED))
        counted = f"{present} of {theirs}" if present == shared else f"{present}, {shared} of the paper's {theirs}"
        counted = counted if shared else str(present)
        rows.append((over, name, counted, model, *estimate.numbers, *(beside if published else ())))
    quoted = ("people", *PRINTED) if published else ()
    columns = ("over", "category", "paradigms", "model", *NUMBERS, *quoted)
    table = Table("Table 3: accuracy by category", columns, tuple(rows), quoted, (*methods(estimates), *notes))
    return narrowed(table, "over", "ties", "undefined")


def by_paradigm(samples: Samples, known: Known, notes: Sequence[str], published: bool = True) -> Table:
    estimates = [(suite, score.mean([sample], Group(model))) for (model, suite), sample in samples.items()]
    by_category = sorted(known, key=lambda suite: (known[suite].phenomenon, suite))
    order = {suite: index for index, suite in enumerate(by_category)}
    rows: list[tuple[Cell, ...]] = []
    for suite, estimate in sorted(estimates, key=lambda pair: order[pair[0]]):
        human = (or_none(known[suite].human),) if published else ()
        rows.append((known[suite].phenomenon, suite, estimate.group.model, *estimate.numbers, *human))
    quoted = ("people",) if published else ()
    columns, explained = ("category", "paradigm", "model", *NUMBERS, *quoted), methods([each for _, each in estimates])
    return Table("Accuracy by paradigm", columns, tuple(rows), quoted, (*explained, *notes))


def contrasts(samples: Samples) -> list[Estimate]:
    """Compute the contrasts of attractors, distance and irregular nouns for each model."""
    # A contrast uses the pairs of paradigms for which the model has both. Groups have the model, the label `contrast`,
    # and the counts `pairs` and `of` (the number of pairs in the paper).
    estimates = []
    for contrast in CONTRASTS:
        for model in dict.fromkeys(model for model, _ in samples):
            pairs = [
                (samples[model, easier], samples[model, harder])
                for easier, harder in contrast.pairs
                if (model, easier) in samples and (model, harder) in samples
            ]
            if pairs:
                counts = (("pairs", len(pairs)), ("of", len(contrast.pairs)))
                group = Group(model, labels=(("contrast", contrast.description),), counts=counts)
                estimates.append(score.contrast(pairs, group))
    return estimates


def contrast_table(estimates: Sequence[Estimate], notes: Sequence[str] = ()) -> Table:
    rows = [
        (each.group["contrast"], each.group.model, f"{each.group.count('pairs')} of {each.group.count('of')}", *each.numbers)
        for each in estimates
    ]  # fmt: skip
    columns = ("difference", "model", "pairs", *("difference_of_accuracies", *NUMBERS[1:]))
    computed = {each.group["contrast"] for each in estimates}
    lacking = [contrast.description for contrast in CONTRASTS if contrast.description not in computed]
    missing = [f"Not computed, because no pair has both paradigms: {'; '.join(lacking)}."] if lacking else []
    explained = (
        "pairs: how many of the paper's pairs of paradigms the mean is over. Positive values: the first kind is easier."
    )
    described = (explained, *missing, *methods(estimates), *notes)
    return Table("Attractors, distance and irregular nouns", columns, tuple(rows), (), described)


@dataclass(frozen=True, slots=True)
class Materials:
    """Two runs of the same model on suites with the same names but different content."""

    model: str
    first: str  # `first`, `second`: the names of the runs
    second: str
    pairs: Mapping[str, tuple[Sample, Sample]]  # suite -> its samples in both runs


def materials_table(compared: Sequence[Materials], known: Known) -> Table:
    rows: list[tuple[Cell, ...]] = []
    estimates: list[Estimate] = []
    for runs in compared:
        by_category = sorted(runs.pairs, key=lambda suite: (known[suite].phenomenon, suite))
        lines = [(known[suite].phenomenon, suite, [suite]) for suite in by_category]
        for category, name, suites in [*lines, ("all", f"mean of {len(lines)}", by_category)]:
            people_agree = float(np.mean([known[suite].human for suite in suites]))
            estimates.append(_difference(runs, suites))
            a, b = (float(np.mean([runs.pairs[suite][side].value for suite in suites])) for side in (0, 1))
            found = (a, b, *estimates[-1].numbers[:4])
            rows.append((category, name, runs.model, runs.first, runs.second, *found, or_none(people_agree)))
    columns = (
        "category", "paradigm", "model", "a", "b", "accuracy_a", "accuracy_b", "b_minus_a", "low", "high", "n", "people",
    )  # fmt: skip
    notes = (
        "a, b: two runs of the model whose suites have the same names but other pairs. Pairs of a and b are unrelated, so the "
        "difference is unpaired.",
        "people: individual agreement on the first five published pairs of the paradigm, transcribed.",
        *methods(estimates),
    )
    return Table("The same model on two sets of materials", columns, tuple(rows), ("people",), notes)


def _difference(runs: Materials, suites: Sequence[str]) -> Estimate:
    """Return the mean over suites of the second accuracy minus the first."""
    # Samples are told apart by the names of their suites.
    pairs = [(replace(b, suite=f"{suite} of b"), a) for suite in suites for a, b in [runs.pairs[suite]]]
    return score.contrast(pairs, Group(runs.model))


def correlation_table(table: pl.DataFrame, notes: Sequence[str] = ()) -> Table:
    columns, used = ("a", "b", "kind", "r", "low", "high", "n"), dict.fromkeys(table.filter(pl.col("n") > 0)["method"])
    explained = (*(f"Intervals: 95 %, {method}; n: paradigms." for method in used), *notes)
    return Table("Correlation of accuracies", columns, tuple(table.select(columns).iter_rows()), (), explained)


def shallow_table(table: pl.DataFrame, descriptions: Mapping[str, str]) -> Table:
    """Make the table of logistic regressions on surface predictors."""
    predictors = list(dict.fromkeys(table["predictor"]))
    margin = "margin under MODEL: surprisal of the bad sentence minus that of the good one, in bits."
    notes = (
        "log_odds: the change of the log odds of a correct answer per standard deviation (sd) of the predictor, with the "
        "others held constant; intercept: at the means. Plain logistic regression, maximum likelihood.",
        "Interval: 95 %, with the larger of se (independent pairs) and se_suites (clustered by suite, which needs many suites).",
        "explained: McFadden's pseudo-R2. left_out: pairs without a verdict or a predictor's value.",
        *(f"{name}: {descriptions[name]}." for name in predictors if name in descriptions),
        *([margin] if any(name.startswith("margin under ") for name in predictors) else []),
    )
    title = "Surface predictors of correct answers"
    rows = tuple(tuple(or_none(cell) for cell in row) for row in table.iter_rows())
    left_out = ("mean", "sd", "se", "se_suites", "left_out", "suites", "explained", "remark")
    return narrowed(Table(title, tuple(table.columns), rows, (), notes), *left_out)


def method_table(compared: Sequence[Comparison]) -> Table:
    """Make the table of differences between whole sentences and prefix methods, over all paradigms and by category."""
    differences = [comparison.difference for comparison in compared]
    categories: dict[tuple[str, str], list[float]] = {}
    for each in differences:
        if each.group["label"] != "all":
            categories.setdefault((each.group.measure, each.group.model), []).append(each.value)
    rows: list[tuple[Cell, ...]] = []
    for each in differences:
        values = categories[each.group.measure, each.group.model] if each.group["label"] == "all" else []
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        counted = str(each.group.count("suites"))
        rows.append((each.group.measure, each.group["label"], counted, each.group.model, *each.numbers, sd))
    columns = ("method", "category", "paradigms", "model", "difference_of_accuracies", *NUMBERS[1:], "sd")
    notes = (
        "Accuracy on whole sentences minus that of the prefix method, paired; positive: whole sentences are easier.",
        "n: pairs that both methods can score. ties: pairs with a tie under either method.",
        "sd: standard deviation over the categories, as in the paper's Figure 6.",
        *methods(differences),
    )
    return Table("Comparison of scoring methods", columns, tuple(rows), (), notes)


def slope_table(table: pl.DataFrame, samples: Samples, known: Known, remarks: Sequence[str] = ()) -> Table:
    """Make the table of gains per doubling of the training text, with the size at which the line reaches people."""
    humans, suites = people_of_all(samples, known), {suite for _, suite in samples}
    quoted = {
        row["phenomenon"]: row
        for row in cited("warstadt2020")["slopes"]
        if {suite for suite in suites if known[suite].phenomenon == row["phenomenon"]} == of_paper(row["phenomenon"])
    }
    rows = []
    for row in table.iter_rows(named=True):
        name = row["phenomenon"]
        line = LearningCurve(*(row[key] for key in ("slope", "se", "low", "high", "intercept", "n", "sizes")))
        reached = line.words_at(humans[name]) if name in humans else nan
        words_needed = "" if isnan(reached) else "never" if isinf(reached) else f"{reached:.1e}"
        published = (quoted.get(name, {}).get("LSTM"), quoted.get(name, {}).get("TXL"))
        cells = [or_none(row[key]) for key in ("slope", "se", "low", "high", "n", "sizes")]
        rows.append((name, row["family"], *cells, words_needed, *published))
    columns = ("category", "family", "slope", "se", "low", "high", "n", "sizes", "words_at_people", "LSTM", "TXL")
    notes = (
        "slope: the gain of accuracy per doubling of the words of training text, by least squares over n models. "
        "Interval: 95 %, Student's t; it is too narrow, because models of one corpus share text.",
        "words_at_people: where the line reaches the score of people on the same published paradigms; an extrapolation far "
        "beyond the data is unreliable.",
        "LSTM, TXL: the paper's slopes for doublings from 1/8 to 64 million tokens of Wikipedia, transcribed; for categories "
        "with all their paradigms.",
        *remarks,
    )
    title, small = "Gain for each doubling of the training text", ("slope", "se", "low", "high", "LSTM", "TXL")
    return narrowed(Table(title, columns, tuple(rows), ("LSTM", "TXL"), notes, fine=small, digits=4), "se", "n")


def accuracies(samples: Samples) -> dict[str, dict[str, float]]:
    """Return the accuracies: model -> paradigm -> accuracy."""
    by_model: dict[str, dict[str, float]] = {}
    for (model, suite), sample in samples.items():
        by_model.setdefault(model, {})[suite] = sample.value
    return by_model


def without_counts(table: Table) -> Table:
    """Drop the columns `ties` and `undefined`, for published numbers, of which neither is known."""
    kept = [index for index, name in enumerate(table.columns) if name not in NUMBERS[-2:]]
    rows = tuple(tuple(row[index] for index in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[index] for index in kept), rows=rows)


def methods(estimates: Sequence[Estimate]) -> list[str]:
    """Describe the distinct methods by which intervals were computed, with remarks on suites with one item."""
    distinct = list(dict.fromkeys(_OVER.sub("", estimate.method) for estimate in estimates))
    return [f"Intervals: 95 %, {method}." for method in distinct[:4]] + (["Ties count as wrong."] if estimates else [])


def _share(percent: float | None) -> float | None:
    return None if percent is None else round(percent / 100, 3)
