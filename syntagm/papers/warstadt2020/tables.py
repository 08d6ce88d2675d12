"""The tables of Warstadt et al. 2020, of accuracies by paradigm, wherever these come from."""

import re
from collections.abc import Mapping, Sequence
from math import isinf, isnan, nan

import numpy as np
import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.papers.cited import cited
from syntagm.papers.warstadt2020.paradigms import CONTRASTS, Paradigm, complete
from syntagm.papers.warstadt2020.paradigms import published as paradigms_of_paper
from syntagm.result import Estimate, Group
from syntagm.stats import suite_means
from syntagm.stats.paired import Comparison
from syntagm.stats.suite_means import Key, Resampled
from syntagm.views.learning_curve import Line

NUMBERS = ("accuracy", "low", "high", "n", "ties", "undefined")
# Over how many suites stands in the table.
_OVER = re.compile(r"^(mean of|difference,) [^;]*; ")
Drawn = Mapping[Key, Resampled]
Known = Mapping[str, Paradigm]
PRINTED = ("5-gram", "LSTM", "TXL", "GPT-2")


def means(drawn: Drawn, known: Known) -> list[Estimate]:
    """The accuracy of each model over all paradigms, by field and by category.

    Groups have the model, the labels `over` ("all", "field" or "phenomenon") and `phenomenon` (its value), and the count
    `paradigms`.
    """
    found = []
    for over in ("all", "field", "phenomenon"):
        for name in _names(over, known):
            for model in dict.fromkeys(model for model, _ in drawn):
                parts = [one for (of, suite), one in drawn.items() if of == model and name == _name(over, known[suite])]
                if parts:
                    labels = (("over", over), ("phenomenon", name))
                    group = Group(model, labels=labels, counts=(("paradigms", len(parts)),))
                    found.append(suite_means.mean(parts, group))
    return found


def _name(over: str, paradigm: Paradigm) -> str:
    return {"all": "all", "field": paradigm.field, "phenomenon": paradigm.phenomenon}[over]


def _names(over: str, known: Known) -> list[str]:
    return sorted({_name(over, one) for one in known.values()})


def people(drawn: Drawn, known: Known, found: Sequence[Estimate]) -> dict[tuple[str, str], float]:
    """(model, category or field) -> what people score on the same paradigms; nan if that of one of them isn't known."""
    made = {}
    for one in found:
        model, over, name = one.group.model, one.group["over"], one.group["phenomenon"]
        suites = [suite for of, suite in drawn if of == model and _name(over, known[suite]) == name]
        made[model, name] = float(np.mean([known[suite].human for suite in suites]))
    return made


def table3(
    drawn: Drawn, known: Known, found: Sequence[Estimate], notes: Sequence[str], published: bool = True
) -> Table:
    """Accuracy over all paradigms, by field and by category, a row a model.

    Arguments:
        found: as `means` gives them.
        published: whether people and the paper's models stand beside, where paradigms are those of the paper.
    """
    humans = people(drawn, known, found)
    printed = {row["phenomenon"]: row for row in cited("warstadt2020")["table3"]}
    theirs = paradigms_of_paper()
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        model, over, name = one.group.model, one.group["over"], one.group["phenomenon"]
        held = one.group.count("paradigms")
        suites = [suite for of, suite in drawn if of == model and _name(over, known[suite]) == name]
        # Suites of other names are no part of the paper's, whatever their category is called.
        shared, of_paper = sum(suite in theirs for suite in suites), complete(name)
        line = printed.get(name, {}) if held == shared == of_paper else {}
        beside = (or_none(humans[model, name]), *(_share(line.get(model)) for model in PRINTED))
        counted = f"{held} of {of_paper}" if held == shared else f"{held}, {shared} of the paper's {of_paper}"
        counted = counted if shared else str(held)
        rows.append((over, name, counted, model, *numbers(one), *(beside if published else ())))
    quoted = ("people", *PRINTED) if published else ()
    columns = ("over", "category", "paradigms", "model", *NUMBERS, *quoted)
    return Table("Table 3: accuracy by category", columns, tuple(rows), quoted, (*methods(found), *notes))


