"""Figures 1 to 6 of Hu et al. 2020, of any study: of their raw data, or of an experiment of our own.

Bars of the paper are means of pooled rows, and so are the dots here: a model class with more seeds on one corpus weighs that
corpus more. Intervals are percentile bootstraps of rows (Figures 1 and 6) or of units first, then rows (Figures 3 to 5).
"""

from collections.abc import Iterator, Sequence

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.papers.hu2020.study import Study
from syntagm.stats import bootstrap, clustered
from syntagm.views import circuits, classes, modifiers, perplexity
from syntagm.views.classes import INSTANCE
from syntagm.views.modifiers import modifier_stability

TRAINED, SHELF = "trained for the study", "off the shelf"
ALL = "all classes"


def figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """All figures that the study has the numbers for, by the names of their files."""
    # Deltas are from the mean of all classes and corpora: of a single one they are 0 whatever it scores.
    several = study.items.filter(pl.col("corpus") != "").select("model", "corpus").n_unique() > 1
    yield "figure1", figure1(study)
    if study.instances()["perplexity"].count():
        yield "figure2", figure2(study)
    if several:
        yield "figure3", figure3(study)
    if several and study.circuits:
        yield "figure4_by_class", figure4_by_class(study)
        yield "figure4_by_corpus", figure4_by_corpus(study)
    if study.circuits:
        yield "figure5", figure5(study)
    if modified(study).height:
        yield "figure6", figure6(study)


def figure1(study: Study) -> Figure:
    """The scores of model classes: all suites, corpora and seeds of a class pooled."""
    found = clustered.means(labelled(study, study.scores()), ["model", "kind"], "score")
    subtitle = [
        f"syntactic generalization: share of right items, mean of {_counted(len(study.suites))}{_pooled(study)}",
        "95% interval: suite scores redrawn; n: how many they are",
        *study.remarks,
    ]
    return classes.draw(found, study.chance, "SG score by model class" if _pooled(study) else "SG score", subtitle)


def figure2(study: Study) -> Figure:
    """The score of each model against its perplexity; models without perplexity as lines."""
    table = labelled(study, study.instances()).join(_redrawn(study), on=list(INSTANCE), how="left")
    corpora = [corpus for corpus in study.words if corpus in set(table["corpus"])]
    there = table.filter(pl.col("perplexity").is_not_null() | (pl.col("kind") == SHELF))
    lines = "; dashed lines: models off the shelf, perplexity not known" if (there["kind"] == SHELF).any() else ""
    subtitle = [
        f"a point a trained model: share of right items, mean of {_counted(len(study.suites))}{lines}",
        "95% interval: items redrawn within suites",
        *_sizes(study),
        *study.remarks,
    ]
    return perplexity.draw(there, corpora, "SG score against perplexity", subtitle)


def figure3(study: Study) -> Figure:
    """Deltas by model class, and by corpus; where the paper leaves models out by corpus, with and without them."""
    deltas = labelled(study, study.deltas())
    panels = [
        clustered.means(deltas, ["model"], "delta", "corpus").sort("value", descending=True).rename({"model": "name"})
        .with_columns(by=pl.lit("by model class"), series=pl.lit("")),
        *[
            clustered.means(in_order(study, part), ["corpus"], "delta", "model").rename({"corpus": "name"})
            .with_columns(by=pl.lit("by corpus"), series=pl.lit(series))
            for series, part in _with_and_without(study, deltas)
        ],
    ]  # fmt: skip
    table = pl.concat([panel.select(list(classes.DELTAS)) for panel in panels])
    subtitle = [
        "score on a suite minus the suite's mean over classes and corpora",
        "95% interval: corpora, or classes, redrawn, then suite scores within each; n: how many they are",
        *_sizes(study),
        *study.remarks,
    ]
    return classes.draw_deltas(table, "Score deltas by model class and by corpus", subtitle)


def figure4_by_class(study: Study) -> Figure:
    """Deltas by circuit and model class."""
    found = clustered.means(_circuits(study, "delta"), ["circuit", "model"], "delta", "corpus")
    order = clustered.means(labelled(study, study.deltas()), ["model"], "delta").sort("value", descending=True)["model"]
    table = _ranked(found.rename({"model": "name"}), list(order)).with_columns(series=pl.lit(""))
    return circuits.draw(
        table, "score delta", "Score deltas by circuit and model class", [*_per_model(table, "corpora"), *study.remarks]
    )


def figure4_by_corpus(study: Study) -> Figure:
    """Deltas by circuit and corpus; where the paper leaves models out, with and without them."""
    parts = [
        clustered.means(in_order(study, part), ["circuit", "corpus"], "delta", "model").with_columns(
            series=pl.lit(series)
        )
        for series, part in _with_and_without(study, _circuits(study, "delta"))
    ]
    table = pl.concat(parts).rename({"corpus": "name"})
    return circuits.draw(
        table,
        "score delta",
        "Score deltas by circuit and corpus",
        [*_per_model(table, "model classes"), *_sizes(study), *study.remarks],
    )


def figure5(study: Study) -> Figure:
    """Scores by circuit and model; of a single instance items are redrawn."""
    rows = _circuits(study, "score")
    several = rows.filter(pl.len().over("model", "circuit") > 1)
    found = clustered.means(several, ["circuit", "model"], "score", "corpus")
    single = _single(study, rows.filter(pl.len().over("model", "circuit") == 1))
    table = pl.concat([found.select(single.columns), single]).rename({"model": "name"})
    kinds = labelled(study, study.items).select(name="model", series="kind").unique(maintain_order=True)
    order = clustered.means(labelled(study, study.scores()), ["model"], "score").sort("value", descending=True)["model"]
    ranked = _ranked(table.join(kinds, on="name", how="left"), list(order))
    subtitle = [
        *(_per_model(found, "corpora") if len(found) else []),
        *(["dots of one model: its mean over a circuit's suites; 95% interval: items redrawn"] if len(single) else []),
        *study.remarks,
    ]
    return circuits.draw(
        ranked, "score", "SG score by circuit", subtitle, list(kinds["series"].unique(maintain_order=True))
    )


