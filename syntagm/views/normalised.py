"""Normalised: accuracy under SLOR and other sentence scores that are normalised for length and word frequency."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import (
    COSTS,
    Case,
    Cost,
    Kind,
    Score,
    SuiteRecord,
    Tokens,
    Unigrams,
    linking,
    load_unigrams,
    scored,
)
from syntagm.runs import Run, items, named, titles, whole
from syntagm.stats import score
from syntagm.views.drawing.table import Cell, Table, cells

# Sentences are split into words like the text of the unigram model: at white space, or as in the Penn Treebank. A token
# belongs to the word in which it starts (white space belongs to the following word). If the first token was not scored
# because nothing precedes it, its whole word is excluded from the bits and from the unigram bits.

RESULTS = {
    "model": pl.String, "suite": pl.String, "item": pl.String, "measure": pl.String, "value": pl.Float64,
    "margin": pl.Float64, "n": pl.Int64,
}  # fmt: skip


def results(run: Run, suite: str, unigrams: Unigrams, tokens: Tokens = "blanks") -> pl.DataFrame:
    """Judge the items of a suite by each score; the columns of `RESULTS` suit `score.accuracy`."""
    # Measures have the names of `linking.COSTS`. If a suite has several predictions about whole sentences, the name of
    # the prediction is added, as in `slor(grammatical_intrusive)`. The margin is exactly 0 if the difference in bits is
    # within the tolerance of the run; n counts words.
    predictions = whole(run, suite)
    single = len(predictions) < 2
    rows: list[tuple[object, ...]] = []
    for item, conditions in _items(run, suite, unigrams, tokens):
        for prediction, (better, worse) in predictions.items():
            if better not in conditions or worse not in conditions:
                continue
            (good, first), (bad, second) = conditions[better], conditions[worse]
            for name in linking.COSTS:
                margin = linking.margin(good[name], bad[name], run.tolerance_in_bits)
                value = np.nan if margin != margin else float(margin > 0)
                measure = name if single else f"{name}({prediction})"
                rows.append((run.model, suite, item, measure, value, margin, first + second))
    return pl.DataFrame(rows, schema=RESULTS, orient="row")


def _items(
    run: Run, suite: str, unigrams: Unigrams, tokens: Tokens
) -> Iterator[tuple[str, dict[str, tuple[dict[Score, Cost], int]]]]:
    """Yield each item with the costs and numbers of words of its conditions; an id that occurs twice counts as two items."""
    first_scored = run.record["model"]["start"] is not None
    for item, conditions in items(run, suite):
        costs = {}
        for condition, (text, answer) in conditions.items():
            prepared = scored(text, answer, first_scored, unigrams=unigrams, tokens=tokens)
            assert prepared.unigram is not None
            costs[condition] = linking.costs(prepared.words, prepared.unigram), len(prepared.words)
        yield item, costs


def read_unigrams(source: str, run: Run, tokens: Tokens = "blanks", case: Case = "keep") -> Unigrams:
    texts = (text for suite in run.suites for text in run.scored(suite.name)["text"].unique())
    return load_unigrams(source, texts, tokens, case)


COLUMNS = (
    *("suite", "prediction", "by", "model", "score", "low", "high", "n", "ties", "undefined"),
    *("only by bits", "only by this"),
)
MEANING = (
    "by: the score by which sentences are compared; the sentence with the lower score is preferred. bits: surprisal; "
    "mean_bits: surprisal per word (not per token), the convention mean_word; norm_sub: surprisal minus unigram surprisal; "
    "norm_div: surprisal divided by unigram surprisal; slor: norm_sub per word (Pauls & Klein 2012); word_max: surprisal of "
    "the least probable word; word_ratio: largest ratio of a word's surprisal to its unigram surprisal (Lau et al. 2017).",
    "only by bits, only by this: number of items on which the prediction holds by one of the two scores only. Ties count as "
    "failures. 95% intervals: Wilson's, for other items of the kind.",
)


def make_table(
    runs: Sequence[Run],
    unigrams: Annotated[str, "a text to count words in, or `ngram:...`, a model of order 1"] = "",
    suite: Annotated[str, "name of a suite; default: all"] = "",
    by: Annotated[Score | None, "a score to show beside `bits`; default: all"] = None,
    tokens: Annotated[Tokens, "how text is split into words: at white space, or as in the Penn Treebank"] = "blanks",
    case: Annotated[Case, "whether words are counted as they are, or in lower case"] = "keep",
) -> Table:
    """Make one row for each suite, prediction and score, for predictions that compare two whole sentences.

    Raises:
        UsageError: no suite compares two whole sentences.
    """
    rows: list[tuple[Cell, ...]] = []
    notes = list(MEANING)
    for model, run in named(runs):
        source = read_unigrams(unigrams, run, tokens, case)
        rows += _rows(run, model, source, suite, by, tokens, titles(runs))
        notes += [] if describe(source) in notes else [describe(source)]
    if not rows:
        raise UsageError("suite=", "no prediction that compares two whole sentences", "(*;%a%) < (*;%b%)")
    return Table("Accuracy by normalised scores", COLUMNS, tuple(rows), notes=tuple(notes))


def describe(source: Unigrams) -> str:
    smoothing = ""
    if source.counts is not None:
        total = sum(source.counts.values())
        smoothing = f"; {total:,} words, {len(source.counts):,} different; add-one smoothing, count 0 for unseen words"
    return f"Unigrams: {source.about}{smoothing}."


def _rows(
    run: Run,
    model: str,
    source: Unigrams,
    suite: str,
    by: Score | None,
    tokens: Tokens,
    names: dict[tuple[str, str], str],
) -> Iterator[tuple[Cell, ...]]:
    for record in run.suites:
        if not suite or record.name == suite:
            for prediction, name, rows, bits in _measures(run, record, source, tokens):
                if not by or name in ("bits", by):
                    [estimate] = score.accuracy(rows, lambda _: Kind.VERDICT, 0.0)
                    discordant = _discordant(rows, bits)
                    yield (names[record.name, record.hash], prediction, name, model, *cells(estimate), *discordant)


def _measures(
    run: Run, suite: SuiteRecord, source: Unigrams, tokens: Tokens
) -> Iterator[tuple[str, str, pl.DataFrame, pl.DataFrame]]:
    """Yield prediction, score, the results by that score, and the results by bits."""
    table = results(run, suite.name, source, tokens)
    predictions = whole(run, suite.name)
    parts = {str(measure): rows for (measure,), rows in table.group_by("measure", maintain_order=True)}
    for prediction in predictions:
        ending = f"({prediction})" if len(predictions) > 1 else ""
        for name in COSTS:
            if name + ending in parts:
                yield prediction, name, parts[name + ending], parts["bits" + ending]


def _discordant(rows: pl.DataFrame, bits: pl.DataFrame) -> tuple[int, int]:
    this, other = rows["value"].to_numpy(), bits["value"].to_numpy()
    return int((other > this).sum()), int((this > other).sum())


__all__ = ["make_table"]
