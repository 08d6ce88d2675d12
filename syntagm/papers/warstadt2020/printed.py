"""What Warstadt et al. 2020 printed, beside what their data give: every number that can be compared, and where it differs."""

from collections.abc import Iterator, Sequence
from math import nan

import numpy as np
import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.papers.cited import cited
from syntagm.papers.warstadt2020.paradigms import CONTRASTS, published
from syntagm.papers.warstadt2020.raw import PEOPLE, Judgements, won
from syntagm.papers.warstadt2020.tables import Drawn
from syntagm.papers.warstadt2020.tables import numbers as numbers_of
from syntagm.result import Estimate, Group
from syntagm.stats.suite_means import mean

FIRST = "it includes two paradigms that were dropped from the data"
FIRST_GPT2 = f"{FIRST}; and it is of another GPT-2"
OLD_GPT2 = "it is of the first run of GPT-2, and was never corrected"
JUDGED = "it is a round number"
COUNTED = "the authors' summary counts a judgement less, or more, in four paradigms"
Row = tuple[Cell, ...]


def printed(
    means: Sequence[Estimate], correlations: pl.DataFrame, contrasts: Sequence[Estimate], found: Judgements
) -> Table:
    """A row a printed number: what it is about, what the data give, what was printed, and whether the digits are the same.

    Arguments:
        means, contrasts: as `_warstadt2020_tables` makes them.
        correlations: columns as in `stats.correlation.SCHEMA`.
        found: the single judgements; may be empty.
    """
    rows = [*_means(means), *_correlations(correlations), *_contrasts(contrasts), *_people(found)]
    differing = sum(row[-2] == "no" for row in rows)
    notes = (
        f"{differing} of {len(rows)} printed numbers differ from what the published data give.",
        "n and intervals: in table3, table_correlations, table_contrasts and table_people.",
        "Printed: transcribed from " + cited("warstadt2020")["source"],
        "first version: arXiv, December 2019; corrected: the paper in the data repository. Its readers found the differences "
        "(alexwarstadt/blimp, issues 2, 4 and 5).",
    )
    columns = ("what", "system", "computed", "printed", "where", "same", "why not")
    return Table("Printed numbers, and what the data give", columns, tuple(rows), (), notes)


def _row(what: str, system: str, computed: float, text: str, where: str, cause: str = "") -> Row:
    digits = len(text.partition(".")[2])
    # As people round: half a unit of the last digit either way is the same.
    same = abs(computed - float(text)) <= 0.5 * 10.0**-digits + 1e-9
    return what, system, computed, text, where, "yes" if same else "no", "" if same else cause


def _means(found: Sequence[Estimate]) -> Iterator[Row]:
    values = {(one.group["phenomenon"], one.group.model): 100 * one.value for one in found}
    quoted = cited("warstadt2020")
    systems = [(name, PEOPLE if name == "Human" else name) for name in quoted["columns"]]
    for name, ours in systems:
        if ("all", ours) in values:
            cause = FIRST_GPT2 if name == "GPT-2" else FIRST
            text = f"{quoted['first'][name]:.1f}"
            yield _row("mean of all paradigms, %", ours, values["all", ours], text, "first version, Table 3", cause)
    for line in quoted["table3"]:
        for name, ours in systems:
            if (line["phenomenon"], ours) in values:
                what = (
                    f"mean of {line['phenomenon'].replace('_', ' ')}{' paradigms' * (line['phenomenon'] == 'all')}, %"
                )
                computed = values[line["phenomenon"], ours]
                cause = COUNTED if ours == PEOPLE else "not known"
                yield _row(what, ours, computed, f"{line[name]:.1f}", "corrected, Table 3", cause)


def _correlations(table: pl.DataFrame) -> Iterator[Row]:
    kept = table.filter(pl.col("kind") == "Pearson").select("a", "b", "r").iter_rows()
    values = {frozenset((a, b)): r for a, b, r in kept}
    for line in cited("warstadt2020")["correlations"]:
        pair = [PEOPLE if line[side] == "Human" else line[side] for side in ("a", "b")]
        if frozenset(pair) in values:
            cause = OLD_GPT2 if "GPT-2" in pair else "not known"
            where = "both versions, correlations"
            yield _row("Pearson's r", " and ".join(pair), values[frozenset(pair)], f"{line['r']:.2f}", where, cause)


def _contrasts(found: Sequence[Estimate]) -> Iterator[Row]:
    names = {one.said: one.printed for one in CONTRASTS}
    values = {(names[one.group["contrast"]], one.group.model): 100 * one.value for one in found}
    said = {one.printed: one.said for one in CONTRASTS}
    for line in cited("warstadt2020")["contrasts"]:
        if (key := (line["contrast"], line["system"])) in values:
            same = line["least"] - 1e-9 <= values[key] <= line["most"] + 1e-9
            cause = OLD_GPT2 if line["system"] == "GPT-2" else "not known"
            what = f"{said[line['contrast']]}, points of %"
            yield (
                what,
                line["system"],
                values[key],
                line["words"],
                "text",
                "yes" if same else "no",
                "" if same else cause,
            )


def _people(found: Judgements) -> Iterator[Row]:
    if not (counts := [one for suite, one in won(found).items() if suite in published()]):
        return
    right, tied, pairs, judged = (sum(column) for column in zip(*counts, strict=True))
    yield _row("pairs that a majority got right, %", PEOPLE, 100 * right / pairs, "96.4", "both versions", "not known")
    yield (
        f"the same with the {tied} ties as won, %",
        PEOPLE,
        100 * (right + tied) / pairs,
        "",
        "",
        "",
        "ties count as lost",
    )
    yield _row("judgements", PEOPLE, float(judged), "6700", "both versions", JUDGED)


def people_table(drawn: Drawn, found: Judgements) -> Table:
    """What people said of each paradigm, those that were dropped for it included."""
    counts = won(found)
    rows: list[tuple[Cell, ...]] = []
    kept = [one for suite, one in counts.items() if suite in published()]
    for suite, (right, tied, pairs, judged) in sorted(counts.items()):
        one = drawn.get((PEOPLE, suite))
        numbers = numbers_of(mean([one], Group()))[:3] if one else (None,) * 3
        rows.append((suite, "kept" if suite in published() else "dropped", *numbers, pairs, right, tied, judged))
    columns = ("paradigm", "data", "agreement", "low", "high", "n", "won", "tied", "judgements")
    notes = (
        "agreement: the mean over n pairs of the share of people who chose the good sentence; 95 % interval: pairs drawn anew.",
        "won: by a majority; a tie is lost. A paradigm was kept if four of its five pairs were won.",
        f"{sum(one[0] for one in kept)} of {sum(one[2] for one in kept)} pairs of the paradigms that were kept are won.",
    )  # fmt: skip
    return Table("What people say", columns, tuple(rows), (), notes)


def differing(found: Judgements, counted: dict[str, tuple[int, float, int]]) -> list[str]:
    """The paradigms whose summary by the authors is not what the single judgements give."""
    made, counts = [], won(found)
    for suite, (right, agreement, judged) in counted.items():
        ours = counts.get(suite, (0, 0, 0, 0))
        rate = float(np.mean([np.mean(one) for one in found[suite].values()])) if suite in found else nan
        if (ours[0], ours[3]) != (right, judged) or abs(rate - agreement) > 1e-9:
            made.append(suite)
    return made
