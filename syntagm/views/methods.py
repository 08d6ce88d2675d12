"""What the question changes: accuracy on whole sentences less that on the critical word after its prefix, the same items.

Of the two prefix methods, one compares two words after the same prefix, the other the same word after two prefixes.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import polars as pl

from syntagm.drawing import contrasts
from syntagm.drawing.chart import Figure
from syntagm.errors import UsageError
from syntagm.result import Group
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import suite_means
from syntagm.stats.paired import Comparison

WHOLE = "full_sentence"
PREFIX = {"one_prefix": "one prefix, two words", "two_prefix": "two prefixes, one word"}


def differences(results: pl.DataFrame, tolerance: float, labels: Mapping[str, str]) -> list[Comparison]:
    """Compare the two for each model, prefix method and label of suites, and over all suites that have the method.

    Groups have the model, the prefix method as measure, the labels `label` ("all", or the label of suites) and `contrast` (a
    name for readers), and the count `suites`.

    Arguments:
        results: columns model, suite, item, measure, value, margin.
        labels: suite -> label, for instance its phenomenon.
    """
    made = []
    for measure, said in PREFIX.items():
        drawn = suite_means.of_differences(results, WHOLE, measure, tolerance)
        for model in dict.fromkeys(model for model, _ in drawn):
            parts = {suite: part for (one, suite), part in drawn.items() if one == model}
            for label, several in _grouped(parts, labels).items():
                name = f"{'all suites' if label == 'all' else label.replace('_', ' ')}: {said}"
                labels_of_group = (("label", label), ("contrast", name))
                group = Group(model, measure=measure, labels=labels_of_group, counts=(("suites", len(several)),))
                made.append(Comparison(group, suite_means.mean(several, group)))
    return made


def _grouped(
    parts: Mapping[str, suite_means.Redrawn], labels: Mapping[str, str]
) -> Mapping[str, Sequence[suite_means.Redrawn]]:
    groups: dict[str, list[suite_means.Redrawn]] = {"all": list(parts.values())}
    for suite, part in parts.items():
        groups.setdefault(labels.get(suite, "others"), []).append(part)
    return groups


def draw_figure(
    runs: Sequence[Run], tag: Annotated[str, "a tag of the suites, whose values are shown apart"] = "linguistics_term"
) -> Figure:
    """Draw the differences of some runs, by prefix method and by a tag of the suites.

    Raises:
        UsageError: no suite is asked in two ways.
    """
    found: list[Comparison] = []
    for name, run in named(runs):
        labels = {suite.name: suite.tags.get(tag, "others") for suite in run.suites}
        found += differences(run.results().with_columns(model=pl.lit(name)), run.tolerance, labels)
    if not found:
        raise UsageError("methods", "no suite with full_sentence and a prefix method", "at least one")
    return draw(found, "Whole sentences or critical words")


def draw(found: Sequence[Comparison], title: str = "") -> Figure:
    """Draw the differences; groups of the comparisons have a model and the label `contrast`."""
    axis = "accuracy on whole sentences, less that on the critical word"
    subtitle = "right of 0: whole sentences are easier; 95% interval: items drawn anew, each with both answers"
    return contrasts.draw([one.difference for one in found], title, axis, [subtitle])
