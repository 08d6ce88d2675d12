"""Figures 1 to 6 of Hu et al. 2020 for any study: the paper's raw data, or a new experiment.

The bars of the paper are means of pooled rows, and so are the dots here: a corpus with more seeds weighs more in the mean of
its model class. The error bars of the paper resample rows (Figures 1 and 6) or clusters and rows within them (Figures 3 to 5),
as if the scores of one suite under several models were independent. Here suites are random, too, crossed with models (Figures
1 and 6), with corpora (3 to 5, by class) or with classes (3 and 4, by corpus).
"""

from collections.abc import Iterator, Sequence

import polars as pl

from syntagm.core import UsageError, span
from syntagm.evaluation import Kind
from syntagm.papers.hu2020.study import Study
from syntagm.stats import cluster_intervals, score, suite_intervals
from syntagm.views import INSTANCE, UNITS, Figure, circuits, classes, modifier_stability, modifiers, perplexity

TRAINED, SHELF = "trained for the study", "off the shelf"
ALL = "all classes"
EXPECTATION = "Gross Syntactic State (its name in the published data): Gross Syntactic Expectation in the paper"
# The random units of means over the corpora of a class, and over the classes of a corpus.
CORPORA = {"suites": ("suite",), "corpora": ("corpus",)}
CLASSES = {"suites": ("suite",), "classes": ("model",)}
PAIRED = {"pairs of suites": ("pair",), "models": INSTANCE}


# How intervals of Figures 1 and 3 are computed; "published" as the paper's error bars are.
INTERVALS = ("crossed", "published")


def figures(study: Study, intervals: str = INTERVALS[0]) -> Iterator[tuple[str, Figure]]:
    """Yield all figures for which the study has data, with the names of their files."""
    if intervals not in INTERVALS:
        raise UsageError("intervals", repr(intervals), " or ".join(INTERVALS))
    as_published = intervals == "published"
    # Deltas are differences from the mean over classes and corpora; for a single class and corpus they are always 0.
    comparable = study.items.filter(pl.col("corpus") != "").select("model", "corpus").n_unique() > 1
    yield "figure1", figure1(study, as_published)
    if study.instances()["perplexity"].count():
        yield "figure2", figure2(study)
    if comparable:
        yield "figure3", figure3(study, as_published)
    if comparable and study.circuits:
        yield "figure4_by_class", figure4_by_class(study)
        yield "figure4_by_corpus", figure4_by_corpus(study)
    if study.circuits:
        yield "figure5", figure5(study)
    if scores_of_pairs(study).height:
        yield "figure6", figure6(study)


def figure1(study: Study, as_published: bool = False) -> Figure:
    """Draw the scores of model classes, with all suites, corpora and seeds of a class pooled."""
    scores = labelled(study, study.scores())
    units = None if as_published else UNITS
    table = cluster_intervals.means(scores, ["model", "kind"], "score", Kind.SHARE, units, as_published)
    explained = "by a bootstrap of suite scores, as published" if as_published else _others(table)
    subtitle = [
        f"syntactic generalization: share of correct items, mean of {study.counted}{_pooled(study)}",
        f"95% interval, {explained}; n: number of suite scores",
        *study.remarks,
    ]
    return classes.draw(table, study.levels, "SG score by model class" if _pooled(study) else "SG score", subtitle)


def figure2(study: Study) -> Figure:
    """Draw the score of each model against its perplexity; models without a perplexity are drawn as lines."""
    table = labelled(study, study.instances()).join(_intervals(study), on=list(INSTANCE), how="left")
    corpora = [corpus for corpus in study.words if corpus in set(table["corpus"])]
    shown = table.filter(pl.col("perplexity").is_not_null() | (pl.col("kind") == SHELF))
    lines = "; dashed lines: off-the-shelf models, perplexity unknown" if (shown["kind"] == SHELF).any() else ""
    subtitle = [
        f"one point per trained model: share of correct items, mean of {study.counted}{lines}",
        "95% interval, for other suites and their items",
        *_sizes(study),
        *([f"dots: from small and open ({corpora[0]}) to large and filled ({corpora[-1]})"] if corpora[1:] else []),
        *study.mixed,
        *study.remarks,
    ]
    return perplexity.draw(shown, corpora, "SG score against perplexity", subtitle)


