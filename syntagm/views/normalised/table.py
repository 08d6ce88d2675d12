"""The table of normalised scores: a row a suite, prediction and score."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import polars as pl

from syntagm.drawing.table import Cell, Table, cells
from syntagm.errors import UsageError
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.tasks.task import SuiteRecord
from syntagm.views.normalised.normalisation import COSTS, Score
from syntagm.views.normalised.numbers import Case, Tokens, read_unigrams, results, whole
from syntagm.views.normalised.unigram import Unigrams

COLUMNS = (
    *("suite", "prediction", "by", "model", "score", "low", "high", "n", "ties", "undefined"),
    *("only by bits", "only by this"),
)
MEANING = (
    "by: what of a sentence is compared, the lesser being preferred. bits: its surprisal; mean_bits: a word; norm_sub: less that "
    "of its words by themselves (unigrams); norm_div: divided by it; slor: norm_sub a word (Pauls & Klein 2012); word_max: the "
    "least probable word; word_ratio: the least probable word for its frequency (Lau et al. 2017).",
    "only by bits, only by this: items that are judged right by one of the two only. Ties count as failures; 95% intervals, "
    "percentile bootstrap over items (10,000 draws, seed 1).",
)


def make_table(
    runs: Sequence[Run],
    unigrams: Annotated[str, "a text to count words in, or `ngram:...`, a model of order 1"] = "",
    suite: Annotated[str, "one suite only"] = "",
    by: Annotated[Score | None, "one score only, and bits"] = None,
    tokens: Annotated[Tokens, "what a word of the text is"] = "blanks",
    case: Annotated[Case, "how words are counted and looked up"] = "keep",
) -> Table:
    """Make a row for each suite, prediction and score, for predictions that compare two whole sentences.

    Raises:
        UsageError: no suite compares whole sentences.
    """
    rows: list[tuple[Cell, ...]] = []
    notes = list(MEANING)
    for model, run in named(runs):
        source = read_unigrams(unigrams, run, tokens, case)
        rows += _rows(run, model, source, suite, by, tokens, titles(runs))
        notes += [] if _said(source) in notes else [_said(source)]
    if not rows:
        raise UsageError("suite=", "no prediction that compares two whole sentences", "(*;%a%) < (*;%b%)")
    return Table("Accuracy by normalised scores", COLUMNS, tuple(rows), notes=tuple(notes))


def _said(source: Unigrams) -> str:
    smoothing = ""
    if source.counts is not None:
        total = sum(source.counts.values())
        smoothing = (
            f"; {total:,} words, {len(source.counts):,} different; one added to each count, unseen words have count 0"
        )
    return f"Unigrams: {source.about}{smoothing}."


def _rows(
    run: Run,
    model: str,
    source: Unigrams,
    suite: str,
    by: Score | None,
    tokens: Tokens,
    called: dict[tuple[str, str], str],
) -> Iterator[tuple[Cell, ...]]:
    for one in run.suites:
        if not suite or one.name == suite:
            for prediction, name, rows, bits in _measures(run, one, source, tokens):
                if not by or name in ("bits", by):
                    [estimate] = score.accuracy(rows, 0.0)
                    flips = _flips(rows, bits)
                    yield (called[one.name, one.hash], prediction, name, model, *cells(estimate), *flips)


def _measures(
    run: Run, suite: SuiteRecord, source: Unigrams, tokens: Tokens
) -> Iterator[tuple[str, str, pl.DataFrame, pl.DataFrame]]:
    """Prediction, score, the results by it, and the results by bits."""
    table = results(run, suite.name, source, tokens)
    predictions = whole(run, suite.name)
    parts = {str(measure): rows for (measure,), rows in table.group_by("measure", maintain_order=True)}
    for prediction in predictions:
        ending = f"({prediction})" if len(predictions) > 1 else ""
        for name in COSTS:
            if name + ending in parts:
                yield prediction, name, parts[name + ending], parts["bits" + ending]


def _flips(rows: pl.DataFrame, bits: pl.DataFrame) -> tuple[int, int]:
    this, other = rows["value"].to_numpy(), bits["value"].to_numpy()
    return int((other > this).sum()), int((this > other).sum())
