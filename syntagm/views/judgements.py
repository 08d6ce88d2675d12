"""Judgements: how well costs of sentences agree with labels and ratings: accuracy and MCC by a threshold, AUC, correlation."""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from syntagm.core import UsageError, counted
from syntagm.evaluation import DEFAULT, Convention, Kind, scored
from syntagm.runs import Run, named, titles
from syntagm.stats import acceptability, interval
from syntagm.views.conventions import HowCase, HowTokens, Source, Suite, UnigramText, choose
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none

COLUMNS = (
    *("model", "suite", "n", "acceptable", "accuracy", "low", "high", "mcc", "auc", "auc low", "auc high"),
    *("rated", "spearman", "pearson"),
)
NOTE = (
    f"accuracy, mcc: a sentence is called acceptable up to a threshold, which is chosen on the sentences of the other "
    f"{acceptability.FOLDS - 1} of {acceptability.FOLDS} folds (for the MCC, the one of best MCC). auc: how often an acceptable "
    "sentence costs less than another. spearman, pearson: of ratings with costs of opposite sign, over rated sentences. "
    "Of pairs, each good sentence is acceptable and each bad one is not. A sentence of several items counts once, with its mean "
    "rating; one that is both acceptable and not has no label. "
    "Intervals are for other sentences."
)
# Condition -> the label of its sentences (None: that of the tag `label`), and the tag with their rating.
_SIDES = {"sentence": (None, "rating"), "good": (True, "rating_good"), "bad": (False, "rating_bad")}


def make_table(
    runs: Sequence[Run],
    convention: Annotated[str, "the cost: a linking function, such as mean_token"] = DEFAULT,
    unigrams: UnigramText = "",
    suite: Suite = "",
    tokens: HowTokens = "blanks",
    case: HowCase = "keep",
) -> Table:
    """Make one row for each model and suite of single judgements or of pairs.

    Raises:
        UsageError: no suite has labels or ratings, or the convention compares only parts of pairs.
    """
    chosen_by = Convention.parse_of_sentences(convention)
    source = Source(unigrams, "", tokens, case)
    found = [each for model, run in named(runs) for each in _rows(run, model, chosen_by, source, suite, titles(runs))]
    rows, both = [row for row, _ in found if row], [note for _, note in found if note]
    if not rows:
        expected = "suites of the condition `sentence` with tags `label` or `rating`, or pairs"
        raise UsageError("suite=", "no suite with judgements", expected)
    return Table(
        "Agreement with judgements", COLUMNS, tuple(rows), notes=(f"cost: {convention}. {NOTE}", *dict.fromkeys(both))
    )


def _rows(
    run: Run, model: str, convention: Convention, source: Source, suite: str, names: dict[tuple[str, str], str]
) -> Iterator[tuple[tuple[Cell, ...], str]]:
    """Yield the row of each suite of a run, empty without judgements, and a note if sentences have both labels."""
    chosen = choose(run, source, [str(convention)])
    first_scored = run.record["model"]["start"] is not None
    for record in run.suites:
        if (suite and record.name != suite) or not set(record.conditions) & set(_SIDES):
            continue
        tags = run.sentences(record.name)["tags"]
        costs: dict[str, float] = {}
        labels: dict[str, set[bool]] = {}
        ratings: dict[str, list[float]] = {}
        for (_, condition, sentence, answer), text in zip(run.answers(record.name), tags, strict=True):
            if condition not in _SIDES:
                continue
            label, rated = _SIDES[condition]
            own = json.loads(text)
            prepared = scored(sentence.text, answer, first_scored, convention.kept, chosen.unigrams, source.tokens)
            costs[sentence.text] = convention.linking.cost(prepared)[0]
            given = {"1": True, "0": False}.get(own.get("label", "")) if label is None else label
            if given is not None:
                labels.setdefault(sentence.text, set()).add(given)
            if rated in own:
                ratings.setdefault(sentence.text, []).append(float(own[rated]))
        title, note = names[record.name, record.hash], ""
        if contrary := sum(len(given) > 1 for given in labels.values()):
            note = f"{title}: {counted(contrary, 'sentence')} with both labels, left out of accuracy, mcc and auc."
        numbers = _numbers(costs, labels, ratings)
        yield (model, title, *map(or_none, numbers)) if numbers else (), note


def _numbers(
    costs: dict[str, float], labels: dict[str, set[bool]], ratings: dict[str, list[float]]
) -> tuple[Cell, ...]:
    """Return the numbers of a row; empty without labels and ratings."""
    defined = [text for text, cost in costs.items() if not np.isnan(cost)]
    labelled = [text for text in defined if len(labels.get(text, ())) == 1]
    rated = [text for text in defined if text in ratings]
    if not labelled and not rated:
        return ()
    values, acceptable = (
        np.array([costs[text] for text in labelled]),
        np.array([True in labels[text] for text in labelled], bool),
    )
    found = acceptability.thresholded(values, acceptable)
    correct = found.correct.astype(np.float64)
    within, across = interval.of_items(correct, Kind.VERDICT), acceptability.auc(values, acceptable)
    accuracy = float(correct.mean()) if len(correct) else np.nan
    spearman, pearson = acceptability.correlations(
        np.array([costs[text] for text in rated]), np.array([np.mean(ratings[text]) for text in rated], np.float64)
    )
    return (
        len(labelled), int(acceptable.sum()), accuracy, within.low, within.high, found.mcc,
        across.value, across.interval.low, across.interval.high, len(rated), spearman, pearson,
    )  # fmt: skip
