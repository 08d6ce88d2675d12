"""Fill runs: their tables, their estimates (also by lemma), and whether two runs are comparable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import RunError, UsageError
from syntagm.evaluation import WEIGHTS, Cut, Estimate, Gaps, Group, Kind, canonical_cuts
from syntagm.runs import Run, named
from syntagm.stats import Comparison, Interval, Spread, cluster_intervals, interval
from syntagm.suites import WordList, kept

# The probability of an entry, and whether it is a correct form of the word list in its context; null for other entries.
PROBABILITY = (2.0 ** -pl.col("bits")).alias("probability")
FORM = (
    pl.when(pl.col("form_label").is_null())
    .then(None)
    .when(pl.col("form_label") == pl.col("label"))
    .then(pl.lit("correct"))
    .otherwise(pl.lit("wrong"))
    .alias("form")
)


def over_gaps(run: Run) -> bool:
    return run.task is Gaps


def cut_offs(run: Run) -> tuple[Cut, ...]:
    options = run.record["options"]
    return canonical_cuts(tuple(options["top"]), tuple(options["bottom"]))


@lru_cache(maxsize=16)
def words(run: Run) -> WordList:
    words_of_run = kept(run.file("words.csv"), f"{run.place}/words.csv")
    return replace(words_of_run, name=run.record["options"]["words"]["name"])


def contexts(run: Run, suite: str | None = None) -> pl.DataFrame:
    # Columns: suite, context (a hash of its content), item (the first item with this context), left, right, label,
    # items (number of items), eligible and ranked (number of rows of the list counted without and with a cut-off), and
    # equal_weight, model_weight and covered at each cut-off.
    return run.table("contexts.parquet", suite)


def several_tokens(run: Run) -> bool:
    """Return whether a run counts forms of several tokens; at cut-offs they never count."""
    table = contexts(run)
    return bool((table["eligible"] > table["ranked"]).any())


def lemma_sums(run: Run, suite: str | None = None) -> pl.DataFrame:
    # Columns: suite, label, row (number in the list, from 0), lemma, contexts, won (proportion of the row's pairs in
    # which the correct form is more probable), right and wrong (probability of the correct form and of the other
    # forms).
    keys = ("suite", "label", "row", "lemma")
    return run.table("lemmas.parquet", suite).group_by(keys, maintain_order=True).agg(pl.exclude(keys).sum())


def top_words(run: Run, suite: str) -> pl.DataFrame:
    """Return a table of the most probable entries of the vocabulary in each context of a suite, from the most probable."""
    # Columns: context, item, left, right and label of the context; rank, entry (as text), begins (whether it begins a
    # word) and bits; lemma and form_label, null for entries that are no forms of the word list.
    if "top_words.parquet" not in run.tables:
        raise RunError(
            run.place, "no most probable entries", "a run that kept them",
            "Make one with `syntagm fill --most-probable K`.",
        )  # fmt: skip
    entries = run.table("top_words.parquet", suite).rename({"label": "form_label"})
    about = contexts(run, suite).select("context", "item", "left", "right", "label")
    return about.join(entries.drop("suite"), on="context", maintain_order="left_right")


# Weights over different rows are not comparable, nor are weights in different contexts. The context of an item is what
# its model sees: several contexts of a masked model, which sees both sides of a gap, can be one context of a causal
# model, which only sees the left side. Neither matters for `tse`, which compares two words of an item, except that
# different items may be skipped.


def shared_settings(run: Run) -> dict[str, str]:
    """Return the settings that comparable runs must share: hash of the word list, kinds of gap and eligible rows."""
    options = run.record["options"]
    return {"list": options["words"]["hash"], "blank": options["blank"], "eligible": options["eligible"]}


def same_rows(runs: Sequence[Run]) -> bool:
    """Return whether all runs have the same eligible rows in every suite, and the same number of them in every context."""
    return all(not other_rows(first, second) for place, first in enumerate(runs) for second in runs[:place])


def other_rows(first: Run, second: Run) -> list[str]:
    """List the suites with the same content in both runs for which different rows of the list are eligible."""
    return [suite for suite in _shared(first, second) if _differ(first, second, suite)]


def other_contexts(first: Run, second: Run) -> list[str]:
    """List the suites with the same content in both runs that have more contexts under the masked model."""
    if _sees_left(first) == _sees_left(second):
        return []
    return [suite for suite in _shared(first, second) if _contexts(first, suite) != _contexts(second, suite)]


def _shared(first: Run, second: Run) -> list[str]:
    suites = {(suite.name, suite.hash) for suite in second.suites}
    return [suite.name for suite in first.suites if (suite.name, suite.hash) in suites]


def _sees_left(run: Run) -> bool:
    return bool(run.record["model"]["sees"] == "left")


def _contexts(run: Run, suite: str) -> int:
    """Return the number of contexts of a suite, including those not computed yet."""
    return int(run.record["contexts"][suite]["contexts"])


def _differ(first: Run, second: Run, suite: str) -> bool:
    # Contexts of a causal and of a masked model have only the left side in common.
    key = "context" if _sees_left(first) == _sees_left(second) else "left"
    counted = [_counted(run, suite, key) for run in (first, second)]
    both = counted[0].keys() & counted[1].keys()
    if any(counted[0][context] != counted[1][context] for context in both):
        return True
    # The same number of rows may be different rows. Of an unfinished run only the rows computed so far are known.
    rows = [set(lemma_sums(run, suite)["row"]) for run in (first, second)]
    return counted[0].keys() == counted[1].keys() and rows[0] != rows[1]


def _counted(run: Run, suite: str, key: str) -> dict[str, set[int]]:
    """Return the numbers of eligible rows by context, or by left side of a context."""
    eligible_rows: dict[str, set[int]] = {}
    for context, eligible in contexts(run, suite).select(key, "eligible").iter_rows():
        eligible_rows.setdefault(context, set()).add(eligible)
    return eligible_rows


def other_settings(first: Run, second: Run) -> list[str]:
    """Return a list with a sentence about the settings in which two runs (A and B) differ; it is empty if they agree."""
    settings_a, settings_b = shared_settings(first), shared_settings(second)
    kinds = {"list": "word lists", "blank": "kinds of gaps", "eligible": "kinds of eligible rows"}
    shown = [
        f"{kinds[key]} (A: {_shown(first, key)}, B: {_shown(second, key)})"
        for key in settings_a
        if settings_a[key] != settings_b[key]
    ]
    return [f"NOT COMPARABLE: the runs have different {', '.join(shown)}"] if shown else []


def _shown(run: Run, key: str) -> str:
    words = run.record["options"]["words"]
    return f"{words['name']}@{words['hash'][:8]}" if key == "list" else shared_settings(run)[key]


def incomparable(first: Run, second: Run, shares: bool) -> list[str]:
    """Return one sentence for each reason why two fill runs are not comparable; an empty list for other runs."""
    if not (over_gaps(first) and over_gaps(second)):
        return []
    reasons = other_settings(first, second)
    if reasons or not shares:
        return reasons
    if suites := other_rows(first, second):
        counts = ", ".join(f"{side}: {_rows(run, suites)}" for side, run in (("A", first), ("B", second)))
        reasons.append(
            f"NOT COMPARABLE: different rows of the word list are eligible in {', '.join(suites)} ({counts} rows)"
        )
    if suites := other_contexts(first, second):
        left, both = "AB" if _sees_left(first) else "BA"
        counts = ", ".join(
            f"{side}: {sum(_contexts(run, suite) for suite in suites):,}" for side, run in (("A", first), ("B", second))
        )
        reasons.append(
            f"NOT COMPARABLE: {left} sees the left side of a gap, {both} both sides, so that their contexts differ in "
            f"{', '.join(suites)} ({counts} contexts). Contexts with the same first item are compared, others are undefined"
        )
    return reasons


def _rows(run: Run, suites: Sequence[str]) -> str:
    counts = [count for suite in suites for count in contexts(run, suite)["eligible"]]
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,}\u2013{high:,}"


# The estimates of a fill run:
#
#     tse                            mean over the items whose two words are eligible
#     equal_weight, model_weight     mean over the contexts where they are defined
#     covered                        mean over all contexts; 0 where no form is counted
#     invalid                        proportion of contexts where the weights are undefined
#
# The last four are computed at every cut-off and named like measures, for example `covered(top=0.9)`. `equal_weight`
# and `model_weight` are about contexts and lemmas, which are crossed, so both are random (Cameron, Gelbach & Miller
# 2011). At a cut-off, runs keep no sums by lemma, and only contexts are random, as the method of the interval says.


def estimates(run: Run, cuts: Sequence[Cut] | None = None) -> list[Estimate]:
    """Compute the estimates for each suite; their groups have model, suite and measure."""
    chosen = cut_offs(run) if cuts is None else cuts
    return [
        estimate
        for suite in run.suites
        for estimate in of_suites(run, Group(run.model, suite.name), [suite.name], chosen)
    ]


def pooled(run: Run, tag: str = "construction", cuts: Sequence[Cut] | None = None) -> list[Estimate]:
    """Compute the estimates over all suites with each value of a tag; their groups have model, label and measure."""
    # A context that several of the suites share counts once, with its values in the first of them.
    chosen = cut_offs(run) if cuts is None else cuts
    values = dict.fromkeys(suite.tags[tag] for suite in run.suites if tag in suite.tags)
    suites = {value: [suite.name for suite in run.suites if suite.tags.get(tag) == value] for value in values}
    groups = {value: Group(run.model, labels=((tag, value),)) for value in values}
    return [estimate for value, names in suites.items() for estimate in of_suites(run, groups[value], names, chosen)]


def distinct_contexts(run: Run, suites: Sequence[str]) -> pl.DataFrame:
    """Return the distinct contexts of suites, each with its values in the first suite that contains it."""
    # The columns are the same as for `contexts`.
    return pl.concat([contexts(run, name) for name in suites]).unique("context", keep="first", maintain_order=True)


def of_suites(run: Run, group: Group, suites: Sequence[str], cuts: Sequence[Cut]) -> Iterator[Estimate]:
    yield _tse(run, group, suites)
    table = distinct_contexts(run, suites).select(f"{name}{cut}" for cut in cuts for name in WEIGHTS)
    columns = {name: table[name].to_numpy() for name in table.columns}
    columns |= {f"invalid{cut}": np.isnan(columns[f"equal_weight{cut}"]).astype(np.float64) for cut in cuts}
    if not len(table):
        return
    for name, column in columns.items():
        kind = Kind.VERDICT if name.startswith("invalid") else Kind.SHARE
        [(mean, found, n)] = interval.of_columns(column[:, None], kind, "contexts")
        ends = found
        if name in LEMMA_MEASURES and n > 1:
            ends = _crossed(name, columns[name], pl.concat([lemma_sums(run, suite) for suite in suites])) or found
        yield ends.estimate(replace(group, measure=name), mean, n, undefined=len(table) - n)


def _crossed(measure: str, values: NDArray[np.float64], lemmas: pl.DataFrame) -> Interval | None:
    """Return the interval for other contexts and other lemmas; None with fewer than two lemmas."""
    sums = (
        lemmas.group_by("row", maintain_order=True)
        .agg(pl.col("contexts", "won", "right", "wrong").sum())
        .filter(pl.col("contexts") > 0)
    )
    if sums.height < 2:
        return None
    part, whole = ("won", sums["contexts"]) if measure == "equal_weight" else ("right", sums["right"] + sums["wrong"])
    wholes = whole.to_numpy().astype(np.float64)
    return cluster_intervals.of_shares(values[~np.isnan(values)], sums[part].to_numpy(), wholes)


def _tse(run: Run, group: Group, suites: Sequence[str]) -> Estimate:
    rows = pl.concat([run.results(name).filter(pl.col("measure") == "tse") for name in suites])
    defined = rows.filter(pl.col("value").is_not_nan())
    values = defined["value"].to_numpy()
    found = interval.of_items(values, Kind.VERDICT)
    ties = int((defined["margin"].abs() <= run.tolerance).sum())
    mean = float(values.mean()) if len(values) else np.nan
    return found.estimate(replace(group, measure="tse"), mean, len(values), ties, len(rows) - len(values))


def filled(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return fill runs with the names of their models, as in `runs.several.named`."""
    pairs = []
    for name, run in named(runs):
        if not over_gaps(run):
            raise RunError(run.place, "a run of `syntagm run`", "a fill run", "Make one with `syntagm fill`.")
        pairs.append((name, run))
    return pairs


