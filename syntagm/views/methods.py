"""Accuracy by scoring method, and the difference of whole sentences and the critical word on the same items.

The accuracy on the critical word has two variants: the one-prefix method compares two words after the same prefix, the
two-prefix method compares the same word after two prefixes.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeVar

import numpy as np
import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import Group, Kind
from syntagm.runs import Run, named, ties_of
from syntagm.stats import Comparison, in_words, score
from syntagm.views.drawing import dots
from syntagm.views.drawing.chart import Figure
from syntagm.views.drawing.table import Cell, Table, cells
from syntagm.views.drawing.text import readable, remarks

COLUMNS = (
    *("by", "group", "compared", "model", "accuracy of", "suites", "score", "low", "high", "sd", "n"),
    *("ties", "undefined"),
)
SCHEMA = dots.CONTRASTS
WHOLE = "full_sentence"
Tag = Annotated[str, "a tag of the suites, one row for each of its values"]
Part = TypeVar("Part")
PREFIX = {"one_prefix": "one prefix, two words", "two_prefix": "two prefixes, one word"}


def differences(results: pl.DataFrame, tolerance: float, labels: Mapping[str, str]) -> list[Comparison]:
    """Compare whole sentences with each prefix method, for each model and group of suites, and over all suites."""
    # Only suites with both methods are used. The group of each comparison has the model, the prefix method as measure,
    # the labels `label` ("all", or the label of the suites) and `contrast` (a readable name), and the count `suites`.
    comparisons = []
    for measure, description in PREFIX.items():
        differences = score.of_differences(results, WHOLE, measure, Kind.VERDICT, tolerance)
        for model in dict.fromkeys(model for model, _ in differences):
            suites = {suite: means for (name, suite), means in differences.items() if name == model}
            for label, members in _grouped(suites, labels).items():
                contrast = f"{'all suites' if label == 'all' else readable(label)}: {description}"
                labels_of_group = (("label", label), ("contrast", contrast))
                group = Group(model, measure=measure, labels=labels_of_group, counts=(("suites", len(members)),))
                comparisons.append(Comparison(group, score.mean_difference(members, group)))
    return comparisons


def _none() -> UsageError:
    return UsageError("methods", "no suite with full_sentence and a prefix method", "at least one")


def _grouped(parts: Mapping[str, Part], labels: Mapping[str, str]) -> Mapping[str, Sequence[Part]]:
    groups: dict[str, list[Part]] = {"all": list(parts.values())} if parts else {}
    for suite, part in parts.items():
        groups.setdefault(labels.get(suite, "others"), []).append(part)
    return groups


def make_table(runs: Sequence[Run], tag: Tag = "linguistics_term") -> Table:
    """Make two rows for each prefix method, group of suites and model: the mean accuracy under either method.

    Raises:
        UsageError: no suite has both whole-sentence and prefix predictions.
    """
    labelled = [
        (name, run, {suite.name: suite.group(tag) or "others" for suite in run.suites}) for name, run in named(runs)
    ]
    return means(
        [(run.results().with_columns(model=pl.lit(name)), run.tolerance, labels) for name, run, labels in labelled],
        tag,
        ties_of(runs),
    )


def means(models: Sequence[tuple[pl.DataFrame, float, Mapping[str, str]]], tag: str, ties: str = "failures") -> Table:
    """Make the table of the mean accuracies of whole sentences and of prefixes, on the suites that have both."""
    rows = list[tuple[Cell, ...]]()
    limits, methods = list[tuple[str, tuple[str, ...]]](), list[str]()
    for measure, description in PREFIX.items():
        for results, tolerance, labels in models:
            whole, prefix = (score.of_results(results, name, Kind.VERDICT, tolerance) for name in (WHOLE, measure))
            shared = [key for key in whole if key in prefix]
            for label, members in _grouped({suite: (model, suite) for model, suite in shared}, labels).items():
                by = "" if label == "all" else tag
                for name, samples in ((WHOLE, whole), (measure, prefix)):
                    found = [samples[key] for key in members]
                    estimate = score.mean(found, Group(members[0][0]))
                    limits.append((f"{label}, {name} ({members[0][0]})", estimate.remarks))
                    methods.append(estimate.method)
                    value, low, high, *counts = cells(estimate)
                    spread = float(np.std([sample.value for sample in found], ddof=1)) if len(found) > 1 else None
                    about = (by, label, description, members[0][0], name, len(found))
                    rows.append((*about, value, low, high, spread, *counts))
    if not rows:
        raise _none()
    notes = (
        "Unweighted means over the suites that have predictions by both methods; sd: standard deviation over these suites. "
        "The difference of the two, paired by item, is drawn by the figure methods.",
        f"{' '.join(in_words.intervals(methods))} Ties count as {ties}; n does not include undefined items.",
        *remarks(limits),
    )
    return Table("Accuracy by scoring method", COLUMNS, tuple(rows), notes=notes)


def draw_figure(runs: Sequence[Run], tag: Tag = "linguistics_term") -> Figure:
    """Draw the differences by prefix method and by a tag of the suites.

    Raises:
        UsageError: no suite has both whole-sentence and prefix predictions.
    """
    comparisons: list[Comparison] = []
    for name, run in named(runs):
        labels = {suite.name: suite.group(tag) or "others" for suite in run.suites}
        comparisons += differences(run.results().with_columns(model=pl.lit(name)), run.tolerance, labels)
    if not comparisons:
        raise _none()
    return draw(comparisons, "Whole sentences or critical words")


def draw(comparisons: Sequence[Comparison], title: str = "") -> Figure:
    """Draw comparisons whose groups have a model and the label `contrast`."""
    axis = "accuracy on whole sentences minus accuracy on the critical word"
    subtitle = "right of 0: whole sentences are easier; 95% interval: paired, for other suites and items"
    return dots.draw_contrasts([comparison.difference for comparison in comparisons], title, axis, [subtitle])
