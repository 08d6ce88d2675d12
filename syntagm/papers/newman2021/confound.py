"""What EW and MW of verbs measure beside agreement: words that are also nouns or past tenses, and odd right contexts.

`The officer experience ...` is no agreement error: it can go on as a noun phrase. A model that sees the left side only is
right to give the base form of a verb some probability there if that form is also a noun. Likewise `The officer cut ...`,
where the base form is also a past tense. So lemmas of both kinds are compared with all others, after singular and after plural
subjects apart: if the paper's worry bites, they are lower after singular subjects.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from syntagm import word_list
from syntagm.drawing.table import Cell, Table
from syntagm.papers.newman2021.rows import rows, signatures
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.stats import bootstrap
from syntagm.views.gaps import kept, lemma_groups
from syntagm.views.gaps.estimates import contexts

Runs = Sequence[tuple[str, Run]]
# Tag of the word list -> what its value `yes` says of a lemma.
GROUPS = {"past": "base is also a past tense", "noun": "base is also a noun, no past tense"}
OTHERS = "neither"
EACH = "all, equally"
BAND = "band"


def tags(run: Run) -> tuple[Mapping[str, Mapping[str, str]], str]:
    """What is known of each lemma of a run, and a note where that was taken from the bundled list of verbs.

    The published list knows nothing of its lemmas.
    """
    own = {row.lemma: row.tags for row in kept.words(run).rows}
    if any(row.tags for row in kept.words(run).rows) or kept.words(run).labels != ("singular", "plural"):
        return own, ""
    known = {row.lemma: row.tags for row in word_list.read("verbs").rows}
    found = sum(lemma in known for lemma in own)
    name = kept.words(run).name
    note = f"The list {name} says nothing of its lemmas; {found:,} of {len(own):,} are looked up in the list verbs."
    return {lemma: known.get(lemma, {}) for lemma in own}, note


def lemmas(run: Run, label: str = "") -> tuple[pl.DataFrame, str]:
    """A row a lemma that was asked: its sums over the contexts of a label, or balanced over all, and its tags; and a note."""
    found = kept.lemmas(run)
    of_label = lemma_groups.by_lemma(found.filter(pl.col("label") == label))
    chosen = of_label if label else lemma_groups.balanced(found, kept.words(run).labels)
    known, note = tags(run)
    return lemma_groups.tagged(chosen, known, [*GROUPS, BAND]), note


def confound(runs: Runs) -> Table | None:
    """Lemmas that are also nouns or past tenses against the others, by label; None if no list knows of any."""
    lines: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for name, run in runs:
        for label in (*kept.words(run).labels, ""):
            table, note = lemmas(run, label)
            notes += [] if label or not note else [f"{name}: {note}"]
            for measure in lemma_groups.MEASURES:
                sees = "left" if run.record["model"]["sees"] == "left" else "both sides"
                lines += [
                    (name, sees, label or EACH, measure, *cells) for cells in _groups(table, measure, f"{name}/{label}")
                ]
    if not lines:
        return None
    columns = (
        "model", "sees", "label", "measure", "lemmas that are", "score", "low", "high", "n", "difference", "difference low",
        "difference high", "within bands", "within low", "within high",
    )  # fmt: skip
    said = (
        "equal_weight: mean over lemmas of the share of contexts in which the right form wins; model_weight: share of the "
        "group's mass on right forms, all contexts together. n: lemmas; intervals: 95 %, "
        "bootstrap over lemmas (10,000 draws, seed 1).",
        f"Label {EACH}: each label counts the same, so that what a model gives base forms after any subject cancels out. "
        "Difference: from the lemmas that are neither; within bands: the same among lemmas of the same frequency band, weighed "
        "as the group is spread over the bands.",
        *notes,
        *signatures(runs),
    )  # fmt: skip
    return Table("The confound: base forms that are grammatical for another reason", columns, tuple(lines), (), said)


def _groups(table: pl.DataFrame, measure: str, key: str) -> Iterator[tuple[Cell, ...]]:
    plain = table.filter(pl.all_horizontal(pl.col(tag) != "yes" for tag in GROUPS))
    past = pl.col("past") == "yes"
    parts = {GROUPS["past"]: table.filter(past), GROUPS["noun"]: table.filter(~past & (pl.col("noun") == "yes"))}
    if not any(part.height for part in parts.values()):
        return
    for said, part in ((OTHERS, plain), *parts.items()):
        about = f"{key}/{measure}/{said}"
        found = [lemma_groups.share(part, measure, about)]
        if part is not plain:
            compared = [lemma_groups.difference(part, plain, measure, about, within) for within in ("", BAND)]
            found += [one.difference for one in compared]
        cells = [_shown(one) for one in found] + [(None, None, None)] * (3 - len(found))
        yield said, *cells[0], part.height, *cells[1], *cells[2]


def _shown(one: Estimate) -> tuple[Cell, Cell, Cell]:
    low, value, high = (None if np.isnan(number) else number for number in (one.low, one.value, one.high))
    return value, low, high


def right_contexts(runs: Runs) -> Table | None:
    """EW and MW by what stands right of the blank, of models that see it; None if there is none.

    `The cat [..] tall.` is a context in which hardly any verb fits, and EW counts it like any other.
    """
    lines: list[tuple[Cell, ...]] = []
    seeing = [(name, run) for name, run in runs if run.record["model"]["sees"] == "both"]
    for name, run in seeing:
        table = contexts(run, [suite for suites in rows(run).values() for suite in suites])
        counts = table.group_by("right", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
        for right, count in counts.iter_rows():
            part = table.filter(pl.col("right") == right)
            labels = ", ".join(f"{(part['label'] == label).sum():,} {label}" for label in kept.words(run).labels)
            lines.append((name, right.strip(), count, labels, *_means(part, f"{name}/{right}")))
    if not lines:
        return None
    columns = (
        "model",
        "right of the blank",
        "contexts",
        "of them",
        "EW",
        "EW low",
        "EW high",
        "MW",
        "MW low",
        "MW high",
    )
    notes = (
        "All suites of the run together. Intervals: 95 %, bootstrap over contexts (10,000 draws, seed 1).",
        *signatures(seeing),
    )
    return Table("By right context", columns, tuple(lines), (), notes)


def _means(part: pl.DataFrame, key: str) -> Iterator[Cell]:
    values = part.select("equal_weight", "model_weight").to_numpy()
    for mean, low, high, _ in bootstrap.column_estimates(values, key):
        yield from (None if np.isnan(one) else one for one in (mean, low, high))
