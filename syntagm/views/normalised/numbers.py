"""Results of a run under sentence scores that are normalised for length and word frequency.

They are computed from a run's stored tokens, without loading a model. Sentences are split into words like the
text of the unigram model: at white space, or as in the Penn Treebank. A token belongs to the word in which it starts
(white space belongs to the following word). If the first token was not scored because nothing precedes it, its whole
word is excluded from the bits and from the unigram bits.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from syntagm.core import FormulaError
from syntagm.evaluation import Case, Cost, Score, Tokens, Unigrams, linking, load_unigrams, scored
from syntagm.runs import Run
from syntagm.suites import compared, parse

SCHEMA = {
    "model": pl.String, "suite": pl.String, "item": pl.String, "measure": pl.String, "value": pl.Float64,
    "margin": pl.Float64, "n": pl.Int64,
}  # fmt: skip


def whole(run: Run, suite: str) -> dict[str, tuple[str, str]]:
    """Find the predictions of a suite that compare two whole sentences: name -> (better condition, worse condition)."""
    pairs = {}
    for name, formula in run.suite(suite).predictions.items():
        try:
            pair = compared(parse(formula))
        except FormulaError:  # records are untrusted input
            continue
        if pair:
            pairs[name] = pair
    return pairs


def results(run: Run, suite: str, unigrams: Unigrams, tokens: Tokens = "blanks") -> pl.DataFrame:
    """Judge the items of a suite by each score; the columns of `SCHEMA` suit `score.accuracy`."""
    # There is one row for each item and measure. Measures have the names of `linking.COSTS`. If a suite has
    # several predictions about whole sentences, the name of the prediction is added, as in
    # `slor(grammatical_intrusive)`. The margin is exactly 0 if the difference in bits is within the tolerance of the
    # run; n counts words.
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
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _items(
    run: Run, suite: str, unigrams: Unigrams, tokens: Tokens
) -> Iterator[tuple[str, dict[str, tuple[dict[Score, Cost], int]]]]:
    """Yield each item with the costs and numbers of words of its conditions; an id that occurs twice counts as two items."""
    last = ""
    conditions: dict[str, tuple[dict[Score, Cost], int]] = {}
    for item, condition, sentence, answer in run.answers(suite):
        if conditions and (item != last or condition in conditions):
            yield last, conditions
            conditions = {}
        last = item
        prepared = scored(
            sentence.text, answer, run.record["model"]["start"] is not None, unigrams=unigrams, tokens=tokens
        )
        assert prepared.unigram is not None
        conditions[condition] = linking.costs(prepared.words, prepared.unigram), len(prepared.words)
    if conditions:
        yield last, conditions


def read_unigrams(source: str, run: Run, tokens: Tokens = "blanks", case: Case = "keep") -> Unigrams:
    """Read or compute the unigram model that an option names."""
    texts = (text for suite in run.suites for text in run.scored(suite.name)["text"].unique())
    return load_unigrams(source, texts, tokens, case)
