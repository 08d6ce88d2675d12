"""Equal weight and model weight by what is known of the lemmas: frequency band, transitivity, also a noun or not.

A lemma's own numbers are sums over contexts, so intervals come from drawing lemmas, not contexts:

    equal_weight    the mean over lemmas of the share of contexts in which the right form is the likelier one
    model_weight    the probability of right forms, summed over lemmas and contexts, divided by that of all forms
"""

from collections.abc import Sequence

import polars as pl

from syntagm.errors import UsageError
from syntagm.result import Estimate, Group
from syntagm.runs.store import Run
from syntagm.views.gaps import kept, lemma_groups

_TAKEN = ("label", "row", "lemma", "contexts", "won", "right", "wrong", "model", "measure")
_TAG = "tag:"


def table(run: Run, suites: Sequence[str] = ()) -> pl.DataFrame:
    """A row a label and lemma, summed over the contexts of some suites, or of all; with the tags of the word list.

    Columns: label, row, lemma, contexts, won, right, wrong as in `kept.lemmas`, then the tags, as `column` names them. A
    context that several suites have counts in each.
    """
    found = pl.concat([kept.lemmas(run, name) for name in suites or [suite.name for suite in run.suites]])
    keys = ("label", "row", "lemma")
    summed = found.group_by(keys, maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    rows = kept.words(run).rows
    tags = {column(name): [row.tags.get(name, "") for row in rows] for name in _tags(run)}
    listed = pl.DataFrame({"row": range(len(rows)), **tags}, schema_overrides={"row": pl.Int32})
    return summed.join(listed, on="row", maintain_order="left")


def column(tag: str) -> str:
    """What a column of the word list is called beside those of the table: `tag:NAME` if it would be taken for one of them.

    >>> column("band"), column("right")
    ('band', 'tag:right')
    """
    # Those that begin so have it twice, so that no two are called the same.
    return _TAG + tag if tag in _TAKEN or tag.startswith(_TAG) else tag


def _tags(run: Run) -> list[str]:
    return list(dict.fromkeys(tag for row in kept.words(run).rows for tag in row.tags))


def by_tag(run: Run, tag: str, suites: Sequence[str] = ()) -> list[Estimate]:
    """The two weights of the lemmas with each value of a tag, both labels together.

    Arguments:
        tag: a column of the word list, e.g. "band".
        suites: over the contexts of these; of all by default.

    Returns:
        Groups have model, measure and the label of `column(tag)`, values in sorted order; n counts lemmas.

    Raises:
        UsageError: the list has no such tag.
    """
    if tag not in _tags(run):
        known = ", ".join(_tags(run)) or "a list with tags"
        raise UsageError(f"word list {kept.words(run).name}", f"no tag {tag!r}", known)
    rows, name = table(run, suites), column(tag)
    summed = rows.group_by(name, "row", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    values = sorted(summed[name].unique().to_list())
    return [
        lemma_groups.share(
            summed.filter(pl.col(name) == value),
            measure,
            f"{run.model}/{value}/{measure}",
            Group(run.model, measure=measure, labels=((name, value),)),
        )
        for value in values
        for measure in lemma_groups.MEASURES
    ]
