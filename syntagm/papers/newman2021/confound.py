"""Confounds of EW and MW for verbs: base forms that are also nouns or past tenses, and unusual right contexts.

`The officer experience ...` need not be an agreement error: it can continue as a noun phrase. If the base form of a
verb is also a noun, a model that sees only the left context is right to give the form some probability there. The same
holds for `The officer cut ...`, where the base form is also a past tense. So lemmas of both kinds are compared with all
others, separately after singular and plural subjects. If the confound matters, these lemmas score lower after singular
subjects.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from syntagm.evaluation import Estimate, Kind
from syntagm.papers.newman2021.rows import rows, signatures
from syntagm.runs import Run
from syntagm.stats import interval
from syntagm.suites import read_word_list
from syntagm.views import Cell, Table, gaps

Runs = Sequence[tuple[str, Run]]
# Tag of the word list -> meaning of its value `yes`.
GROUPS = {"past": "base is also a past tense", "noun": "base is also a noun, no past tense"}
OTHERS = "neither"
EACH = "all, equally"
BAND = "band"


def tags(run: Run) -> tuple[Mapping[str, Mapping[str, str]], str]:
    """Return the tags of each lemma of a run, and a note if they come from the bundled list of verbs."""
    # The published list has no tags.
    own = {row.lemma: row.tags for row in gaps.words(run).rows}
    if any(row.tags for row in gaps.words(run).rows) or gaps.words(run).labels != ("singular", "plural"):
        return own, ""
    known = {row.lemma: row.tags for row in read_word_list("verbs").rows}
    matches = sum(lemma in known for lemma in own)
    name = gaps.words(run).name
    note = f"The list {name} has no tags; those of {matches:,} of {len(own):,} lemmas come from the list verbs."
    return {lemma: known.get(lemma, {}) for lemma in own}, note


def lemmas(run: Run, label: str = "") -> tuple[pl.DataFrame, str]:
    """Return a table with one row for each scored lemma of a run, and a note about the lemmas' tags."""
    # Each row has a lemma's tags and its summed scores. The sums are over the contexts labelled `label`; if `label` is
    # empty, they are over all contexts, with equal weight for each label.
    scored = gaps.lemma_sums(run)
    of_label = gaps.by_lemma(scored.filter(pl.col("label") == label))
    chosen = of_label if label else gaps.balance_labels(scored, gaps.words(run).labels)
    known, note = tags(run)
    return gaps.add_tags(chosen, known, [*GROUPS, BAND]), note


def confound(runs: Runs) -> Table | None:
    """Compare lemmas that are also nouns or past tenses with the others, by label; None if no lemma has such a tag."""
    lines: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for name, run in runs:
        for label in (*gaps.words(run).labels, ""):
            table, note = lemmas(run, label)
            notes += [] if label or not note else [f"{name}: {note}"]
            for measure in gaps.LEMMA_MEASURES:
                sees = "left" if run.record["model"]["sees"] == "left" else "both sides"
                lines += [(name, sees, label or EACH, measure, *cells) for cells in _groups(table, measure)]
    if not lines:
        return None
    columns = (
        "model", "sees", "label", "measure", "lemmas that are", "score", "low", "high", "n", "difference", "difference low",
        "difference high", "within bands", "within low", "within high",
    )  # fmt: skip
    explanations = (
        "equal_weight: mean over lemmas of the share of contexts in which the correct form is more probable; model_weight: "
        "share of the group's probability mass that is on correct forms, over all contexts. n: lemmas; intervals: 95 %, "
        "for other lemmas in the same contexts.",
        f"Label {EACH}: all labels have equal weight, so a model's general preference for base forms cancels out. "
        "difference: from the lemmas that are neither; within: the same among lemmas of one frequency band, with the bands "
        "weighted as in the group.",
        *notes,
        *signatures(runs),
    )  # fmt: skip
    return Table(
        "The confound: base forms that are grammatical for another reason", columns, tuple(lines), (), explanations
    )


def _groups(table: pl.DataFrame, measure: str) -> Iterator[tuple[Cell, ...]]:
    plain = table.filter(pl.all_horizontal(pl.col(tag) != "yes" for tag in GROUPS))
    past = pl.col("past") == "yes"
    groups = {GROUPS["past"]: table.filter(past), GROUPS["noun"]: table.filter(~past & (pl.col("noun") == "yes"))}
    if not any(group.height for group in groups.values()):
        return
    for name, group in ((OTHERS, plain), *groups.items()):
        estimates = [gaps.lemma_share(group, measure)]
        if group is not plain:
            compared = [gaps.lemma_difference(group, plain, measure, within) for within in ("", BAND)]
            estimates += [comparison.difference for comparison in compared]
        cells = [_shown(comparison) for comparison in estimates] + [(None, None, None)] * (3 - len(estimates))
        yield name, *cells[0], group.height, *cells[1], *cells[2]


def _shown(estimate: Estimate) -> tuple[Cell, Cell, Cell]:
    low, value, high = (
        None if np.isnan(number) else number for number in (estimate.low, estimate.value, estimate.high)
    )
    return value, low, high


def right_contexts(runs: Runs) -> Table | None:
    """Make the table of EW and MW by the text to the right of the gap, for models that see it; None if there are none."""
    # `The cat [..] tall.` is a context in which hardly any verb fits, but EW counts it like any other.
    lines: list[tuple[Cell, ...]] = []
    seeing = [(name, run) for name, run in runs if run.record["model"]["sees"] == "both"]
    for name, run in seeing:
        table = gaps.distinct_contexts(run, [suite for suites in rows(run).values() for suite in suites])
        counts = table.group_by("right", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
        for right, count in counts.iter_rows():
            matching = table.filter(pl.col("right") == right)
            labels = ", ".join(f"{(matching['label'] == label).sum():,} {label}" for label in gaps.words(run).labels)
            lines.append((name, right.strip(), count, labels, *_means(matching)))
    if not lines:
        return None
    columns = ("model", "right of the gap", "contexts", "of them", "EW", "EW low", "EW high", "MW", "MW low", "MW high")
    notes = ("All suites of the run together. Intervals: 95 %, for other contexts.", *signatures(seeing))
    return Table("By right context", columns, tuple(lines), (), notes)


def _means(table: pl.DataFrame) -> Iterator[Cell]:
    values = table.select("equal_weight", "model_weight").to_numpy()
    for mean, found, _ in interval.of_columns(values, Kind.SHARE, "contexts"):
        yield from (None if np.isnan(number) else number for number in (mean, found.low, found.high))
