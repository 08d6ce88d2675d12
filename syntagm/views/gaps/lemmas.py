"""Equal weight and model weight by tags of the lemmas, such as frequency band or transitivity.

The numbers of a lemma are sums over contexts. Intervals are for other lemmas in the same contexts:

    equal_weight    mean over lemmas of the proportion of contexts in which the correct form is more probable
    model_weight    probability of correct forms, summed over lemmas and contexts, divided by that of all forms
"""

from collections.abc import Sequence

import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import Estimate, Group
from syntagm.runs import Run
from syntagm.views.gaps import kept, lemma_groups

_TAKEN = ("label", "row", "lemma", "contexts", "won", "right", "wrong", "model", "measure")
_TAG = "tag:"


def table(run: Run, suites: Sequence[str] = ()) -> pl.DataFrame:
    """Sum over the contexts of suites; return one row for each label and lemma, with the tags of the word list."""
    # Columns: label, row, lemma, contexts, won, right, wrong as in `kept.lemmas`, then the tags, named by `column`. A
    # context that several suites share counts in each of them.
    lemmas = pl.concat([kept.lemmas(run, name) for name in suites or [suite.name for suite in run.suites]])
    keys = ("label", "row", "lemma")
    summed = lemmas.group_by(keys, maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    rows = kept.words(run).rows
    tags = {column(name): [row.tags.get(name, "") for row in rows] for name in _tags(run)}
    listed = pl.DataFrame({"row": range(len(rows)), **tags}, schema_overrides={"row": pl.Int32})
    return summed.join(listed, on="row", maintain_order="left")


def column(tag: str) -> str:
    """Return the column name of a tag: the tag itself, or `tag:NAME` if a column of the table has that name.

    >>> column("band"), column("right")
    ('band', 'tag:right')
    """
    # Tags that begin with the prefix get it twice, so that names are unique.
    return _TAG + tag if tag in _TAKEN or tag.startswith(_TAG) else tag


def _tags(run: Run) -> list[str]:
    return list(dict.fromkeys(tag for row in kept.words(run).rows for tag in row.tags))


def by_tag(run: Run, tag: str, suites: Sequence[str] = ()) -> list[Estimate]:
    """Compute equal weight and model weight of the lemmas with each value of a tag, over all labels."""
    if tag not in _tags(run):
        known = ", ".join(_tags(run)) or "a word list with tags"
        raise UsageError(f"word list {kept.words(run).name}", f"no tag {tag!r}", known)
    rows, name = table(run, suites), column(tag)
    summed = rows.group_by(name, "row", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    values = sorted(summed[name].unique().to_list())
    return [
        lemma_groups.share(
            summed.filter(pl.col(name) == value), measure, Group(run.model, measure=measure, labels=((name, value),))
        )
        for value in values
        for measure in lemma_groups.MEASURES
    ]
