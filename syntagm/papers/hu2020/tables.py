"""The tables behind Hu et al. 2020, of any study: perplexities, cells, classes, suites, modifiers, correlations.

Every mean has its n and an interval: percentile bootstraps, 95%, 10,000 draws, seed 1, of what each table's notes say.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.papers.hu2020.figures import in_order, labelled, modified
from syntagm.papers.hu2020.study import Study
from syntagm.stats import clustered
from syntagm.stats.association import METHODS, association
from syntagm.views.classes import suite_means
from syntagm.views.modifiers import MODIFIED, PAIRS, PLAIN

Row = tuple[Cell, ...]
_INTERVAL = ("low", "high", "n")
_NONE = "nan: the models are too few for what is held constant, or a number doesn't vary."


def tables(study: Study) -> Iterator[tuple[str, Table]]:
    """All tables that the study has the numbers for, by the names of their files."""
    yield "classes", classes(study)
    if _trained(study):
        yield "cells", cells(study)
        yield "deltas", deltas(study)
    if study.perplexity.height:
        yield "correlations", correlations(study)
    yield "suites", suites(study)
    yield "suite_intervals", suite_intervals(study)
    if modified(study).height:
        yield "modifiers", modifiers(study)


def classes(study: Study) -> Table:
    """The scores of model classes, in three ways of averaging; of models off the shelf alone, in two."""
    rows = labelled(study, study.scores())
    items = dict(
        labelled(study, study.items)
        .group_by("model", maintain_order=True)
        .agg(pl.col("value").drop_nans().mean())
        .iter_rows()
    )
    found = []
    for row in clustered.means(rows, ["model", "kind"], "score").sort("value", descending=True).iter_rows(named=True):
        part = rows.filter(pl.col("model") == row["model"])
        numbers = (row["value"], row["low"], row["high"], row["n"])
        instances = part.select("corpus", "seed").unique().height
        trained = (row["kind"], instances, _mean_of_means(part, "corpus", "score")) if _trained(study) else ()
        found.append((row["model"], *numbers, items[row["model"]], *trained))
    more = ("kind", "models", "mean of corpus means") if _trained(study) else ()
    columns = ("model", "score", *_INTERVAL, "mean of items", *more)
    undefined = int(rows["undefined"].sum())
    notes = (
        f"score: mean over {len(study.suites)} suites{', corpora and seeds pooled' if more else ''}.",
        "n: suite scores, which are redrawn.",
        *(["mean of corpus means: corpora weigh alike, however many seeds they have."] if more else []),
        *(
            [f"Chance: {study.chance:.4f}, if compared values are independent draws."]
            if study.chance == study.chance
            else []
        ),
        *([f"Left out: {undefined} undefined values."] if undefined else []),
        *study.remarks,
    )
    return Table("SG score by model class" if more else "SG score", columns, tuple(found), (), notes)


def cells(study: Study) -> Table:
    """Score, delta and perplexity of each model class on each corpus."""
    instances = labelled(study, study.instances().filter(pl.col("corpus") != ""))
    keys = ["model", "corpus"]
    scores = clustered.means(labelled(study, study.scores().filter(pl.col("corpus") != "")), keys, "score")
    means = clustered.means(labelled(study, study.deltas()), keys, "delta").select(*keys, delta="value")
    ppl = pl.col("perplexity")
    perplexity = instances.group_by(keys, maintain_order=True).agg(
        pl.len().alias("seeds"), ppl.mean(), ppl.min().alias("least"), ppl.max().alias("most")
    )
    joined = in_order(study, scores.join(means, on=keys, how="left").join(perplexity, on=keys, how="left"))
    rank = {name: at for at, name in enumerate(dict.fromkeys(scores["model"]))}
    ordered = joined.sort(pl.col("model").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)
    columns = ("model", "corpus", "seeds", "value", *_INTERVAL, "delta", "perplexity", "least", "most")
    shown = tuple("score" if name == "value" else name for name in columns)
    notes = ("n: suite scores, which are redrawn. perplexity: mean over seeds; least and most: of a seed.",)
    return Table(
        "Score and perplexity by model class and corpus", shown, tuple(ordered.select(columns).iter_rows()), (), notes
    )


def deltas(study: Study) -> Table:
    """Deltas by class and by corpus, rows pooled and as means of means."""
    table = labelled(study, study.deltas())
    rows: list[Row] = []
    for by, other, part in (("model", "corpus", table), ("corpus", "model", in_order(study, table))):
        without = [study.label(name) for name in study.absent] if by == "corpus" else []
        drawn = clustered.means(part.filter(~pl.col("model").is_in(without)), [by], "delta", other)
        pooled = {row[by]: row["value"] for row in clustered.means(part, [by], "delta").iter_rows(named=True)}
        for row in drawn.iter_rows(named=True):
            mean = _mean_of_means(part.filter(pl.col(by) == row[by]), other, "delta")
            rows.append((by, row[by], row["value"], row["low"], row["high"], row["n"], other, pooled[row[by]], mean))
    columns = ("by", "name", "delta", *_INTERVAL, "redrawn", "of all", "mean of means of all")
    absent = ", ".join(study.label(name) for name in study.absent)
    notes = (
        "delta: score on a suite minus the suite's mean over classes and corpora. n: suite scores.",
        *([f"By corpus delta is without {absent}, as the paper draws it; `of all` is with it."] if absent else []),
        "mean of means: units (corpora, or model classes) weigh alike.",
    )
    return Table("Score deltas", columns, tuple(rows), (), notes)


def suites(study: Study) -> Table:
    """The score of each class on each suite, seeds and corpora pooled, and the mean that deltas are taken from."""
    scores = labelled(study, study.scores())
    mean = dict(suite_means(study.scores().filter(pl.col("corpus") != "")).iter_rows())
    models = list(dict.fromkeys(scores["model"]))
    found = {
        (suite, model): value
        for suite, model, value in scores.group_by("suite", "model", maintain_order=True)
        .agg(pl.col("score").mean())
        .iter_rows()
    }
    items = dict(
        study.scores().group_by("suite", maintain_order=True).agg((pl.col("n") + pl.col("undefined")).max()).iter_rows()
    )
    trained = _trained(study)
    rows = [
        (
            suite, study.circuits.get(suite, ""), items[suite], *([mean.get(suite)] if trained else []),
            *(found.get((suite, model)) for model in models),
        )
        for suite in sorted(study.suites)
    ]  # fmt: skip
    counts = ", ".join(f"{name} {count}" for name, count in _counts(scores).items())
    more = [f"mean: over classes and corpora, trained models only. Models of a class: {counts}."] if trained else []
    notes = ("items: of the suite.", *more, "Intervals of these numbers stand in suite_intervals.")
    columns = ("suite", "circuit", "items", *(["mean"] if trained else []), *models)
    return Table("Score by suite", columns, tuple(rows), (), notes)


def suite_intervals(study: Study) -> Table:
    """The scores of `suites`, a row each, with intervals: items redrawn in a suite, for all models of the class together."""
    items = labelled(study, study.items)
    means = items.group_by("model", "suite", "item", maintain_order=True).agg(pl.col("value").drop_nans().mean())
    found = clustered.means(means.filter(pl.col("value").is_not_null()), ["suite", "model"], "value").sort(
        "suite", maintain_order=True
    )
    counts = _counts(items)
    rows = tuple((*row, counts[row[1]]) for row in found.select("suite", "model", "value", *_INTERVAL).iter_rows())
    notes = ("n: items, which are redrawn. models: of the class; an item's value is its mean over them.",)
    return Table("Score by suite, with intervals", ("suite", "model", "score", *_INTERVAL, "models"), rows, (), notes)


def modifiers(study: Study) -> Table:
    """Scores without and with modifiers, by pair of suites and over all pairs; the difference is paired."""
    table = modified(study)
    wide = table.pivot(
        "modifier", index=["model", "kind", "corpus", "seed", "pair"], values="score", maintain_order=True
    )
    wide = wide.with_columns(difference=pl.col(MODIFIED) - pl.col(PLAIN))
    parts = [wide.with_columns(pair=pl.lit("all pairs")), wide]
    order = {name: at for at, name in enumerate(PAIRS)}
    rows: list[Row] = []
    for part in parts:
        keys = ["model", "pair"]
        plain, with_them = (clustered.means(part, keys, name)["value"] for name in (PLAIN, MODIFIED))
        both = clustered.means(part, keys, "difference").with_columns(plain=plain, modified=with_them)
        both = both.sort(pl.col("pair").replace_strict(order, default=-1, return_dtype=pl.Int64), maintain_order=True)
        rows += both.select(*keys, "plain", "modified", "value", *_INTERVAL).iter_rows()
    columns = ("model", "suites", PLAIN, MODIFIED, "difference", *_INTERVAL)
    notes = (
        "n: models times pairs of suites, whose differences are redrawn; low and high are about the difference.",
        "nan: no interval, because there is one difference only.",
    )
    return Table("Scores without and with modifiers", columns, tuple(rows), (), notes)


def correlations(study: Study) -> Table:
    """Correlations of score and perplexity over trained models, plain and with what else differs held constant."""
    known = study.instances().filter(pl.col("perplexity").is_not_null() & (pl.col("corpus") != ""))
    rows: list[Row] = []
    for name, part in subsets(study, known):
        score, perplexity = part["score"].to_numpy(), part["perplexity"].to_numpy()
        words = np.log(part["words"].to_numpy())
        kinds = [(part["model"] == model).cast(pl.Float64).to_numpy() for model in sorted(set(part["model"]))[1:]]
        varied = {"": [], "log corpus size": [words], "log corpus size, model class": [words, *kinds]}
        for held, given in varied.items():
            for method in METHODS:
                found = association(perplexity, score, method, given, f"{name}/{held}")
                rows.append((name, method, held, found.value, found.low, found.high, found.p, found.n))
    columns = ("models", "correlation", "held constant", "value", "low", "high", "p", "n")
    notes = (
        "Of SG score and perplexity, a pair a trained model; intervals: models redrawn; p: of no correlation, two-sided.",
        "Held constant: both are taken less their least-squares fit on it (of ranks for Spearman).",
        "p takes models for independent, though those of one corpus or class, seeds above all, are alike: it is too small.",
        *([_NONE] if any(row[3] != row[3] for row in rows) else []),
    )
    return Table("SG score and perplexity", columns, tuple(rows), (), notes)


def subsets(study: Study, known: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """All trained models, and those whose perplexities can be compared best: neural and word by word."""
    words = known.filter(pl.col("model").is_in(study.words_alike))
    some = [(", ".join(study.label(one) for one in dict.fromkeys(words["model"])), words)] if len(words) else []
    return [("all that were trained", known), *(one for one in some if len(one[1]) < len(known))]


def _trained(study: Study) -> bool:
    """Were any models trained for the study?"""
    return any(study.items["corpus"])


def _mean_of_means(table: pl.DataFrame, by: str, column: str) -> float:
    mean = table.group_by(by, maintain_order=True).agg(pl.col(column).mean()).select(pl.col(column).mean()).item()
    return float(mean)


def _counts(table: pl.DataFrame) -> Mapping[str, int]:
    """Model class -> how many models."""
    distinct = table.select("model", "corpus", "seed").unique(maintain_order=True)
    return dict(distinct.group_by("model", maintain_order=True).len().iter_rows())