def by_paradigm(drawn: Drawn, known: Known, notes: Sequence[str], published: bool = True) -> Table:
    """Accuracy by paradigm, a row a model."""
    found = [(suite, suite_means.mean([one], Group(model))) for (model, suite), one in drawn.items()]
    order = {suite: place for place, suite in enumerate(sorted(known, key=lambda one: (known[one].phenomenon, one)))}
    rows: list[tuple[Cell, ...]] = []
    for suite, one in sorted(found, key=lambda pair: order[pair[0]]):
        quoted = (or_none(known[suite].human),) if published else ()
        rows.append((known[suite].phenomenon, suite, one.group.model, *numbers(one), *quoted))
    columns = ("category", "paradigm", "model", *NUMBERS, *(("people",) if published else ()))
    quoted_columns = ("people",) if published else ()
    return Table(
        "Accuracy by paradigm", columns, tuple(rows), quoted_columns, (*methods([one for _, one in found]), *notes)
    )


def contrasts(drawn: Drawn) -> list[Estimate]:
    """Attractors, distance and irregular nouns, for each model; over the pairs of paradigms that it has both of.

    Groups have the model, the label `contrast`, and the counts `pairs` and `of` (how many the paper has).
    """
    found = []
    for contrast in CONTRASTS:
        for model in dict.fromkeys(model for model, _ in drawn):
            pairs = [
                (drawn[model, one], drawn[model, other])
                for one, other in contrast.pairs
                if (model, one) in drawn and (model, other) in drawn
            ]
            if pairs:
                counts = (("pairs", len(pairs)), ("of", len(contrast.pairs)))
                group = Group(model, labels=(("contrast", contrast.said),), counts=counts)
                found.append(suite_means.contrast(pairs, group))
    return found


def contrast_table(found: Sequence[Estimate], notes: Sequence[str] = ()) -> Table:
    """The differences as a table."""
    rows = [(one.group["contrast"], one.group.model, _pairs(one), *numbers(one)) for one in found]
    columns = ("difference", "model", "pairs", *("difference_of_accuracies", *NUMBERS[1:]))
    lacking = [one.said for one in CONTRASTS if one.said not in {each.group["contrast"] for each in found}]
    said = [f"Without both paradigms of any pair, and so not here: {'; '.join(lacking)}."] if lacking else []
    explained = (
        "pairs: of the paper's pairs of paradigms, how many the mean is over. Positive: the first kind is easier."
    )
    return Table(
        "Attractors, distance and irregular nouns",
        columns,
        tuple(rows),
        (),
        (explained, *said, *methods(found), *notes),
    )


def _pairs(one: Estimate) -> str:
    return f"{one.group.count('pairs')} of {one.group.count('of')}"


def correlation_table(table: pl.DataFrame, notes: Sequence[str] = ()) -> Table:
    """The correlations of all pairs of models."""
    rows = tuple(table.select("a", "b", "kind", "r", "low", "high", "n").iter_rows())
    said = [f"Intervals: 95 %, {method}; n: paradigms." for method in dict.fromkeys(table["method"])]
    return Table("Correlation of accuracies", ("a", "b", "kind", "r", "low", "high", "n"), rows, (), (*said, *notes))


