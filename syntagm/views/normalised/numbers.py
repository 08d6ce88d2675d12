"""Results of a run under sentence scores that are normalised for length and word frequency.

They are computed from a run's stored tokens, without loading a model. Sentences are split into words like the
text of the unigram model: at white space, or as in the Penn Treebank. A token belongs to the word in which it starts
(white space belongs to the following word). If the first token was not scored because nothing precedes it, its whole
word is excluded from the bits and from the unigram bits.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from syntagm.answers import Surprisals
from syntagm.errors import FormulaError, UsageError
from syntagm.formula import Binary, Reference, parse
from syntagm.models.asking import Asking
from syntagm.models.names import load
from syntagm.models.words import words as _words
from syntagm.runs.store import Run
from syntagm.training.corpora import corpus
from syntagm.views.normalised import normalisation
from syntagm.views.normalised.normalisation import Cost, Score
from syntagm.views.normalised.unigram import Unigrams, counted

SCHEMA = {
    "model": pl.String, "suite": pl.String, "item": pl.String, "measure": pl.String, "value": pl.Float64,
    "margin": pl.Float64, "n": pl.Int64,
}  # fmt: skip
NGRAM = "ngram:"
Tokens = Literal["blanks", "treebank"]
Case = Literal["keep", "lower"]


def whole(run: Run, suite: str) -> dict[str, tuple[str, str]]:
    """Find the predictions of a suite that compare two whole sentences: name -> (better condition, worse condition)."""
    pairs = {}
    for name, formula in run.suite(suite).predictions.items():
        try:
            tree = parse(formula).tree
        except FormulaError:  # records are untrusted input
            continue
        match tree:
            case Binary("<", Reference("*", better), Reference("*", worse)):
                pairs[name] = (better, worse)
            case Binary(">", Reference("*", worse), Reference("*", better)):
                pairs[name] = (better, worse)
    return pairs


def results(run: Run, suite: str, unigrams: Unigrams, tokens: Tokens = "blanks") -> pl.DataFrame:
    """Judge the items of a suite by each score; the columns of `SCHEMA` suit `score.accuracy`.

    There is one row for each item and measure. Measures have the names of `normalisation.COSTS`. If a suite has several
    predictions about whole sentences, the name of the prediction is added, as in `slor(grammatical_intrusive)`. The
    margin is exactly 0 if the difference in bits is within the tolerance of the run; n counts words.

    Arguments:
        tokens: how sentences are split into words, like the text of the unigram model: "blanks" (white space) or
            "treebank".
    """
    predictions = whole(run, suite)
    single = len(predictions) < 2
    rows: list[tuple[object, ...]] = []
    for item, conditions in _items(run, suite, unigrams, tokens):
        for prediction, (better, worse) in predictions.items():
            if better not in conditions or worse not in conditions:
                continue
            (good, first), (bad, second) = conditions[better], conditions[worse]
            for name in normalisation.COSTS:
                margin = normalisation.margin(good[name], bad[name], run.tolerance)
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
        bits, unigram_bits = _words_of(
            sentence.text, answer, unigrams, tokens, run.record["model"]["start"] is not None
        )
        conditions[condition] = normalisation.costs(bits, unigram_bits), len(bits)
    if conditions:
        yield last, conditions


def _words_of(
    text: str, answer: Surprisals, unigrams: Unigrams, tokens: Tokens, first_scored: bool
) -> tuple[normalisation.Bits, normalisation.Bits]:
    """Return the bits of each word under the model and under the unigram model. Shapes (words,)."""
    words, starts = _words.words(text, tokens)
    unigram_bits = unigrams.bits(words)
    word_of_token = np.searchsorted(starts, answer.starts, "right") - 1
    if len(answer.starts) and answer.starts[-1] >= len(text):
        word_of_token[answer.starts >= len(text)] = len(words)
        unigram_bits = np.append(unigram_bits, unigrams.end)
    bits = np.bincount(word_of_token, answer.bits, len(unigram_bits)).astype(np.float64)
    if not first_scored and len(bits) and np.isnan(answer.bits[0]):
        return bits[1:], unigram_bits[1:]
    return bits, unigram_bits


def read_unigrams(source: str, run: Run, tokens: Tokens = "blanks", case: Case = "keep") -> Unigrams:
    """Read or compute the unigram model that an option names.

    Arguments:
        source: a text as read by `training.corpora.corpus`, in which words are counted; or `ngram:...`, a model of
            order 1, which scores the words of the run.
        tokens: how the text and the sentences of the run are split into words.
        case: "keep", or "lower" to count and look up words in lower case.

    Raises:
        UsageError: there is no source, or the model has another order than 1.
        InputError, ModelError: the source can't be read.
    """
    if source.startswith(NGRAM):
        return _of_model(source, _vocabulary(run, tokens, case), case)
    if not source:
        raise UsageError("unigrams=", "nothing", "unigrams=FILE, a text, or unigrams=ngram:..., a model of order 1")
    return counted(corpus.sentences([source], tokens), f"{Path(source).name}, {tokens}, case {case}", case == "lower")


def _vocabulary(run: Run, tokens: Tokens, case: Case) -> list[str]:
    vocabulary: dict[str, None] = {}
    for suite in run.suites:
        for text in run.scored(suite.name)["text"].unique():
            words: Iterable[str] = _words.split(text, tokens)
            vocabulary |= dict.fromkeys(word.lower() if case == "lower" else word for word in words)
    return sorted(vocabulary)


def _of_model(source: str, words: list[str], case: Case) -> Unigrams:
    model = load(f"{source}{'&' if '?' in source else '?'}eos=yes&tokens=blanks")
    if model.record.get("order") != 1:
        raise UsageError("unigrams=", f"{source}, of order {model.record.get('order')}", "a model of order 1")
    asking = Asking(model)
    answers = list(asking.score(words))
    asking.confirm()
    known = {word: float(answer.bits[:-1].sum()) for word, answer in zip(words, answers, strict=True)}
    end = float(answers[0].bits[-1]) if answers else np.nan
    return Unigrams(known, np.nan, end, model.name, case == "lower")
