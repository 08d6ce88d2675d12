"""Items that share words: what tables and pages say of intervals and tests that are for other items.

Items with the same word, such as a lemma, may be more alike than others. An interval for other items is then too narrow for
other words; `syntagm table clustered` has the interval for these.
"""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.result import Kind
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.stats.clustered import Alike, alike, evident
from syntagm.suite import few_words, shared_words
from syntagm.views.gaps.kept import over_gaps

# So many suites are named in a remark.
_NAMED = 3


class SharedWords:
    """The words that the items of suites share, which are read once for each suite."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, str], tuple[pl.Series, dict[str, NDArray[np.str_]]]] = {}

    def of_run(self, run: Run, measure: str = "", model: str = "") -> Iterator[Alike]:
        """Yield how alike the items of each suite are, by each measure.

        Arguments:
            measure: a rule of `stats.score`, or empty for all measures.
            model: the name of the model, if there are several.
        """
        for suite in run.suites:
            selected = suite.predictions_for(measure)
            if not selected or not self._of(run, suite.name)[1]:
                continue
            results = run.results(suite.name)
            verdicts = score.verdicts(results, {suite.name: selected}, measure) if measure else results
            name = f"{suite.name} ({model})" if model else suite.name
            for rows in verdicts.partition_by("measure", maintain_order=True):
                kind = run.kind(measure or rows["measure"][0])
                yield self.of_items(name, run, suite.name, rows, "value", kind)

    def of_pairs(self, run: Run, pairs: pl.DataFrame, models: str = "") -> Iterator[Alike]:
        """Yield how alike the differences of paired items are, for each suite (`stats.paired.pair`).

        Arguments:
            run: one of the two.
            models: their names, if there are more.
        """
        differences = pairs.with_columns(difference=pl.col("value_b") - pl.col("value_a"))
        for rows in differences.partition_by("suite", maintain_order=True):
            suite = rows["suite"][0]
            yield self.of_items(f"{suite} ({models})" if models else suite, run, suite, rows, "difference", Kind.NUMBER)

    def of_items(self, name: str, run: Run, suite: str, values: pl.DataFrame, column: str, kind: Kind) -> Alike:
        """Return how alike items are.

        Arguments:
            name: what is estimated.
            values: a table with the columns item and `column`, the numbers.
            kind: the kind of the numbers.
        """
        items, tags = self._of(run, suite)
        if tags and not values["item"].equals(items):
            # Usually all models have the same items in the same order.
            places = {item: place for place, item in enumerate(items)}
            chosen = np.array([places.get(item, -1) for item in values["item"]], np.intp)
            tags = {tag: np.append(labels, "")[chosen] for tag, labels in tags.items()}
        return alike(name, values[column].to_numpy(), kind, tags, few_words(tags))

    def _of(self, run: Run, suite: str) -> tuple[pl.Series, dict[str, NDArray[np.str_]]]:
        """Return the items of a suite, and the tags by which they share words, each with its value for each item."""
        record = run.suite(suite)
        # The intervals of fill runs know contexts and lemmas.
        if (key := (suite, record.hash)) not in self._words and "parquet" in run.tables and not over_gaps(run):
            first = run.sentences(suite).filter(pl.col("condition") == next(iter(record.conditions), ""))
            shared = shared_words([(json.loads(tags), text) for tags, text in first.select("tags", "text").iter_rows()])
            self._words[key] = first["item"], {tag: np.array(values) for tag, values in shared.items()}
        return self._words.get(key, (pl.Series(), {}))


def of_runs(runs: Sequence[Run], measure: str = "") -> list[Alike]:
    """Return how alike the items of each suite of each run are; see `SharedWords.of_run`."""
    words = SharedWords()
    return [each for model, run in named(runs) for each in words.of_run(run, measure, model if len(runs) > 1 else "")]


def remark(found: Sequence[Alike]) -> tuple[str, ...]:
    """Return a sentence about the items of a table that share words; none if nothing shows that they are alike.

    >>> remark([Alike("agreement", "lemma", 4, 9.5, 0.001), Alike("islands", "lemma", 30, 1.1, 0.2)])[0][:66]
    'Items share words: agreement (4 values of lemma, design effect 9.5'
    """
    told = {each.name: each for each in reversed(evident(found))}
    if not told:
        return ()
    shown = list(reversed(told.values()))
    named = ", ".join(
        f"{each.name} ({each.count} values of {each.tag}, design effect "
        f"{'unknown' if each.effect != each.effect else format(each.effect, '.1f')})"
        for each in shown[:_NAMED]
    )
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return (
        f"Items share words: {named}{more}. Intervals and tests for other items hold for these words, and are too narrow for "
        f"others where the effect is above 1: `syntagm table clustered RUN by={shown[0].tag}`.",
    )
