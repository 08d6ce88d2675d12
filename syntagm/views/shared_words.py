"""Items that share words: what tables and pages say of intervals and tests that are for other items.

Items with the same word, such as a lemma, may be more alike than others. An interval for other items is then too narrow for
other words; `syntagm table clustered` has the interval for these.
"""

import json
from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.evaluation import Kind
from syntagm.runs import Run, named
from syntagm.stats import Alike, alike, evident, score
from syntagm.suites import few_words, shared_words
from syntagm.views.gaps import over_gaps

# So many suites are named in a remark.
_NAMED = 3


class SharedWords:
    """The words that the items of suites share, which are read once for each suite."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, str], tuple[dict[str, int], dict[str, NDArray[np.str_]]]] = {}

    def of_pairs(self, run: Run, pairs: pl.DataFrame, models: str = "") -> Iterator[Alike]:
        """Yield how alike the differences of paired items are, for each suite (`stats.paired.pair`)."""
        differences = pairs.with_columns(value=pl.col("value_b") - pl.col("value_a"))
        for rows in differences.partition_by("suite", maintain_order=True):
            yield self.of_items(run, rows["suite"][0], rows, Kind.NUMBER, models)

    def of_items(self, run: Run, suite: str, values: pl.DataFrame, kind: Kind, models: str = "") -> Alike:
        places, tags = self.tags(run, suite)
        chosen = [places.get(item, -1) for item in values["item"]] if tags else []
        tags = {tag: np.append(labels, "")[chosen] for tag, labels in tags.items()}
        name = f"{suite} ({models})" if models else suite
        return alike(name, values["value"].to_numpy(), kind, tags, few_words(tags))

    def tags(self, run: Run, suite: str) -> tuple[dict[str, int], dict[str, NDArray[np.str_]]]:
        """Return the place of each item of a suite, and the tags by which items share words, with their values."""
        record = run.suite(suite)
        # The intervals of fill runs know contexts and lemmas.
        if (key := (suite, record.hash)) not in self._words and "parquet" in run.tables and not over_gaps(run):
            first = run.sentences(suite).filter(pl.col("condition") == next(iter(record.conditions), ""))
            shared = shared_words([(json.loads(tags), text) for tags, text in first.select("tags", "text").iter_rows()])
            places = {item: place for place, item in enumerate(first["item"])}
            self._words[key] = places, {tag: np.array(values) for tag, values in shared.items()}
        return self._words.get(key, ({}, {}))


def of_runs(runs: Sequence[Run], measure: str = "") -> tuple[str, ...]:
    """Return the remark on the items of each suite of each run, by one measure or by each; see `remark`."""
    words, found = SharedWords(), []
    for model, run in named(runs):
        for suite in run.suites:
            if (selected := suite.predictions_for(measure)) and words.tags(run, suite.name)[1]:
                results = run.results(suite.name)
                verdicts = score.verdicts(results, {suite.name: selected}, measure) if measure else results
                for rows in verdicts.partition_by("measure", maintain_order=True):
                    kind = run.kind(measure or rows["measure"][0])
                    found.append(words.of_items(run, suite.name, rows, kind, model if len(runs) > 1 else ""))
    return remark(found)


def remark(found: Sequence[Alike]) -> tuple[str, ...]:
    """Return a sentence about the items of a table that share words; none if nothing shows that they are alike.

    >>> remark([Alike("agreement", "lemma", 4, 9.5, 0.001), Alike("islands", "lemma", 30, 1.1, 0.2)])[0][:66]
    'Items share words: agreement (4 values of lemma, design effect 9.5'
    """
    # Of several numbers of a suite, the one with the largest effect.
    told = list({each.name: each for each in reversed(evident(found))}.values())[::-1]
    if not told:
        return ()
    named = ", ".join(
        f"{each.name} ({each.count} values of {each.tag}, design effect "
        f"{'unknown' if isnan(each.effect) else format(each.effect, '.1f')})"
        for each in told[:_NAMED]
    )
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    by = told[0].tag if len({each.tag for each in told}) == 1 else "TAG"
    return (
        f"Items share words: {named}{more}. Intervals and tests for other items hold for these words, and are too narrow for "
        f"others where the effect is above 1: `syntagm table clustered RUN by={by}`.",
    )
