"""The printed numbers of Warstadt et al. 2020, compared with those computed from their data."""

from collections.abc import Iterator, Sequence
from math import nan

import numpy as np
import polars as pl

from syntagm.evaluation import Estimate, Group
from syntagm.papers.paper import cited
from syntagm.papers.warstadt2020.paradigms import CONTRASTS, published
from syntagm.papers.warstadt2020.raw import PEOPLE, Judgements, count_wins
from syntagm.papers.warstadt2020.tables import Samples
from syntagm.stats import mean
from syntagm.views import Cell, Table

FIRST = "the printed number includes two paradigms that were dropped from the data"
FIRST_GPT2 = f"{FIRST}, and is that of another GPT-2"
OLD_GPT2 = "the printed number is that of the first run of GPT-2 and was not corrected"
JUDGED = "the printed number is rounded"
COUNTED = "the authors' summary counts a judgement less, or more, in four paradigms"
Row = tuple[Cell, ...]


def printed(
    means: Sequence[Estimate], correlations: pl.DataFrame, contrasts: Sequence[Estimate], judgements: Judgements
) -> Table:
    """Make the table of printed and computed numbers, with whether they are the same when rounded."""
    rows = [*_means(means), *_correlations(correlations), *_contrasts(contrasts), *_people(judgements)]
    differing = sum(row[-2] == "no" for row in rows)
    notes = (
        f"{differing} of {len(rows)} printed numbers differ from those computed from the published data.",
        "n and intervals: see table3, table_correlations, table_contrasts and table_people.",
        "Printed: transcribed from " + cited("warstadt2020")["source"],
        "Remarks on the publication are not computed: they say what its authors and readers reported about a printed number.",
        "first version: arXiv, December 2019; corrected: the paper in the data repository. Readers reported the differences "
        "(alexwarstadt/blimp, issues 2, 4 and 5).",
    )
    columns = ("what", "system", "computed", "printed", "where", "same", "remark on the publication")
    return Table("Printed numbers, and what the data give", columns, tuple(rows), (), notes)


def _row(what: str, system: str, computed: float, text: str, where: str, cause: str = "") -> Row:
    digits = len(text.partition(".")[2])
    # A number is the same if it is within half a unit of the last printed digit, however halves are rounded.
    same = abs(computed - float(text)) <= 0.5 * 10.0**-digits + 1e-9
    return what, system, computed, text, where, "yes" if same else "no", "" if same else cause


def _means(means: Sequence[Estimate]) -> Iterator[Row]:
    values = {(mean.group["phenomenon"], mean.group.model): 100 * mean.value for mean in means}
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
    pearson = table.filter(pl.col("kind") == "Pearson").select("a", "b", "r").iter_rows()
    values = {frozenset((a, b)): r for a, b, r in pearson}
    for line in cited("warstadt2020")["correlations"]:
        pair = [PEOPLE if line[side] == "Human" else line[side] for side in ("a", "b")]
        if frozenset(pair) in values:
            cause = OLD_GPT2 if "GPT-2" in pair else "not known"
            where = "both versions, correlations"
            yield _row("Pearson's r", " and ".join(pair), values[frozenset(pair)], f"{line['r']:.2f}", where, cause)


def _contrasts(estimates: Sequence[Estimate]) -> Iterator[Row]:
    names = {contrast.description: contrast.printed for contrast in CONTRASTS}
    values = {(names[each.group["contrast"]], each.group.model): 100 * each.value for each in estimates}
    descriptions = {contrast.printed: contrast.description for contrast in CONTRASTS}
    for line in cited("warstadt2020")["contrasts"]:
        if (key := (line["contrast"], line["system"])) in values:
            same = line["least"] - 1e-9 <= values[key] <= line["most"] + 1e-9
            cause = OLD_GPT2 if line["system"] == "GPT-2" else "not known"
            what = f"{descriptions[line['contrast']]}, percentage points"
            yield (
                what,
                line["system"],
                values[key],
                line["words"],
                "text",
                "yes" if same else "no",
                "" if same else cause,
            )


def _people(judgements: Judgements) -> Iterator[Row]:
    if not (counts := [count for suite, count in count_wins(judgements).items() if suite in published()]):
        return
    right, tied, pairs, judged = (sum(column) for column in zip(*counts, strict=True))
    validation = cited("warstadt2020")["validation"]
    yield _row(
        "pairs that a majority judged correctly, %",
        PEOPLE,
        100 * right / pairs,
        f"{validation['majority']:.1f}",
        "both versions",
        "not known",
    )
    yield (
        f"the same if the {tied} ties count as won, %",
        PEOPLE,
        100 * (right + tied) / pairs,
        "",
        "",
        "",
        "ties count as lost",
    )
    yield _row("judgements", PEOPLE, float(judged), str(validation["judgements"]), "both versions", JUDGED)


def people_table(samples: Samples, judgements: Judgements) -> Table:
    """Make the table of human judgements by paradigm, including the paradigms dropped because of these judgements."""
    counts = count_wins(judgements)
    rows: list[tuple[Cell, ...]] = []
    kept = [count for suite, count in counts.items() if suite in published()]
    for suite, (right, tied, pairs, judged) in sorted(counts.items()):
        sample = samples.get((PEOPLE, suite))
        numbers = mean([sample], Group()).numbers[:3] if sample else (None,) * 3
        rows.append((suite, "kept" if suite in published() else "dropped", *numbers, pairs, right, tied, judged))
    columns = ("paradigm", "data", "agreement", "low", "high", "n", "won", "tied", "judgements")
    notes = (
        "agreement: the mean over n pairs of the share of people who chose the good sentence; 95 % interval: for other "
        "pairs.",
        "won: by a majority; a tie is lost. A paradigm was kept if four of its five pairs were won.",
        f"{sum(count[0] for count in kept)} of {sum(count[2] for count in kept)} pairs of the kept paradigms are won.",
    )  # fmt: skip
    return Table("Human judgements", columns, tuple(rows), (), notes)


def differing(judgements: Judgements, counted: dict[str, tuple[int, float, int]]) -> list[str]:
    """List the paradigms where the authors' summary differs from the individual judgements."""
    paradigms, counts = [], count_wins(judgements)
    for suite, (right, agreement, judged) in counted.items():
        ours = counts.get(suite, (0, 0, 0, 0))
        rate = nan
        if suite in judgements:
            rate = float(np.mean([np.mean(choices) for choices in judgements[suite].values()]))
        if (ours[0], ours[3]) != (right, judged) or abs(rate - agreement) > 1e-9:
            paradigms.append(suite)
    return paradigms