def shallow_table(table: pl.DataFrame, said: Mapping[str, str]) -> Table:
    """The logistic regressions as a table.

    Arguments:
        table: columns as in `views.surface.REGRESSIONS`.
        said: predictor -> what it is.
    """
    shown = [name for name in dict.fromkeys(table["predictor"]) if name in said]
    notes = (
        "log_odds: the change of the log odds of a right answer for a standard deviation (sd) of the predictor, the others held "
        "constant; intercept: at the means. Plain logistic regression, maximum likelihood.",
        "Interval: 95 %, with the larger of se (independent pairs) and se_suites (suites as units, which needs many of them).",
        "explained: McFadden's share of the log-likelihood. left_out: pairs without a value or a number.",
        *(f"{name}: {said[name]}." for name in shown),
        *(
            ["margin under MODEL: surprisal of the bad sentence less that of the good one, bits."]
            if _margins(table)
            else []
        ),
    )
    title = "What is shallow about the pairs that a model gets right"
    return Table(
        title, tuple(table.columns), tuple(tuple(or_none(one) for one in row) for row in table.iter_rows()), (), notes
    )


def _margins(table: pl.DataFrame) -> bool:
    return any(name.startswith("margin under ") for name in table["predictor"])


def method_table(compared: Sequence[Comparison]) -> Table:
    """The differences between whole sentences and critical words, over all paradigms with the method and by category."""
    found = [one.difference for one in compared]
    rows = [
        (one.group.measure, one.group["label"], str(one.group.count("suites")), one.group.model, *numbers(one))
        for one in found
    ]
    columns = ("method", "category", "paradigms", "model", "difference_of_accuracies", *NUMBERS[1:])
    notes = (
        "Accuracy on whole sentences less that of the prefix method, pair by pair; positive: whole sentences are easier.",
        "n: pairs that both methods judge. ties: pairs with a tie under either.",
        *methods(found),
    )
    return Table("How a pair is asked", columns, tuple(rows), (), notes)


def slope_table(table: pl.DataFrame, humans: Mapping[str, float]) -> Table:
    """The gains for a doubling of the text; where a line would reach what people score; and the paper's gains."""
    quoted = {row["phenomenon"]: row for row in cited("warstadt2020")["slopes"]}
    rows = []
    for row in table.iter_rows(named=True):
        name = row["phenomenon"]
        one = Line(*(row[key] for key in ("slope", "se", "low", "high", "intercept", "n", "sizes")))
        reached = one.words_at(humans[name]) if name in humans else nan
        text = "" if isnan(reached) else "never" if isinf(reached) else f"{reached:.1e}"
        beside = (quoted.get(name, {}).get("LSTM"), quoted.get(name, {}).get("TXL"))
        cells = [or_none(row[key]) for key in ("slope", "se", "low", "high", "n", "sizes")]
        rows.append((name, row["family"], *cells, text, *beside))
    columns = ("category", "family", "slope", "se", "low", "high", "n", "sizes", "words_at_people", "LSTM", "TXL")
    notes = (
        "slope: the gain of accuracy for each doubling of the words of training text, by least squares over n models. "
        "Interval: 95 %, Student's t; models of one corpus share text, so it is too narrow.",
        "words_at_people: where the line reaches what people score on the same published paradigms; far beyond the data it means "
        "little.",
        "LSTM, TXL: the paper's slopes for doublings from 1/8 to 64 million tokens of Wikipedia, transcribed.",
    )
    return Table("Gain for each doubling of the training text", columns, tuple(rows), ("LSTM", "TXL"), notes)


def accuracies(drawn: Drawn) -> dict[str, dict[str, float]]:
    """model -> paradigm -> accuracy."""
    made: dict[str, dict[str, float]] = {}
    for (model, suite), one in drawn.items():
        made.setdefault(model, {})[suite] = one.sample.value
    return made


def numbers(one: Estimate) -> tuple[Cell, ...]:
    """Value, interval and counts, as cells."""
    return one.value, one.low, one.high, one.n, one.ties, one.undefined


def methods(found: Sequence[Estimate]) -> list[str]:
    """How the intervals of some estimates were made, each way once, with what suites of one item do to them."""
    ways = dict.fromkeys(_OVER.sub("", one.method) for one in found)
    shown = list(ways)[:4]
    return [f"Intervals: 95 %, {way}." for way in shown] + (["Ties count as wrong."] if found else [])


def _share(percent: float | None) -> float | None:
    return None if percent is None else round(percent / 100, 3)