def figure3(study: Study, as_published: bool = False) -> Figure:
    """Draw deltas by model class and by corpus, with and without the models that the paper excludes by corpus."""
    deltas = labelled(study, study.deltas())
    of_corpora, of_classes = (
        {name: units[name]} if as_published else units for units, name in ((CORPORA, "corpora"), (CLASSES, "classes"))
    )
    explained = "for other suites, and other corpora or classes"
    if as_published:
        explained = "by a bootstrap of corpora, or classes, and scores within, as published"
    panels = [
        cluster_intervals.means(deltas, ["model"], "delta", Kind.NUMBER, of_corpora, as_published)
        .sort("value", descending=True)
        .rename({"model": "name"})
        .with_columns(by=pl.lit("by model class"), series=pl.lit("")),
        *[
            cluster_intervals.means(in_order(study, subset), ["corpus"], "delta", Kind.NUMBER, of_classes, as_published)
            .rename({"corpus": "name"})
            .with_columns(by=pl.lit("by corpus"), series=pl.lit(series))
            for series, subset in _with_and_without(study, deltas)
        ],
    ]  # fmt: skip
    table = pl.concat([panel.select(list(classes.DELTAS)) for panel in panels])
    subtitle = [
        "score on a suite minus the suite's mean over classes and corpora",
        f"95% interval, {explained}; n: number of suite scores",
        *_sizes(study),
        *study.remarks,
    ]
    return classes.draw_deltas(table, "Score deltas by model class and by corpus", subtitle)


def figure4_by_class(study: Study) -> Figure:
    """Draw deltas by circuit and model class."""
    means = cluster_intervals.means(_circuits(study, "delta"), ["circuit", "model"], "delta", Kind.NUMBER, CORPORA)
    of_models = cluster_intervals.means(labelled(study, study.deltas()), ["model"], "delta", Kind.NUMBER)
    order = of_models.sort("value", descending=True)["model"]
    table = _ranked(means.rename({"model": "name"}), list(order)).with_columns(series=pl.lit(""))
    subtitle = [*_per_model(table, "corpora"), *_names(study)]
    return circuits.draw(table, "score delta", "Score deltas by circuit and model class", subtitle)


def figure4_by_corpus(study: Study) -> Figure:
    """Draw deltas by circuit and corpus, with and without the models that the paper excludes."""
    keys, parts = ["circuit", "corpus"], _with_and_without(study, _circuits(study, "delta"))
    table = pl.concat([
        cluster_intervals.means(in_order(study, subset), keys, "delta", Kind.NUMBER, CLASSES).with_columns(series=pl.lit(series))
        for series, subset in parts
    ]).rename({"corpus": "name"})  # fmt: skip
    subtitle = [*_per_model(table, "model classes"), *_sizes(study), *_names(study)]
    return circuits.draw(table, "score delta", "Score deltas by circuit and corpus", subtitle)


def figure5(study: Study) -> Figure:
    """Draw scores by circuit and model; a single instance has the interval of its suites."""
    rows = _circuits(study, "score")
    repeated = rows.filter(pl.struct(*INSTANCE).n_unique().over("model", "circuit") > 1)
    means = cluster_intervals.means(repeated, ["circuit", "model"], "score", Kind.SHARE, CORPORA)
    single = _single(study, rows.filter(pl.struct(*INSTANCE).n_unique().over("model", "circuit") == 1))
    table = pl.concat([means.select(single.columns), single]).rename({"model": "name"})
    kinds = labelled(study, study.items).select(name="model", series="kind").unique(maintain_order=True)
    of_models = cluster_intervals.means(labelled(study, study.scores()), ["model"], "score", Kind.SHARE)
    order = of_models.sort("value", descending=True)["model"]
    ranked = _ranked(table.join(kinds, on="name", how="left"), list(order))
    alone = "dots of a single model: its mean over a circuit's suites; 95% interval, for other suites and their items"
    subtitle = [
        *(_per_model(means, "corpora") if len(means) else []),
        *([alone] if len(single) else []),
        *_names(study),
    ]
    series = list(kinds["series"].unique(maintain_order=True))
    return circuits.draw(ranked, "score", "SG score by circuit", subtitle, series)


def figure6(study: Study) -> Figure:
    """Draw the scores of suites with and without modifiers."""
    means = cluster_intervals.means(scores_of_pairs(study), ["model", "kind", "modifier"], "score", Kind.SHARE, PAIRED)
    of_models = scores_of_pairs(study).group_by("model").agg(pl.col("pair").n_unique())["pair"].to_list()
    subtitle = [
        f"mean of {span(of_models, 'suite')} each{_pooled(study)}",
        f"95% interval, {_others(means)}",
        "right: with minus without; n: number of suite scores without modifiers, and as many with",
        *study.remarks,
    ]
    return modifiers.draw(means, "Scores without and with modifiers", subtitle)


def scores_of_pairs(study: Study) -> pl.DataFrame:
    """Return the scores of paired suites: one row per instance, pair of suites and member of the pair."""
    return labelled(study, modifier_stability(study.scores()))


