"""The table of explanations: one row for each number of differences, until nothing more is explained."""

from collections.abc import Sequence
from typing import Annotated

from syntagm.core import UsageError
from syntagm.runs import Run, named
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.explanation.search import Explanation, explain

COLUMNS = ("differences", "convention", "n", "discordant", "explained", "left")
MEANING = (
    "differences: how many have to be assumed; convention: that under which the verdicts of {a} are closest to those of {b} "
    "with so many. discordant: items with other verdicts when both are compared by bits; explained and left: how many of all "
    "items agree then, and how many still don't."
)
_STORED = (
    "What can't be computed from the tokens of {a} is not tried: another start symbol, a blank before the text, case and dtype. "
    "Name the model of {a} (`compare --rescore MODEL`, or `model=`) to try them."
)
_SCORED = "{items:,} of {of:,} items were scored again, all or a sample of those with other verdicts among them."
# Sets of differences of the same number that are named.
_NAMED = 4


def make_table(
    runs: Sequence[Run],
    model: Annotated[
        str, "the model of the first run, to try start and end symbol, dtype, a blank and case, too; default: none"
    ] = "",
) -> Table:
    """Make one row for each number of differences, until nothing more is explained.

    Raises:
        UsageError: there are not two runs, they share no suite that compares two whole sentences, or the model is another
            one.
        RunError: the first run has no surprisals.
        ModelError: the model can't be loaded.
    """
    if len(runs) != 2:
        raise UsageError("explanation", f"{len(runs)} runs", "two: one with surprisals, and another of the same suites")
    (a, first), (b, second) = named(runs)
    found = explain(first, second, model)
    discordant = found.steps[0].left
    rows: list[tuple[Cell, ...]] = [
        (each.differences, _shown(each), found.items, discordant, discordant - each.left, each.left)
        for each in found.steps
    ]
    texts = [MEANING, _SCORED if model else _STORED]
    notes = [" ".join(texts).format(a=a, b=b, items=found.items, of=found.of)]
    if found.refused:
        notes.append(f"Not tried, as the model refuses it: {'; '.join(found.refused)}")
    return Table("Explanation of other verdicts", COLUMNS, tuple(rows), notes=tuple(notes))


def _shown(explanation: Explanation) -> str:
    candidates = [str(each) for each in (explanation.best, *explanation.others)]
    more = f" or {len(candidates) - _NAMED} more" if len(candidates) > _NAMED else ""
    return " or ".join(candidates[:_NAMED]) + more