# The accuracy of a lemma is the proportion of its contexts in which its correct form is more probable. `equal_weight`
# of a group is the mean accuracy of its lemmas. `model_weight` is the probability of all correct forms, summed over
# lemmas and contexts, divided by that of all forms: a ratio of sums, to which frequent lemmas contribute most.
# Intervals are for other lemmas in the same contexts: runs keep sums over contexts, not each context with each lemma.

LEMMA_MEASURES = ("equal_weight", "model_weight")
_FIXED = "contexts"


def by_lemma(table: pl.DataFrame) -> pl.DataFrame:
    """Sum `contexts`, `won`, `right` and `wrong` over suites and labels, with one row for each lemma that has contexts."""
    sums = table.group_by("row", "lemma", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    return sums.filter(pl.col("contexts") > 0)


def balance_labels(table: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Compute the sums of `by_lemma` with equal weight for each label, for lemmas that have contexts with all labels.

    This cancels a preference of the model for one form that doesn't depend on the label.

    >>> sums = {"row": [0, 0], "lemma": ["be", "be"], "label": ["s", "p"], "contexts": [4, 1], "won": [1.0, 1.0]}
    >>> table = pl.DataFrame(sums).with_columns(right=0.0, wrong=0.0)
    >>> balance_labels(table, ["s", "p"]).select("contexts", "won").row(0)  # 1/4 + 1/1
    (2, 1.25)
    """
    parts = [by_lemma(table.filter(pl.col("label") == label)) for label in labels]
    means = [part.with_columns(pl.col("won", "right", "wrong") / pl.col("contexts"), contexts=1) for part in parts]
    sums = pl.concat(means).group_by("row", "lemma", maintain_order=True).agg(pl.exclude("row", "lemma").sum())
    return sums.filter(pl.col("contexts") == len(labels))


def lemma_share(table: pl.DataFrame, measure: str, group: Group | None = None) -> Estimate:
    """Compute equal weight or model weight of a group of lemmas; n counts lemmas.

    Arguments:
        table: the table that `by_lemma` or `balance_labels` returns.
        measure: one of `LEMMA_MEASURES`.
        group: the group of the estimate.

    >>> table = pl.DataFrame({"contexts": [2, 2], "won": [2.0, 1.0], "right": [0.3, 0.1], "wrong": [0.0, 0.1]})
    >>> lemma_share(table, "equal_weight").value, lemma_share(table, "model_weight").value
    (0.75, 0.8)
    """
    value, spread = _value(table, measure)
    few = f"no interval: fewer than two lemmas; fixed: {_FIXED}"
    found = interval.score(value, spread) if spread else interval.Interval(np.nan, np.nan, few)
    return found.estimate(group or Group(), value, table.height)


def lemma_difference(group_a: pl.DataFrame, group_b: pl.DataFrame, measure: str, within: str = "") -> Comparison:
    """Compute the difference of a weight between two groups of different lemmas; n counts the first group's lemmas.

    Arguments:
        measure: one of `LEMMA_MEASURES`.
        within: a column such as a frequency band. Lemmas are then compared within each of its values, and the
            differences are averaged, weighted by the number of lemmas of the first group. Lemmas with values that the
            other group lacks are excluded, and don't count in n.

    >>> a, b = (pl.DataFrame({"contexts": [2, 2], "won": won, "band": ["1", "2"]}) for won in ([1.0, 1.0], [2.0, 1.0]))
    >>> lemma_difference(a, b, "equal_weight").difference.value, lemma_difference(a, b, "equal_weight", "band").n
    (-0.25, 2)
    """
    strata = [
        _matched(group_a, group_b, within, value) for value in (group_a[within].unique().sort() if within else [""])
    ]
    strata = [(first, second) for first, second in strata if first.height and second.height]
    n = sum(first.height for first, _ in strata)
    value, variances, units = 0.0 if strata else np.nan, [], []
    for first, second in strata:
        weight = first.height / n
        for sign, members in ((1, first), (-1, second)):
            of_members, spread = _value(members, measure)
            value += sign * weight * of_members
            # In a stratum, a group of one lemma shows no spread; the other strata show it.
            variances += [weight**2 * spread.variance] if spread else []
            units += [spread.units[0]] if spread else []
    group = Group(measure=measure)
    if not units:
        return Comparison(group, Estimate(group, value, np.nan, np.nan, n, "no interval: fewer than two lemmas"))
    spread = replace(cluster_intervals.combined(variances, units), units=(("lemmas", n),), fixed=_FIXED)
    found = interval.student(value, spread).clipped(-1.0)
    return Comparison(group, found.estimate(group, value, n))


def _matched(
    group_a: pl.DataFrame, group_b: pl.DataFrame, within: str, value: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    return (
        (group_a.filter(pl.col(within) == value), group_b.filter(pl.col(within) == value))
        if within
        else (group_a, group_b)
    )


def _value(table: pl.DataFrame, measure: str) -> tuple[float, Spread | None]:
    """Return the value and its variance over lemmas; None with fewer than two lemmas, or if the value is undefined."""
    if measure == "equal_weight":
        parts, wholes = (table["won"] / table["contexts"]).to_numpy(), np.ones(table.height)
    else:
        parts, wholes = table["right"].to_numpy(), (table["right"] + table["wrong"]).to_numpy()
    total = float(wholes.sum())
    value = float(parts.sum()) / total if total else np.nan
    if table.height < 2 or not total:
        return value, None
    return value, replace(cluster_intervals.spread_of_ratio(parts, wholes, "lemmas"), fixed=_FIXED)


def add_tags(table: pl.DataFrame, tags: Mapping[str, Mapping[str, str]], names: Sequence[str]) -> pl.DataFrame:
    """Add a column for each tag of the lemmas, with empty text for a lemma without the tag."""
    columns = [[tags.get(lemma, {}).get(name, "") for lemma in table["lemma"]] for name in names]
    return table.with_columns(pl.Series(name, column, pl.String) for name, column in zip(names, columns, strict=True))


_TAKEN = ("label", "row", "lemma", "contexts", "won", "right", "wrong", "model", "measure")
_TAG = "tag:"


def lemma_table(run: Run, suites: Sequence[str] = ()) -> pl.DataFrame:
    """Sum over the contexts of suites; return one row for each label and lemma, with the tags of the word list."""
    # Columns: label, row, lemma, contexts, won, right, wrong as in `lemma_sums`, then the tags, named by `tag_column`. A
    # context that several suites share counts in each of them.
    lemmas = pl.concat([lemma_sums(run, name) for name in suites or [suite.name for suite in run.suites]])
    keys = ("label", "row", "lemma")
    summed = lemmas.group_by(keys, maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    rows = words(run).rows
    tags = {tag_column(name): [row.tags.get(name, "") for row in rows] for name in _tags_of_lemmas(run)}
    listed = pl.DataFrame({"row": range(len(rows)), **tags}, schema_overrides={"row": pl.Int32})
    return summed.join(listed, on="row", maintain_order="left")


def tag_column(tag: str) -> str:
    """Return the column name of a tag: the tag itself, or `tag:NAME` if a column of the table has that name.

    >>> tag_column("band"), tag_column("right")
    ('band', 'tag:right')
    """
    # Tags that begin with the prefix get it twice, so that names are unique.
    return _TAG + tag if tag in _TAKEN or tag.startswith(_TAG) else tag


def _tags_of_lemmas(run: Run) -> list[str]:
    return list(dict.fromkeys(tag for row in words(run).rows for tag in row.tags))


def by_tag(run: Run, tag: str, suites: Sequence[str] = ()) -> list[Estimate]:
    """Compute equal weight and model weight of the lemmas with each value of a tag, over all labels."""
    if tag not in _tags_of_lemmas(run):
        known = ", ".join(_tags_of_lemmas(run)) or "a word list with tags"
        raise UsageError(f"word list {words(run).name}", f"no tag {tag!r}", known)
    rows, name = lemma_table(run, suites), tag_column(tag)
    summed = rows.group_by(name, "row", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    values = sorted(summed[name].unique().to_list())
    return [
        lemma_share(
            summed.filter(pl.col(name) == value), measure, Group(run.model, measure=measure, labels=((name, value),))
        )
        for value in values
        for measure in LEMMA_MEASURES
    ]
