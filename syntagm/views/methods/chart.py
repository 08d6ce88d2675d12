"""What the question changes: accuracy on whole sentences less that on the critical word after its prefix, the same items."""

from collections.abc import Sequence

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.errors import UsageError
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats.paired import Comparison
from syntagm.views import contrasts
from syntagm.views.methods.compute import differences


def draw(found: Sequence[Comparison], title: str = "") -> Figure:
    """The figure; groups of the comparisons have a model and the label `contrast`."""
    axis = "accuracy on whole sentences, less that on the critical word"
    return contrasts.draw(
        [one.difference for one in found],
        title,
        axis,
        "right of 0: whole sentences are easier; 95% interval: items drawn anew, each with both answers",
    )


def draw_figure(runs: Sequence[Run], tag: str = "linguistics_term") -> Figure:
    """The differences of some runs, by prefix method and by a tag of the suites.

    Raises:
        UsageError: no suite is asked in two ways.
    """
    found: list[Comparison] = []
    for name, run in named(runs):
        labels = {suite.name: suite.tags.get(tag, "others") for suite in run.suites}
        found += differences(run.results().with_columns(model=pl.lit(name)), run.tolerance, labels)
    if not found:
        raise UsageError("method_comparison", "no suite with full_sentence and a prefix method", "at least one")
    return draw(found, "Whole sentences or critical words")
