"""A run's sentences by other scores than their bits: normalised by length and by how frequent their words are.

Computed from the tokens that a run keeps, no model is asked. Words are those of the unigram model's text: split at white space,
or as the Penn Treebank; a token belongs to the word in which it starts (white space belongs to the word after it). A first
token that was not scored, since nothing stands before it, is left out together with the rest of its word, on both sides.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from syntagm.answers import Surprisals
from syntagm.errors import FormulaError, UsageError
from syntagm.formula import Binary, Reference, parse
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
    """The predictions of a suite that compare two whole sentences: name -> the better condition, the worse."""
    found = {}
    for name, formula in run.suite(suite).predictions.items():
        try:
            tree = parse(formula).tree
        except FormulaError:  # a record may come from anyone
            continue
        match tree:
            case Binary("<", Reference("*", better), Reference("*", worse)):
                found[name] = (better, worse)
            case Binary(">", Reference("*", worse), Reference("*", better)):
                found[name] = (better, worse)
    return found


def results(run: Run, suite: str, unigrams: Unigrams, tokens: Tokens = "blanks") -> pl.DataFrame:
    """A row an item and measure, columns as in `SCHEMA`, for `score.accuracy(rows, 0.0)`.

    Measures are the names of `normalisation.COSTS`; with the prediction in brackets, `slor(grammatical_intrusive)`, where a
    suite compares whole sentences in several ways. The margin is exactly 0 where the bits differ by no more than the run's
    tolerance; n counts words.

    Arguments:
        tokens: how to split sentences into words, as the unigram model's text was: "blanks" or "treebank".
    """
    predictions = whole(run, suite)
    single = len(predictions) < 2
    rows: list[tuple[object, ...]] = []
    for item, found in _items(run, suite, unigrams, tokens):
        for prediction, (better, worse) in predictions.items():
            if better not in found or worse not in found:
                continue
            (good, first), (bad, second) = found[better], found[worse]
            for name in normalisation.COSTS:
                margin = normalisation.margin(good[name], bad[name], run.tolerance)
                value = np.nan if margin != margin else float(margin > 0)
                measure = name if single else f"{name}({prediction})"
                rows.append((run.model, suite, item, measure, value, margin, first + second))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _items(
    run: Run, suite: str, unigrams: Unigrams, tokens: Tokens
) -> Iterator[tuple[str, dict[str, tuple[dict[Score, Cost], int]]]]:
    """Each item with the costs and the number of words of its conditions; an id that occurs twice is two items."""
    last = ""
    found: dict[str, tuple[dict[Score, Cost], int]] = {}
    for item, condition, sentence, answer in run.answers(suite):
        if found and (item != last or condition in found):
            yield last, found
            found = {}
        last = item
        bits, asked = _words_of(sentence.text, answer, unigrams, tokens, run.record["model"]["start"] is not None)
        found[condition] = normalisation.costs(bits, asked), len(bits)
    if found:
        yield last, found


def _words_of(
    text: str, answer: Surprisals, unigrams: Unigrams, tokens: Tokens, first_scored: bool
) -> tuple[normalisation.Bits, normalisation.Bits]:
    """The bits of each word under the model and under the unigram model. Shapes (words,)."""
    words, starts = _words.words(text, tokens)
    asked = unigrams.bits(words)
    home = np.searchsorted(starts, answer.starts, "right") - 1
    if len(answer.starts) and answer.starts[-1] >= len(text):
        home[answer.starts >= len(text)] = len(words)
        asked = np.append(asked, unigrams.end)
    bits = np.bincount(home, answer.bits, len(asked)).astype(np.float64)
    if not first_scored and len(bits) and np.isnan(answer.bits[0]):
        return bits[1:], asked[1:]
    return bits, asked


def read_unigrams(source: str, run: Run, tokens: Tokens = "blanks", case: Case = "keep") -> Unigrams:
    """The unigram model that an option names.

    Arguments:
        source: a text as `training.corpora.corpus` reads it, whose words are counted; or `ngram:...`, a model of order 1, which
            is asked for the words of the run.
        tokens: how both are split into words.
        case: "keep", or "lower": words are counted and looked up in lower case.

    Raises:
        UsageError: a model of another order, or no source.
        InputError, ModelError: it can't be read.
    """
    if source.startswith(NGRAM):
        return _of_model(source, _vocabulary(run, tokens, case), case)
    if not source:
        raise UsageError("unigrams=", "nothing", "unigrams=FILE, a text, or unigrams=ngram:..., a model of order 1")
    return counted(corpus.sentences([source], tokens), f"{Path(source).name}, {tokens}, case {case}", case == "lower")


def _vocabulary(run: Run, tokens: Tokens, case: Case) -> list[str]:
    found: dict[str, None] = {}
    for suite in run.suites:
        for text in run.sentences(suite.name)["text"].unique():
            words: Iterable[str] = _words.split(text, tokens)
            found |= dict.fromkeys(word.lower() if case == "lower" else word for word in words)
    return sorted(found)


def _of_model(source: str, words: list[str], case: Case) -> Unigrams:
    model = load(f"{source}{'&' if '?' in source else '?'}eos=yes&tokens=blanks")
    if model.record.get("order") != 1:
        raise UsageError("unigrams=", f"{source}, of order {model.record.get('order')}", "a model of order 1")
    answers = list(model.score(words))
    known = {word: float(answer.bits[:-1].sum()) for word, answer in zip(words, answers, strict=True)}
    end = float(answers[0].bits[-1]) if answers else np.nan
    return Unigrams(known, np.nan, end, model.name, case == "lower")