def _others(table: pl.DataFrame) -> str:
    """Say what the intervals of means are for; those over a single model are not for other models."""
    fixed = table["method"].str.contains("fixed:.*models")
    several = "" if fixed.all() else " and models" if not fixed.any() else ", and models of classes with several"
    return f"for other suites{several}"


def _per_model(table: pl.DataFrame, units: str) -> list[str]:
    counts = table["n"].to_list()
    return [
        f"mean over models of their mean over a circuit's suites ({min(counts)} to {max(counts)} suite scores per dot)",
        f"95% interval, for other suites and {units}",
    ]


def _sizes(study: Study) -> list[str]:
    corpora = set(study.items["corpus"])
    sizes = [f"{corpus} {words:g}" for corpus, words in study.words.items() if corpus in corpora]
    return [f"corpora, in millions of words: {', '.join(sizes)}"] if sizes else []


def _names(study: Study) -> list[str]:
    """Say that a circuit has another name in the paper, before the remarks."""
    return [*([EXPECTATION] if "Gross Syntactic State" in study.circuits.values() else []), *study.remarks]


def _pooled(study: Study) -> str:
    return ", all corpora and seeds of a class pooled" if any(study.items["corpus"]) else ""


def _models(study: Study) -> dict[str, str]:
    """Return the kind of each model: model -> kind, beginning with the models trained for the study."""
    pairs = study.items.select("model", "corpus").unique(maintain_order=True).iter_rows()
    kinds = {str(model): TRAINED if corpus else SHELF for model, corpus in pairs}
    return dict(sorted(kinds.items(), key=lambda pair: pair[1] == SHELF))


def labelled(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """Replace models by their labels, add the column `kind`, and put the models trained for the study first."""
    shelf = pl.when(pl.col("corpus") == "").then(pl.lit(SHELF)).otherwise(pl.lit(TRAINED))
    kind = (shelf if len(set(_models(study).values())) > 1 else pl.lit("")).alias("kind")
    names = {model: study.label(model) for model in _models(study)}
    labels_added = table.with_columns(kind, label=pl.col("model").replace_strict(names, return_dtype=pl.String))
    ordered = labels_added.sort(pl.col("corpus") == "", maintain_order=True)
    return ordered.with_columns(model=pl.col("label")).drop("label")


def in_order(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """Sort rows by corpus, beginning with the largest."""
    rank = {corpus: -index for index, corpus in enumerate(study.words)}
    return table.sort(pl.col("corpus").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)


def _ranked(table: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    rank = {name: index for index, name in enumerate(order)}
    return table.sort(pl.col("name").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)


def _with_and_without(study: Study, table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    labels = [study.label(model) for model in study.absent]
    if not (labels and (table["model"].is_in(labels)).any()):
        return [("", table)]
    return [(f"without {', '.join(labels)}, as published", table.filter(~pl.col("model").is_in(labels))), (ALL, table)]


def _circuits(study: Study, column: str) -> pl.DataFrame:
    """Return a column of suites that belong to a circuit, with the column `circuit`: a row per instance and suite."""
    rows = (study.deltas() if column == "delta" else study.scores()).with_columns(circuit=_circuit(study))
    return labelled(study, rows.drop_nulls("circuit").select(*INSTANCE, "suite", "circuit", column))


def _circuit(study: Study) -> pl.Expr:
    return pl.col("suite").replace_strict(study.circuits, default=None, return_dtype=pl.String)


def _intervals(study: Study) -> pl.DataFrame:
    rows = [(*instance, *_interval(items)) for instance, items in study.items.group_by(INSTANCE, maintain_order=True)]
    schema = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, **_INTERVAL}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return labelled(study, table).drop("kind")


def _interval(items: pl.DataFrame) -> tuple[float, float, int, str]:
    # Keep suites without a defined item: the mean over suites is then undefined, and so is its interval.
    values = {
        str(suite): suite_items["value"].filter(suite_items["value"].is_not_nan()).to_numpy()
        for (suite,), suite_items in items.group_by(["suite"], maintain_order=True)
    }
    found = suite_intervals.over_suites(values, Kind.VERDICT)
    n = sum(len(items_of_suite) for items_of_suite in values.values())
    return found.low, found.high, n, score.over(len(values), found.method)


def _single(study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    items = labelled(study, study.items).with_columns(circuit=_circuit(study))
    estimates = []
    for (circuit, model), scores in rows.group_by("circuit", "model", maintain_order=True):
        chosen = items.filter((pl.col("model") == model) & (pl.col("circuit") == circuit))
        estimates.append((circuit, model, scores["score"].mean(), *_interval(chosen)))
    schema = {"circuit": pl.String, "model": pl.String, "value": pl.Float64, **_INTERVAL}
    return pl.DataFrame(estimates, schema=schema, orient="row")


_INTERVAL = {"low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "method": pl.String}
