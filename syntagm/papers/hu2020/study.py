"""What the figures of Hu et al. 2020 are drawn of: scores of model instances, wherever they come from.

The instances are of model classes that were trained for a study, each on corpora of several sizes with several seeds, and of
models taken off the shelf, which have no corpus.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from syntagm.errors import RunError
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.stats.chance import chance
from syntagm.views import classes
from syntagm.views.scores import numbers as estimates

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Study:
    """Model instances and what they score.

    Arguments:
        items: columns as in `views.classes.ITEM`; corpus is empty for models off the shelf. Of the suites that count.
        circuits: suite -> circuit, of those that have one.
        perplexity: columns model, corpus, seed, perplexity; perhaps empty.
        words: corpus -> millions of words, in ascending order: the order in which corpora are shown.
        labels: model -> what to call it.
        chance: what independent draws would score over the suites; nan where that isn't known.
        absent: the models that the published figures by corpus leave out.
        words_alike: the neural models that read whole words, whose perplexities can be compared.
        remarks: lines that every figure by model has below its title.
    """

    items: pl.DataFrame
    circuits: Mapping[str, str]
    perplexity: pl.DataFrame
    words: Mapping[str, float]
    labels: Mapping[str, str] = field(default_factory=dict)
    chance: float = float("nan")
    absent: tuple[str, ...] = ()
    words_alike: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def label(self, model: str) -> str:
        """What to call a model."""
        return self.labels.get(model, model)

    @property
    def suites(self) -> list[str]:
        """The suites, in the order of first appearance."""
        return [str(name) for name in self.items["suite"].unique(maintain_order=True)]

    def scores(self) -> pl.DataFrame:
        """A row an instance and suite; see `views.classes.suite_scores`."""
        return classes.suite_scores(self.items)

    def deltas(self) -> pl.DataFrame:
        """The scores of the models that have a corpus, with their deltas."""
        return classes.score_deltas(self.scores().filter(pl.col("corpus") != ""))

    def instances(self) -> pl.DataFrame:
        """A row an instance: model, corpus, seed, score, suites, perplexity (null where it isn't known), words."""
        scores = classes.over_suites(self.scores())
        joined = scores.join(self.perplexity, on=list(classes.INSTANCE), how="left", maintain_order="left")
        sizes = {"corpus": list(self.words), "words": [float(one) for one in self.words.values()]}
        table = pl.DataFrame(sizes, schema={"corpus": pl.String, "words": pl.Float64})
        return joined.join(table, on="corpus", how="left", maintain_order="left")


def of_runs(runs: Sequence[Run], aside: Sequence[str] = ()) -> Study:
    """The study of models off the shelf, a run each; models of one name are numbered.

    Arguments:
        aside: the suites that don't count.

    Raises:
        RunError: there is nothing that counts, or a run is of the kind `fill`, whose verdicts are about other items.
    """
    names: dict[str, str] = {}
    parts = []
    for run in runs:
        if not run.task.conjoins:
            raise RunError(run.place, f"a run of the task {run.task.name}", "one of predictions")
    for number, run in enumerate(runs, 1):
        several = sum(one.model == run.model for one in runs) > 1
        model = f"{number}: {run.model}"
        names[model] = model if several else run.model
        parts.append(_items(run, model, "", 0))
    empty = pl.DataFrame(schema={"model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64})
    study = _study(runs, parts, aside, empty, {}, names)
    return replace(study, remarks=_unequal(study, dict(zip(names, runs, strict=True))))


def _unequal(study: Study, runs: Mapping[str, Run]) -> tuple[str, ...]:
    """What keeps the scores of some models from being over the same items."""
    counts = study.items.group_by("model", maintain_order=True).agg(pl.col("suite").n_unique())
    there, all_of_them = dict(counts.iter_rows()), set(study.suites)
    short = [f"{study.label(model)}: {there.get(model, 0)}" for model in runs if there.get(model, 0) < len(all_of_them)]
    going_on = [study.label(model) for model, run in runs.items() if not run.done]
    hashes: dict[str, set[str]] = {}
    for suite in (suite for run in runs.values() for suite in run.suites if suite.name in all_of_them):
        hashes.setdefault(suite.name, set()).add(suite.hash)
    differing = [name for name, found in hashes.items() if len(found) > 1]
    lines = {
        f"not all have the {len(all_of_them)} suites": short,
        "not finished": going_on,
        "not the same items in all runs": differing,
    }
    return tuple(f"{line}: {_some(names)}" for line, names in lines.items() if names)


def _some(names: Sequence[str]) -> str:
    """The first of them, and how many more.

    >>> _some(["a", "b", "c", "d", "e"])
    'a, b, c, and 2 more'
    """
    return ", ".join(names[:_SHOWN]) + (f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def of_experiment(
    found: Iterable[tuple[Mapping[str, Any], Run]], words: Mapping[str, float], aside: Sequence[str] = ()
) -> Study:
    """The study of a controlled experiment: families, sizes and seeds.

    Arguments:
        found: of each finished model its family, size, seed and perplexity, and its run.
        words: size -> millions of words.
        aside: the suites that don't count.

    Raises:
        RunError: there is nothing that counts.
    """
    pairs = list(found)
    parts = [_items(run, one["family"], one["size"], one["seed"]) for one, run in pairs]
    rows = [(one["family"], one["size"], one["seed"], float(one["perplexity"])) for one, _ in pairs]
    schema = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64}
    perplexity = pl.DataFrame(rows, schema=schema, orient="row").filter(pl.col("perplexity").is_finite())
    ordered = dict(sorted(words.items(), key=lambda pair: pair[1]))
    return _study([run for _, run in pairs], parts, aside, perplexity, ordered, {})


def _study(
    runs: Sequence[Run], parts: Sequence[pl.DataFrame], aside: Sequence[str], perplexity: pl.DataFrame,
    words: Mapping[str, float], labels: Mapping[str, str],
) -> Study:  # fmt: skip
    items = pl.concat([pl.DataFrame(schema=classes.ITEM), *parts]).filter(~pl.col("suite").is_in(list(aside)))
    if not len(items):
        place = runs[0].place if runs else "runs"
        raise RunError(place, "no results that count", "results of suites with predictions", "Run hu2020.")
    there = set(items["suite"])
    counted = {suite.name: suite for run in runs for suite in run.suites if suite.name in there}
    circuits = {name: suite.tags["circuit"] for name, suite in counted.items() if "circuit" in suite.tags}
    expected = chance.mean([estimates.chance_of_suite(suite, "first") for suite in counted.values()])
    return Study(items, circuits, perplexity, words, labels, expected.value)


def _items(run: Run, model: str, corpus: str, seed: int) -> pl.DataFrame:
    """The verdicts of first predictions."""
    rows = score.verdicts(run.results(), estimates.predictions(run, "first"), "first")
    return rows.select(
        pl.lit(model).alias("model"), pl.lit(corpus).alias("corpus"), pl.lit(seed, pl.Int64).alias("seed"), "suite",
        "item", "value",
    )  # fmt: skip
