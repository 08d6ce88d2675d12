"""The table of effects: one row for each comparison and model, or for each comparison and pair of models."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated

from syntagm.core import UsageError
from syntagm.runs import Run, named
from syntagm.stats import interval
from syntagm.views.comparison import letters, shared_suites
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.effects.numbers import (
    Effect,
    Measure,
    Suite,
    all_effects,
    between,
    contrast,
    limits,
    nothing,
    several,
)

COLUMNS = ("model", "suite", "measure", "n", "effect_bits", "low", "high", "d", "undefined", "comparison", "contrast")
OF_PAIRS = ("A", "B", *COLUMNS[1:4], "effect A", "effect B", "B - A", *COLUMNS[5:])
SIGN = (
    "A positive effect supports the prediction: for a < b the effect is b - a, for a > b it is a - b. For a = b it is a - b, "
    "and 0 supports the prediction."
)


def make_table(
    runs: Sequence[Run],
    suite: Suite = "",
    measure: Measure = "each",
    paired: Annotated[bool, "differences between models within items, B - A, instead of effects"] = False,
) -> Table:
    """Make one row for each comparison and model; if `paired`, one for each comparison and pair of models.

    Raises:
        UsageError: there is no such suite or prediction, or there are fewer than two runs to pair.
        RunError: a run has no sentences, or two runs to pair have no suite in common.
    """
    if paired:
        return _table_of_pairs(runs, suite, measure)
    found = list(all_effects(runs, suite, measure))
    rows = tuple((*_keys(effect), *_numbers(effect), *_rest(effect)) for effect in found)
    notes = (*_notes("of the item differences"), *limits(found), *_reasons(found))
    narrow = (*COLUMNS[:2], *_told_apart(found), *COLUMNS[3:8], "contrast")
    return Table("Effects", COLUMNS, rows, notes=notes, narrow=narrow)


def _table_of_pairs(runs: Sequence[Run], suite: str, measure: str) -> Table:
    if len(runs) < 2:
        raise UsageError("paired=", "one run", "two or more runs")
    rows: list[tuple[Cell, ...]] = []
    changes: list[Effect] = []
    skipped: list[str] = []
    for (a, first), (b, second) in combinations(named(runs), 2):
        shared, reasons = shared_suites(first, second)
        skipped += [note for reason in reasons if (note := f"Skipped: {reason}.") not in skipped]
        for name in shared:
            for of_a, of_b, change in between(first, second, name, measure) if suite in ("", name) else ():
                sides = (of_a.estimate.value, of_b.estimate.value)
                keys = (name, change.estimate.group.measure, change.estimate.n)
                rows.append((a, b, *keys, *map(or_none, sides), *_numbers(change), *_rest(change)))
                changes.append(change)
    if not rows:
        raise nothing(suite, measure)
    notes = (
        *letters(runs),
        *_notes("of the item differences B - A"),
        *limits(changes),
        "Only items that are defined under both models count.",
        *_reasons(changes),
        *skipped,
    )
    narrow = (*(OF_PAIRS[:2] if len(runs) > 2 else ()), "suite", *_told_apart(changes), *OF_PAIRS[4:11], "contrast")
    return Table("Effects compared", OF_PAIRS, tuple(rows), notes=notes, narrow=narrow)


def _notes(deviation: str) -> tuple[str, ...]:
    return (
        "Means over items, in bits; each difference is within an item. d: the mean divided by the standard deviation "
        f"{deviation}. contrast: the effect as a difference of conditions.",
        SIGN,
        f"low, high: 95% interval, {interval.OF_NUMBERS}.",
    )


def _told_apart(estimated: Sequence[Effect]) -> tuple[str, ...]:
    return ("measure",) if several(estimated) else ()


def _reasons(estimated: Sequence[Effect]) -> tuple[str, ...]:
    """Say why intervals and values of d are missing, if any are."""
    counts = Counter(reason for effect in estimated if (reason := effect.missing))
    return tuple(
        f"{reason[0].upper()}{reason[1:]}, in {count} of {len(estimated)} rows." for reason, count in counts.items()
    )


def _keys(effect: Effect) -> tuple[Cell, ...]:
    group = effect.estimate.group
    return (group.model, group.suite, group.measure, effect.estimate.n)


def _numbers(effect: Effect) -> Iterator[Cell]:
    return map(or_none, (*effect.estimate.numbers[:3], effect.d))


def _rest(effect: Effect) -> tuple[Cell, ...]:
    return (effect.estimate.undefined, str(effect.comparison), contrast(effect.comparison))
