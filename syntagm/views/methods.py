"""The effect of the scoring method: accuracy on whole sentences minus accuracy on the critical word, for the same items.

The accuracy on the critical word has two variants: the one-prefix method compares two words after the same prefix, the
two-prefix method compares the same word after two prefixes.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import polars as pl

from syntagm.drawing import contrasts
from syntagm.drawing.chart import Figure
from syntagm.errors import UsageError
from syntagm.result import Group, Kind
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import suite_means
from syntagm.stats.paired import Comparison
from syntagm.stats.score import Sample

WHOLE = "full_sentence"
PREFIX = {"one_prefix": "one prefix, two words", "two_prefix": "two prefixes, one word"}


def differences(results: pl.DataFrame, tolerance: float, labels: Mapping[str, str]) -> list[Comparison]:
    """Compare whole sentences with each prefix method, for each model and group of suites, and over all suites.

    Only suites with both methods are used. The group of each comparison has the model, the prefix method as measure,
    the labels `label` ("all", or the label of the suites) and `contrast` (a readable name), and the count `suites`.

    Arguments:
        results: a table with the columns model, suite, item, measure, value and margin.
        tolerance: margins within this many bits are ties.
        labels: suite -> label, for example its phenomenon.
    """
    comparisons = []
    for measure, description in PREFIX.items():
        differences = suite_means.of_differences(results, WHOLE, measure, Kind.VERDICT, tolerance)
        for model in dict.fromkeys(model for model, _ in differences):
            suites = {suite: means for (name, suite), means in differences.items() if name == model}
            for label, members in _grouped(suites, labels).items():
                contrast = f"{'all suites' if label == 'all' else label.replace('_', ' ')}: {description}"
                labels_of_group = (("label", label), ("contrast", contrast))
                group = Group(model, measure=measure, labels=labels_of_group, counts=(("suites", len(members)),))
                comparisons.append(Comparison(group, suite_means.mean_difference(members, group)))
    return comparisons


def _grouped(parts: Mapping[str, Sample], labels: Mapping[str, str]) -> Mapping[str, Sequence[Sample]]:
    groups: dict[str, list[Sample]] = {"all": list(parts.values())}
    for suite, part in parts.items():
        groups.setdefault(labels.get(suite, "others"), []).append(part)
    return groups


def draw_figure(
    runs: Sequence[Run], tag: Annotated[str, "a tag of the suites, one row for each of its values"] = "linguistics_term"
) -> Figure:
    """Draw the differences by prefix method and by a tag of the suites.

    Raises:
        UsageError: no suite has both whole-sentence and prefix predictions.
    """
    comparisons: list[Comparison] = []
    for name, run in named(runs):
        labels = {suite.name: suite.group(tag) or "others" for suite in run.suites}
        comparisons += differences(run.results().with_columns(model=pl.lit(name)), run.tolerance, labels)
    if not comparisons:
        raise UsageError("methods", "no suite with full_sentence and a prefix method", "at least one")
    return draw(comparisons, "Whole sentences or critical words")


def draw(comparisons: Sequence[Comparison], title: str = "") -> Figure:
    """Draw comparisons whose groups have a model and the label `contrast`."""
    axis = "accuracy on whole sentences minus accuracy on the critical word"
    subtitle = "right of 0: whole sentences are easier; 95% interval: paired, for other suites and items"
    return contrasts.draw([comparison.difference for comparison in comparisons], title, axis, [subtitle])
