"""AUC: how well costs separate good from bad sentences across items, beside the accuracy within pairs."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from syntagm.core import UsageError
from syntagm.evaluation import DEFAULT, Convention, margin, scored, value
from syntagm.runs import Run, named, pairs, titles, whole
from syntagm.stats import Auc, auc_of_pairs, interval
from syntagm.views.conventions import HowCase, HowTokens, Source, Suite, UnigramText, choose
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none

COLUMNS = (
    *("model", "suite", "n", "accuracy", "low", "high", "auc", "auc low", "auc high"),
    *("matched", "matched low", "matched high", "comparisons"),
)
NOTE = (
    "auc: the share of all pairs of a good and a bad sentence, of the same item or of two, in which the good one has the lower "
    "cost; ties count half (Hu et al. 2026, 10.1162/TACL.a.611). matched: the same for sentences with the same number of tokens "
    "only; comparisons is their number. Intervals are for other items: Wilson's, for the AUC with the variance over items."
)


def make_table(
    runs: Sequence[Run],
    convention: Annotated[str, "the cost: a linking function, such as mean_token"] = DEFAULT,
    unigrams: UnigramText = "",
    suite: Suite = "",
    tokens: HowTokens = "blanks",
    case: HowCase = "keep",
) -> Table:
    """Make one row for each model and suite that compares two whole sentences.

    Raises:
        UsageError: no suite does, or the convention compares only parts of pairs.
    """
    chosen_by = Convention.parse_of_sentences(convention)
    source = Source(unigrams, "", tokens, case)
    rows = [row for model, run in named(runs) for row in _rows(run, model, chosen_by, source, suite, titles(runs))]
    if not rows:
        raise UsageError("suite=", "no prediction that compares two whole sentences", "(*;%a%) < (*;%b%)")
    return Table("Separation across items", COLUMNS, tuple(rows), notes=(f"cost: {convention}. {NOTE}",))


def _rows(
    run: Run, model: str, convention: Convention, source: Source, suite: str, names: dict[tuple[str, str], str]
) -> Iterator[tuple[Cell, ...]]:
    chosen = choose(run, source, [str(convention)])
    first_scored = run.record["model"]["start"] is not None
    for record in run.suites:
        if (suite and record.name != suite) or not whole(run, record.name):
            continue
        costs, lengths, hits = [], [], []
        for _, *sentences in pairs(run, record.name):
            prepared = [
                scored(text, answer, first_scored, convention.kept, chosen.unigrams, source.tokens)
                for text, answer in sentences
            ]
            good_cost, bad_cost = (convention.linking.cost(sentence) for sentence in prepared)
            costs.append([good_cost[0], bad_cost[0]])
            difference = margin(good_cost, bad_cost, run.tolerance_in_bits)
            # Of two infinite costs, neither is the lower one.
            hits.append(value(difference, convention.tie))
            lengths.append([len(sentence.bits) for sentence in prepared])
        table, sizes = np.array(costs, np.float64).reshape(-1, 2), np.array(lengths, np.int64).reshape(-1, 2)
        judged = np.array(hits, np.float64)
        defined = ~np.isnan(judged)
        good, bad = table[defined].T
        verdicts = judged[defined]
        within = interval.of_items(verdicts, convention.kind)
        across, matched = auc_of_pairs(good, bad), auc_of_pairs(good, bad, sizes[defined].T)
        accuracy = float(verdicts.mean()) if len(verdicts) else np.nan
        numbers = (accuracy, within.low, within.high, *_numbers(across), *_numbers(matched))
        shown = names[record.name, record.hash]
        yield (model, shown, len(verdicts), *map(or_none, numbers), matched.comparisons)


def _numbers(found: Auc) -> tuple[float, float, float]:
    return found.value, found.interval.low, found.interval.high
