"""The findings of Newman et al. 2021 in other runs: for each, the number that it is about, with its interval and verdict.

A finding is one that the paper states, and the range of its number is the paper's direction (`stats.verdict`). Each number
is a difference, paired by context, over all contexts of the run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isclose

from syntagm.evaluation import Cut, Estimate, Group
from syntagm.papers.newman2021.rows import cut_offs, estimate_difference, rows, signatures, with_tse
from syntagm.papers.paper import cited
from syntagm.runs import Run
from syntagm.stats import FALSE, HOLDS, OPEN, Range
from syntagm.views import Cell, Table, or_none

Runs = Sequence[tuple[str, Run]]
ABOVE, BELOW = Range(low=0.0), Range(high=0.0)
SHORT = {"model_weight": "MW", "equal_weight": "EW", "tse": "TSE"}
# Finding, where it stands in the paper, the two columns that are compared, and the claimed range of their difference.
MEASURES = (
    ("TSE overestimates systematicity: EW is below TSE", "abstract", "equal_weight", "tse", BELOW),
    ("TSE is below likely behaviour in some constructions: MW is above TSE", "", "model_weight", "tse", ABOVE),
    ("Models are better at verbs that they find likely: MW is above EW", "section 1", "model_weight", "equal_weight", ABOVE),
)  # fmt: skip
LIKELY = "Likely verbs are conjugated better than unlikely ones"
PLACE_OF_LIKELY = "abstract; Figures 1 and 2"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding in one run."""

    text: str  # the finding
    place: str  # where it stands in the paper, and in how many cells of Table 2 the numbers there agree with it
    model: str  # the name of the run's model
    number: str  # what is computed
    estimate: Estimate  # its value and interval; n counts contexts
    claimed: Range  # the range in which the paper says that the number is

    @property
    def verdict(self) -> str:
        """Whether the finding holds."""
        return self.claimed.verdict(self.estimate.low, self.estimate.high)


def of_runs(runs: Runs) -> list[Finding]:
    """Return the findings in each run, finding by finding."""
    found = [finding for name, run in runs for finding in _of_run(name, run)]
    order = list(dict.fromkeys(finding.text for finding in found))
    return sorted(found, key=lambda finding: order.index(finding.text))


def _of_run(name: str, run: Run) -> Iterator[Finding]:
    table = with_tse(run, [suite for of_row in rows(run).values() for suite in of_row])
    for text, place, first, second, claimed in MEASURES:
        estimate = estimate_difference(Group(name), table, first, second)
        places = "; ".join(filter(None, (place, _in_table_2(first, second, claimed))))
        yield Finding(text, places, name, f"{SHORT[first]} - {SHORT[second]}", estimate, claimed)
    for measure, (top, bottom) in product(("equal_weight", "model_weight"), halves(run)):
        estimate = estimate_difference(Group(name), table, f"{measure}{top}", f"{measure}{bottom}")
        number = f"{SHORT[measure]}, top {top.top:g} - bottom {bottom.bottom:g}"
        yield Finding(LIKELY, PLACE_OF_LIKELY, name, number, estimate, ABOVE)


def _in_table_2(first: str, second: str, claimed: Range) -> str:
    """Say in how many cells of the paper's Table 2 the difference of two measures has the claimed sign."""
    columns, table = cited("newman2021")["columns"], cited("newman2021")["table2"]
    cells = [dict(zip(SHORT, line[model], strict=True)) for line in table for model in columns]
    agreeing = sum(claimed.low < cell[first] - cell[second] < claimed.high for cell in cells)
    return f"Table 2, {agreeing} of {len(cells)} cells"


def halves(run: Run) -> list[tuple[Cut, Cut]]:
    """Return the pairs of a top and a bottom cut-off of a run that together make up the whole probability mass."""
    tops, bottoms = ([cut for cut in cut_offs(run) if getattr(cut, end) < 1] for end in ("top", "bottom"))
    return [(top, bottom) for top, bottom in product(tops, bottoms) if isclose(top.top + bottom.bottom, 1)]


def table(runs: Runs) -> Table:
    """Make the table of findings, with a note that counts the verdicts on each."""
    found = of_runs(runs)
    lines: list[tuple[Cell, ...]] = [
        (
            each.text, each.place, each.model, each.number, *map(or_none, each.estimate.numbers[:3]), each.estimate.n,
            str(each.claimed), each.verdict,
        )
        for each in found
    ]  # fmt: skip
    columns = ("finding", "in the paper", "model", "number", "value", "low", "high", "n", "claimed", "verdict")
    without = [name for name, run in runs if not halves(run)]
    notes = (
        f"{HOLDS}: the whole 95 % interval is in the claimed range; {FALSE}: it is outside; {OPEN}: neither.",
        "Numbers are means over contexts, of differences in the same context; TSE of a context: the mean over its items. n: "
        "contexts in which both numbers are defined. Intervals: for other contexts with the same words.",
        "in the paper: where the finding stands; in how many cells of Table 2 (models and constructions) the numbers agree with "
        "it. Table 2 compares the means of all contexts and items.",
        f"{LIKELY}: verbs within the most probable tokens (top) against those within the others (bottom), where the two "
        "cut-offs together make up the whole probability mass; single tokens only.",
        *([f"{LIKELY}: not tested for {', '.join(without)}, filled without such cut-offs, as `syntagm fill ... --top 0.5 "
           "--bottom 0.5` has them."] if without else []),
        *_counts(found),
        *signatures(runs),
    )  # fmt: skip
    return Table("Which of the paper's findings hold", columns, tuple(lines), (), notes)


def _counts(found: Sequence[Finding]) -> Iterator[str]:
    """Yield for each finding and number in how many runs it holds."""
    for text, number in dict.fromkeys((each.text, each.number) for each in found):
        verdicts = [each.verdict for each in found if (each.text, each.number) == (text, number)]
        counts = ", ".join(
            f"{verdict} in {verdicts.count(verdict)}" for verdict in (HOLDS, FALSE, OPEN) if verdict in verdicts
        )
        few = "; one run shows nothing about other models" if len(verdicts) == 1 else ""
        yield f"{text} ({number}): {counts} of {len(verdicts)} runs{few}."
