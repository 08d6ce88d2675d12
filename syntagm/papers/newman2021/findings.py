"""The findings of Newman et al. 2021 in other runs: for each, the number that it is about, with its interval and verdict.

A finding holds for a run if the whole interval is on the side of 0 that the paper claims, it does not hold if the whole
interval is on the other side, and otherwise it is inconclusive.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.papers.newman2021 import confound
from syntagm.papers.newman2021.confound import BAND, GROUPS
from syntagm.papers.newman2021.rows import estimate_difference, rows, signatures
from syntagm.result import Estimate, Group
from syntagm.runs.store import Run
from syntagm.stats import interval
from syntagm.views.gaps import kept, lemma_groups

HOLDS, FALSE, OPEN = "holds", "does not hold", "inconclusive"
SHORT = {"equal_weight": "EW", "model_weight": "MW"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding in one run.

    Arguments:
        text: the finding.
        model: the name of the run's model.
        number: what is computed.
        estimate: its value and interval; n counts contexts or lemmas.
        sign: 1 if the finding is that the number is above 0, -1 if it is that it is below.
        concerns: whether the finding is about such models.
    """

    text: str
    model: str
    number: str
    estimate: Estimate
    sign: int
    concerns: bool = True

    @property
    def verdict(self) -> str:
        """Whether the finding holds."""
        low, high = sorted((self.sign * self.estimate.low, self.sign * self.estimate.high))
        return HOLDS if low > 0 else FALSE if high < 0 else OPEN


def of_runs(runs: confound.Runs) -> list[Finding]:
    """Return the findings in each run, finding by finding."""
    found = [finding for name, run in runs for finding in _of_run(name, run)]
    order = list(dict.fromkeys(finding.text for finding in found))
    return sorted(found, key=lambda finding: order.index(finding.text))


def _of_run(name: str, run: Run) -> Iterator[Finding]:
    suites = [suite for of_row in rows(run).values() for suite in of_row]
    group = Group(name)
    yield Finding("MW is above EW", name, "MW - EW, paired by context", estimate_difference(group, run, suites), 1)
    if len(labels := kept.words(run).labels) == 2:
        number = f"EW {labels[1]} - EW {labels[0]}, paired by lemma"
        yield Finding(f"The {labels[1]} form is preferred", name, number, _preference(group, run, labels), 1)
    table, _ = confound.lemmas(run)
    plain = table.filter(pl.all_horizontal(pl.col(tag) != "yes" for tag in GROUPS))
    for tag, text in GROUPS.items():
        only = pl.lit(True) if tag == "past" else pl.col("past") != "yes"
        members = table.filter((pl.col(tag) == "yes") & only)
        for measure in lemma_groups.MEASURES if len(members) and len(plain) else ():
            compared = lemma_groups.difference(members, plain, measure, BAND).difference
            number = f"{SHORT[measure]}: these - neither, within bands, labels alike"
            left = run.record["model"]["sees"] == "left"
            yield Finding(f"{text.capitalize()}: the score is lower", name, number, compared, -1, left)


def _preference(group: Group, run: Run, labels: Sequence[str]) -> Estimate:
    """Estimate by how much more often the second form of a lemma wins where it is correct than the first form does."""
    scored = kept.lemmas(run)
    parts = [
        lemma_groups.by_lemma(scored.filter(pl.col("label") == label))
        .select("row", (pl.col("won") / pl.col("contexts")).alias("share"))
        for label in labels
    ]  # fmt: skip
    joined = parts[0].join(parts[1], on="row", suffix=" of second", maintain_order="left")
    differences = (joined["share of second"] - joined["share"]).to_numpy()
    found = interval.of_numbers(differences, "lemmas")
    value = float(differences.mean()) if len(differences) else float("nan")
    return found.estimate(group, value, len(differences))


def table(runs: confound.Runs) -> Table:
    """Make the table of findings, with a note that counts the verdicts on each."""
    found = of_runs(runs)
    lines: list[tuple[Cell, ...]] = [
        (
            each.text, each.model, each.number,
            *(or_none(number) for number in (each.estimate.value, each.estimate.low, each.estimate.high)),
            each.estimate.n, each.verdict if each.concerns else "not expected",
        )
        for each in found
    ]  # fmt: skip
    columns = ("finding", "model", "number", "value", "low", "high", "n", "verdict")
    notes = (
        f"{HOLDS}: the whole 95 % interval is on the side of 0 that the finding says; {FALSE}: it is on the other side; "
        f"{OPEN}: neither. Intervals: of MW - EW for other contexts, otherwise for other lemmas. n: contexts, or lemmas.",
        "not expected: models that see both sides of the gap know that the base form is no noun and no past tense there.",
        *_counts(found),
        *signatures(runs),
    )
    return Table("Which of the paper's findings hold", columns, tuple(lines), (), notes)


def _counts(found: Sequence[Finding]) -> Iterator[str]:
    """Yield for each finding and number in how many runs it holds."""
    for text, number in dict.fromkeys((each.text, each.number) for each in found):
        verdicts = [
            each.verdict for each in found if each.concerns and (each.text, each.number) == (text, number)
        ]  # fmt: skip
        counts = ", ".join(
            f"{verdict} in {verdicts.count(verdict)}" for verdict in (HOLDS, FALSE, OPEN) if verdict in verdicts
        )
        if verdicts:
            few = "; one run shows nothing about other models" if len(verdicts) == 1 else ""
            yield f"{text} ({number}): {counts} of {len(verdicts)} runs that it is about{few}."
