"""BLiMP's validation by people (Warstadt et al. 2020, section 4.4), repeated with people of one's own, beside the paper's.

A pair is won if most people choose the good sentence, and a paradigm is accepted if four of its five pairs are won. With
another number of pairs, four fifths of them must be.
"""

from collections.abc import Sequence
from math import ceil, nan

from syntagm.evaluation import Kind
from syntagm.papers import people
from syntagm.papers.cited import cited
from syntagm.papers.warstadt2020.paradigms import Paradigm
from syntagm.papers.warstadt2020.tables import Known
from syntagm.runs import Run
from syntagm.stats import Key, Sample, score
from syntagm.views import Cell, Table, agreement_over, or_none

# The share of the pairs of an accepted paradigm that are won.
_ACCEPTED = 4 / 5
PEOPLE, WON, JUDGEMENTS = "people (paper)", "won (paper)", "judgements (paper)"


def samples_of_people(name: str, run: Run) -> dict[Key, Sample]:
    """Return the share of people who chose the good sentence of each pair: (name, paradigm) -> sample."""
    return {
        (name, suite.name): score.of_values(suite.name, Kind.SHARE, people.rates(run, suite.name)["rate"])
        for suite in run.suites
    }


def validation(groups: Sequence[tuple[str, Run]], known: Known) -> dict[str, Table]:
    """Make the table of the validation by paradigm, and that of the numbers over all paradigms."""
    printed = {row["paradigm"]: row for row in cited("warstadt2020")["paradigms"]}
    numbers = cited("warstadt2020")["validation"]
    rows: list[tuple[Cell, ...]] = []
    totals: list[tuple[Cell, ...]] = []
    for name, run in groups:
        kept = judgements = 0
        for suite in sorted(run.suites, key=lambda suite: (known[suite.name].phenomenon, suite.name)):
            found = agreement_over(run, [suite], name, suite.name)
            accepted = found.won >= ceil(_ACCEPTED * found.majority.n) and found.majority.n > 0
            kept, judgements = kept + accepted, judgements + found.answers
            theirs = printed.get(suite.name, {})
            rows.append((
                known[suite.name].phenomenon, suite.name, name, *people.cells(found), "yes" if accepted else "no",
                found.people, found.answers, _human(known[suite.name]), theirs.get("won"), theirs.get("judgements"),
            ))  # fmt: skip
        everything = agreement_over(run, run.suites, name, "all")
        total, individual = everything.majority, everything.individual
        complete = {suite.name for suite in run.suites} == printed.keys()
        share = (None, None, None) if individual is None else (individual.value, individual.low, individual.high)
        won = everything.won / total.n if total.n else nan
        lines: list[tuple[str, Cell, Cell, Cell, int, float]] = [
            ("pairs that a majority judged as predicted, %", *_percent(won, total.low, total.high), total.n,
             numbers["majority"]),
            ("single judgements as predicted, mean of paradigms, %", *_percent(*share), judgements,
             numbers["individual"]),
            ("accepted paradigms", kept, None, None, len(run.suites), numbers["kept"]),
            ("judgements", judgements, None, None, len(run.suites), numbers["judgements"]),
        ]  # fmt: skip
        totals += [(what, name, *cells, published if complete else None) for what, *cells, published in lines]
    source = (
        f"{PEOPLE}, {WON}, {JUDGEMENTS}: of the published pairs, transcribed from {cited('warstadt2020')['source']}"
    )
    columns = (
        "category",
        "paradigm",
        "model",
        *people.COLUMNS,
        "accepted",
        "people",
        "judgements",
        PEOPLE,
        WON,
        JUDGEMENTS,
    )
    rule = "accepted: at least four fifths of the pairs are won, as four of five are in the paper."
    groups_notes = [line for name, run in groups for line in people.about(run, name)]
    by_paradigm = Table(
        "People, by paradigm",
        columns,
        tuple(rows),
        (PEOPLE, WON, JUDGEMENTS),
        (*people.NOTES, rule, source, *groups_notes),
    )
    notes = (
        "n: pairs, judgements, or paradigms. Intervals: 95 %, of pairs for other pairs, of judgements for other people and other "
        "pairs.",
        f"paper: its {numbers['kept']} published paradigms; {numbers['tested']} were tested. It is shown beside people who saw "
        "all of these paradigms.",
        *groups_notes,
    )
    over_all = Table(
        "Validation by people", ("what", "model", "ours", "low", "high", "n", "paper"), tuple(totals), ("paper",), notes
    )
    return {"table_people": by_paradigm, "table_validation": over_all}


def _human(paradigm: Paradigm) -> Cell:
    return or_none(paradigm.human)


def _percent(*shares: float | None) -> tuple[Cell, ...]:
    return tuple(None if share is None else or_none(100 * share) for share in shares)
