"""Equal weight and model weight by what is known of the lemmas: frequency band, transitivity, also a noun or not.

A lemma's own numbers are sums over contexts, so intervals come from drawing lemmas, not contexts:

    equal_weight    the mean over lemmas of the share of contexts in which the right form is the likelier one
    model_weight    the probability of right forms, summed over lemmas and contexts, divided by that of all forms
"""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from syntagm.analysis import interval, redrawn
from syntagm.blanks.run import FillRun
from syntagm.errors import UsageError
from syntagm.result import Estimate

METHOD = interval.METHOD.replace("items", "lemmas")


def table(run: FillRun, suites: Sequence[str] = ()) -> pl.DataFrame:
    """A row a label and lemma, summed over the contexts of some suites, or of all; with the tags of the word list.

    Columns: label, row, lemma, contexts, won, right, wrong as in `FillRun.lemmas`, then the tags. A context that several
    suites have counts in each.
    """
    found = pl.concat([run.lemmas(name) for name in suites or [suite.name for suite in run.suites]])
    keys = ("label", "row", "lemma")
    summed = found.group_by(keys, maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    rows = run.words.rows
    tags = {
        name: [row.tags.get(name, "") for row in rows]
        for name in dict.fromkeys(tag for row in rows for tag in row.tags)
    }
    listed = pl.DataFrame({"row": range(len(rows)), **tags}, schema_overrides={"row": pl.Int32})
    return summed.join(listed, on="row", maintain_order="left")


def by_tag(run: FillRun, tag: str, suites: Sequence[str] = ()) -> list[Estimate]:
    """The two weights of the lemmas with each value of a tag, both labels together.

    Arguments:
        tag: a column of the word list, e.g. "band".
        suites: over the contexts of these; of all by default.

    Returns:
        Groups are {"model", tag, "measure"}, values in sorted order; n counts lemmas.

    Raises:
        UsageError: the list has no such tag.
    """
    rows = table(run, suites)
    known = rows.columns[7:]
    if tag not in known:
        raise UsageError(f"word list {run.words.name}", f"no tag {tag!r}", ", ".join(known) or "a list with tags")
    summed = rows.group_by(tag, "row", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    values = sorted(summed[tag].unique().to_list())
    return [one for value in values for one in _weights(run, tag, value, summed.filter(pl.col(tag) == value))]


def _weights(run: FillRun, tag: str, value: str, rows: pl.DataFrame) -> Iterator[Estimate]:
    won = (rows["won"] / rows["contexts"]).to_numpy()
    right = rows["right"].to_numpy()
    every = right + rows["wrong"].to_numpy()
    drawn = redrawn.means(np.column_stack([won, right, every]), f"{tag}={value}")
    numbers = {
        "equal_weight": (float(won.mean()), drawn[:, 0]),
        "model_weight": (float(right.sum() / every.sum()) if every.sum() > 0 else np.nan, drawn[:, 1] / drawn[:, 2]),
    }
    for name, (number, draws) in numbers.items():
        group = {"model": run.model, tag: value, "measure": name}
        method = interval.remark(METHOD, {value: len(rows)})
        yield Estimate(group, number, *interval.interval(draws), len(rows), method)