def figure6(study: Study) -> Figure:
    """Scores of suites without and with modifiers."""
    found = clustered.means(modified(study), ["model", "kind", "modifier"], "score")
    pairs = modified(study)["pair"].n_unique()
    subtitle = [
        f"mean of {_counted(pairs)} each{_pooled(study)}; 95% interval: suite scores redrawn",
        "at the right: with minus without; n: suite scores without and as many with",
        *study.remarks,
    ]
    return modifiers.draw(found, "Scores without and with modifiers", subtitle)


def modified(study: Study) -> pl.DataFrame:
    """A row an instance, pair of suites and member of the pair."""
    return labelled(study, modifier_stability(study.scores(), modifiers.PAIRS))


def _per_model(table: pl.DataFrame, units: str) -> list[str]:
    least, most = table.select(pl.col("n").min().alias("least"), pl.col("n").max().alias("most")).row(0)
    return [
        f"mean over models ({least} to {most} a dot) of their mean over a circuit's suites",
        f"95% interval: {units} redrawn, then models within each",
    ]


def _sizes(study: Study) -> list[str]:
    """What the names of corpora mean."""
    there = set(study.items["corpus"])
    known = [f"{corpus} {words:g}" for corpus, words in study.words.items() if corpus in there]
    return [f"corpora, in millions of words: {', '.join(known)}"] if known else []


def _counted(suites: int) -> str:
    return "1 suite" if suites == 1 else f"{suites} suites"


def _pooled(study: Study) -> str:
    return ", all corpora and seeds of a class pooled" if any(study.items["corpus"]) else ""


def _models(study: Study) -> dict[str, str]:
    """Model -> its kind, models that were trained for the study first."""
    pairs = study.items.select("model", "corpus").unique(maintain_order=True).iter_rows()
    kinds = {str(model): TRAINED if corpus else SHELF for model, corpus in pairs}
    return dict(sorted(kinds.items(), key=lambda pair: pair[1] == SHELF))


def labelled(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """The table with models by their labels, a column kind, and the models of the study first."""
    shelf = pl.when(pl.col("corpus") == "").then(pl.lit(SHELF)).otherwise(pl.lit(TRAINED))
    kind = (shelf if len(set(_models(study).values())) > 1 else pl.lit("")).alias("kind")
    names = {model: study.label(model) for model in _models(study)}
    made = table.with_columns(kind, label=pl.col("model").replace_strict(names, return_dtype=pl.String))
    sort = made.sort(pl.col("corpus") == "", maintain_order=True)
    return sort.with_columns(model=pl.col("label")).drop("label")


def in_order(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """Rows by corpus, the largest first."""
    rank = {corpus: -at for at, corpus in enumerate(study.words)}
    return table.sort(pl.col("corpus").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)


def _ranked(table: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    rank = {name: at for at, name in enumerate(order)}
    return table.sort(pl.col("name").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)


def _with_and_without(study: Study, table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    labels = [study.label(model) for model in study.absent]
    if not (labels and (table["model"].is_in(labels)).any()):
        return [("", table)]
    return [(f"without {', '.join(labels)}, as published", table.filter(~pl.col("model").is_in(labels))), (ALL, table)]


def _circuits(study: Study, column: str) -> pl.DataFrame:
    """A row an instance and circuit: the mean of a column over the circuit's suites."""
    table = study.deltas() if column == "delta" else study.scores()
    return labelled(study, classes.by_circuit(table, study.circuits, column))


def _redrawn(study: Study) -> pl.DataFrame:
    """The interval of each instance's score, items redrawn within suites."""
    rows = []
    for instance, part in study.items.group_by(INSTANCE, maintain_order=True):
        rows.append((*instance, *_interval(part), bootstrap.method_over_suites(part["suite"].n_unique())))
    schema = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, **_INTERVAL, "method": pl.String}
    found = pl.DataFrame(rows, schema=schema, orient="row")
    return labelled(study, found).drop("kind")


def _interval(items: pl.DataFrame) -> tuple[float, float, int]:
    # A suite without a defined item stays: the mean over suites is then undefined, and so is its interval.
    values = {
        str(suite): part["value"].filter(part["value"].is_not_nan()).to_numpy()
        for (suite,), part in items.group_by(["suite"], maintain_order=True)
    }
    low, high = bootstrap.interval_over_suites(values)
    return low, high, sum(len(one) for one in values.values())


def _single(study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    """A row a circuit and model of one instance: its score, items redrawn within the circuit's suites."""
    items = labelled(study, study.items).with_columns(
        circuit=pl.col("suite").replace_strict(study.circuits, default=None, return_dtype=pl.String)
    )
    made = []
    for row in rows.iter_rows(named=True):
        same = (pl.col("model") == row["model"]) & (pl.col("corpus") == row["corpus"])
        part = items.filter(same & (pl.col("circuit") == row["circuit"]))
        method = bootstrap.method_over_suites(part["suite"].n_unique())
        made.append((row["circuit"], row["model"], row["score"], *_interval(part), method))
    schema = {"circuit": pl.String, "model": pl.String, "value": pl.Float64, **_INTERVAL, "method": pl.String}
    return pl.DataFrame(made, schema=schema, orient="row")


_INTERVAL = {"low": pl.Float64, "high": pl.Float64, "n": pl.Int64}
