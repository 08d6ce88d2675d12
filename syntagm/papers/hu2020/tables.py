"""The tables of Hu et al. 2020 for any study: classes, cells, deltas, suites, modifiers and correlations.

Every mean has its n and a 95% interval, in its table or in the one that its notes name. The notes name the random units.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from syntagm.evaluation import Kind
from syntagm.papers.hu2020.figures import CLASSES, CORPORA, PAIRED, in_order, labelled, scores_of_pairs
from syntagm.papers.hu2020.study import Study
from syntagm.stats import METHODS, association, cluster_intervals
from syntagm.views import INSTANCE, MODIFIED, PLAIN, UNITS, Cell, Table, suite_means

Row = tuple[Cell, ...]
_INTERVAL = ("low", "high", "n")
_NONE = "nan: there are too few models for the controlled variables, or a number doesn't vary."


def tables(study: Study) -> Iterator[tuple[str, Table]]:
    """Yield all tables for which the study has data, with the names of their files."""
    yield "classes", classes(study)
    if _trained(study):
        yield "cells", cells(study)
        yield "deltas", deltas(study)
    if study.perplexity.height:
        yield "correlations", correlations(study)
    yield "suites", suites(study)
    yield "suite_intervals", suite_intervals(study)
    if scores_of_pairs(study).height:
        yield "modifiers", modifiers(study)


def classes(study: Study) -> Table:
    """Make the table of scores of model classes, averaged in three ways, or in two if all models are off-the-shelf."""
    rows = labelled(study, study.scores())
    of_items = labelled(study, study.items).group_by("model", maintain_order=True)
    items = dict(of_items.agg(pl.col("value").drop_nans().mean()).iter_rows())
    lines, means = [], cluster_intervals.means(rows, ["model", "kind"], "score", Kind.SHARE, UNITS)
    for row in means.sort("value", descending=True).iter_rows(named=True):
        of_model = rows.filter(pl.col("model") == row["model"])
        numbers = (row["value"], row["low"], row["high"], row["n"])
        instances = of_model.select("corpus", "seed").unique().height
        trained = (row["kind"], instances, _mean_of_means(of_model, "corpus", "score")) if _trained(study) else ()
        lines.append((row["model"], *numbers, items[row["model"]], *trained))
    extra = ("kind", "models", "mean of corpus means") if _trained(study) else ()
    columns = ("model", "score", *_INTERVAL, "mean of items", *extra)
    undefined = int(rows["undefined"].sum())
    corpora = "mean of corpus means: each corpus has the same weight, independently of its number of seeds."
    notes = (
        f"score: mean over {study.counted}{', corpora and seeds pooled' if extra else ''}.",
        "n: suite scores; intervals: for other suites, and other models of the class where there are several.",
        *([corpora] if extra else []),
        *_chances(study.levels),
        *([f"Excluded: {undefined} undefined values."] if undefined else []),
        *study.remarks,
    )
    return Table("SG score by model class" if extra else "SG score", columns, tuple(lines), (), notes)


def _chances(levels: Mapping[str, float] | float) -> list[str]:
    if isinstance(levels, float):
        levels = {"": levels}
    known = ", ".join(f"{label} {level:.4f}".strip() for label, level in levels.items() if level == level)
    return [f"Chance: {known}, if compared values are independent draws."] if known else []


def cells(study: Study) -> Table:
    instances = labelled(study, study.instances().filter(pl.col("corpus") != ""))
    keys = ["model", "corpus"]
    trained = labelled(study, study.scores().filter(pl.col("corpus") != ""))
    scores = cluster_intervals.means(trained, keys, "score", Kind.SHARE, UNITS)
    means = cluster_intervals.means(labelled(study, study.deltas()), keys, "delta", Kind.NUMBER).select(
        *keys, delta="value"
    )
    ppl = pl.col("perplexity")
    perplexity = instances.group_by(keys, maintain_order=True).agg(
        pl.len().alias("seeds"),
        pl.col("score").std().alias("sd over seeds"),
        ppl.mean(),
        ppl.min().alias("least"),
        ppl.max().alias("most"),
    )
    joined = in_order(study, scores.join(means, on=keys, how="left").join(perplexity, on=keys, how="left"))
    rank = {name: index for index, name in enumerate(dict.fromkeys(scores["model"]))}
    ordered = joined.sort(pl.col("model").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)
    columns = ("model", "corpus", "seeds", "value", *_INTERVAL, "sd over seeds", "delta", "perplexity", "least", "most")
    header = tuple("score" if name == "value" else name for name in columns)
    notes = (
        "n: suite scores; intervals: for other suites and seeds. sd over seeds: standard deviation of the models' scores. "
        "perplexity: mean over seeds; least, most: lowest and highest seed.",
        *study.mixed,
    )
    return Table(
        "Score and perplexity by model class and corpus", header, tuple(ordered.select(columns).iter_rows()), (), notes
    )


def deltas(study: Study) -> Table:
    """Make the table of deltas by class and by corpus, both from pooled rows and as means of means."""
    table = labelled(study, study.deltas())
    rows: list[Row] = []
    for by, other, subset in (("model", "corpus", table), ("corpus", "model", in_order(study, table))):
        without = [study.label(name) for name in study.absent] if by == "corpus" else []
        units = CORPORA if other == "corpus" else CLASSES
        means = cluster_intervals.means(
            subset.filter(~pl.col("model").is_in(without)), [by], "delta", Kind.NUMBER, units
        )
        all_rows = cluster_intervals.means(subset, [by], "delta", Kind.NUMBER)
        pooled = {row[by]: row["value"] for row in all_rows.iter_rows(named=True)}
        for row in means.iter_rows(named=True):
            mean = _mean_of_means(subset.filter(pl.col(by) == row[by]), other, "delta")
            rows.append(
                (by, row[by], row["value"], row["low"], row["high"], row["n"], ", ".join(units), pooled[row[by]], mean)
            )
    columns = ("by", "name", "delta", *_INTERVAL, "random", "of all", "mean of means of all")
    absent = ", ".join(study.label(name) for name in study.absent)
    notes = (
        "delta: score on a suite minus the suite's mean over classes and corpora. n: suite scores.",
        *([f"By corpus, delta is without {absent}, as in the paper's figure; `of all` is with it."] if absent else []),
        "mean of means: corpora, or model classes, have equal weights.",
        "random: the units that the intervals generalise to.",
    )
    return Table("Score deltas", columns, tuple(rows), (), notes)


def suites(study: Study) -> Table:
    """Make the table of scores by suite and class, pooled over seeds and corpora, with the suite means used for deltas."""
    scores = labelled(study, study.scores())
    mean = dict(suite_means(study.scores().filter(pl.col("corpus") != "")).iter_rows())
    models = list(dict.fromkeys(scores["model"]))
    grouped = scores.group_by("suite", "model", maintain_order=True).agg(pl.col("score").mean())
    means = {(suite, model): value for suite, model, value in grouped.iter_rows()}
    count = pl.col("n") + pl.col("undefined")
    spans = scores.group_by("suite").agg(least=count.min(), most=count.max()).iter_rows()
    items = {suite: least if least == most else f"{least} to {most}" for suite, least, most in spans}
    trained = _trained(study)
    rows = [
        (
            suite, study.circuits.get(suite, ""), items[suite], *([mean.get(suite)] if trained else []),
            *(means.get((suite, model)) for model in models),
        )
        for suite in sorted(study.suites)
    ]  # fmt: skip
    counts = ", ".join(f"{name} {count}" for name, count in _counts(scores).items())
    explained = [f"mean: over classes and corpora, trained models only. Models per class: {counts}."] if trained else []
    notes = ("items: items of the suite.", *explained, "The intervals of these numbers are in suite_intervals.")
    columns = ("suite", "circuit", "items", *(["mean"] if trained else []), *models)
    return Table("Score by suite", columns, tuple(rows), (), notes)


def suite_intervals(study: Study) -> Table:
    """Make the table of scores by suite with intervals, a row per suite and class; items are crossed with models."""
    items = labelled(study, study.items).filter(pl.col("value").is_not_nan())
    units = {"items": ("item",), "models": INSTANCE}
    estimates = cluster_intervals.means(items, ["suite", "model"], "value", Kind.VERDICT, units)
    numbers = items.group_by("suite", "model").agg(pl.col("item").n_unique().cast(pl.Int64).alias("n"))
    ordered = estimates.sort("suite", maintain_order=True).drop("n")
    estimates = ordered.join(numbers, on=["suite", "model"], how="left", maintain_order="left")
    counts = _counts(items)
    rows = tuple((*row, counts[row[1]]) for row in estimates.select("suite", "model", "value", *_INTERVAL).iter_rows())
    note = "n: items; intervals: for other items, and other models of the class where there are several. models: their number."
    return Table("Score by suite, with intervals", ("suite", "model", "score", *_INTERVAL, "models"), rows, (), (note,))


def modifiers(study: Study) -> Table:
    """Make the table of scores without and with modifiers, by pair of suites and over all pairs; differences are paired."""
    table = scores_of_pairs(study)
    index = ["model", "kind", "corpus", "seed", "pair"]
    wide = table.pivot("modifier", index=index, values="score", maintain_order=True)
    wide = wide.with_columns(difference=pl.col(MODIFIED) - pl.col(PLAIN))
    rows: list[Row] = []
    for subset in (wide.with_columns(pair=pl.lit("all pairs")), wide):
        keys = ["model", "pair"]
        plain, with_them = (
            cluster_intervals.means(subset, keys, name, Kind.SHARE)["value"] for name in (PLAIN, MODIFIED)
        )
        both = cluster_intervals.means(subset, keys, "difference", Kind.NUMBER, PAIRED)
        both = both.with_columns(plain=plain, modified=with_them).sort("pair", maintain_order=True)
        rows += both.select(*keys, "plain", "modified", "value", *_INTERVAL).iter_rows()
    columns = ("model", "suites", PLAIN, MODIFIED, "difference", *_INTERVAL)
    notes = (
        "n: models times pairs of suites; low and high: interval of the difference, for other pairs and models.",
        "nan: no interval, because there is only one difference.",
    )
    return Table("Scores without and with modifiers", columns, tuple(rows), (), notes)


def correlations(study: Study) -> Table:
    """Make the table of correlations of score and perplexity over trained models, plain and partial."""
    known = study.instances().filter(pl.col("perplexity").is_not_null() & (pl.col("corpus") != ""))
    rows: list[Row] = []
    for name, subset in subsets(study, known):
        score, perplexity = subset["score"].to_numpy(), subset["perplexity"].to_numpy()
        words = np.log(subset["words"].to_numpy())
        kinds = [(subset["model"] == model).cast(pl.Float64).to_numpy() for model in sorted(set(subset["model"]))[1:]]
        variants = {"": [], "log corpus size": [words], "log corpus size, model class": [words, *kinds]}
        for controlled, controls in variants.items():
            for method in METHODS:
                estimate = association(perplexity, score, method, controls)
                rows.append(
                    (name, method, controlled, estimate.value, estimate.low, estimate.high, estimate.p, estimate.n)
                )
    columns = ("models", "correlation", "held constant", "value", "low", "high", "p", "n")
    notes = (
        "SG score and perplexity, one pair per trained model; intervals: Fisher's (of Pearson's r the jackknife's where it is "
        "wider), for other models; p: test of no correlation, two-sided.",
        "held constant: both variables are replaced by their residuals from a least-squares fit on it (of ranks for Spearman).",
        "p assumes independent models. It is too small, because models of one corpus or class, above all seeds, are similar.",
        *study.mixed,
        *([_NONE] if any(row[4] != row[4] for row in rows) else []),
    )
    return Table("SG score and perplexity", columns, tuple(rows), (), notes)


def subsets(study: Study, known: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return two sets of models: all trained models, and the neural word-level models with comparable perplexities."""
    words = known.filter(pl.col("model").is_in(study.words_alike))
    labels = ", ".join(study.label(model) for model in dict.fromkeys(words["model"]))
    everything = "all that were trained" + (", not comparable" if known["model"].is_in(study.unlike).any() else "")
    return [(everything, known), *([(labels, words)] if 0 < len(words) < len(known) else [])]


def _trained(study: Study) -> bool:
    return any(study.items["corpus"])


def _mean_of_means(table: pl.DataFrame, by: str, column: str) -> float:
    mean = table.group_by(by, maintain_order=True).agg(pl.col(column).mean()).select(pl.col(column).mean()).item()
    return float(mean)


def _counts(table: pl.DataFrame) -> Mapping[str, int]:
    """Count the models of each class: model class -> number."""
    distinct = table.select("model", "corpus", "seed").unique(maintain_order=True)
    return dict(distinct.group_by("model", maintain_order=True).len().iter_rows())
