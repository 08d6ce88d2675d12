"""The training study of Warstadt et al. 2020 (sections 4.1 and 6.3) on a corpus of one's own: accuracy by amount of text.

Models of each family are trained on subsets of several sizes, drawn from the corpus in several random samples (five in the
paper), and scored on the paradigms. A point of a learning curve is a model; a band is the mean over the samples of one
size with its 95% interval, for other samples of the same corpus. Of models that differ only in their seeds, the mean
counts as one value, since seeds of one sample share their text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from syntagm.core import Progress
from syntagm.evaluation import Estimate
from syntagm.papers.experiment import design
from syntagm.papers.experiment.design import Design
from syntagm.papers.experiment.experiment import carry_out
from syntagm.papers.warstadt2020 import tables
from syntagm.papers.warstadt2020.paradigms import Paradigm, paradigms
from syntagm.runs import Run
from syntagm.stats import Sample, interval, score
from syntagm.views import Cell, Figure, Table, learning_curve, methods, or_none

SIZES = {"xs": 125_000, "sm": 250_000, "md": 500_000, "lg": 1_000_000}
SAMPLES = 3
# Sizes of section 6.3, from 1/8 to 64 million, of words here, and the samples of each.
PAPER = {f"{n}k": n * 1000 for n in (125, 250, 500)} | {f"{2**n}m": 2**n * 1_000_000 for n in range(7)}, 5
SEEDS = (1,)
_SUMS = ("perplexity", "unknown")
_Finished = Sequence[tuple[Mapping[str, Any], Run]]


@dataclass(frozen=True, slots=True)
class Accuracies:
    """The accuracies of the models of a study."""

    estimates: list[Estimate]  # accuracy over all paradigms, by field and by category, as `tables.means` returns them
    samples: tables.Samples  # the items of each (model, paradigm)
    known: Mapping[str, Paradigm]  # paradigm -> category and field


def experiment(design: Design, progress: Progress | None = None) -> Table:
    """Carry out the study, or resume it; for the errors see `carry_out`."""
    return carry_out(design, results, progress)


def results(folder: Path) -> Table:
    finished = list(design.finished_models(folder))
    values = {
        (estimate.group.model, estimate.group["phenomenon"]): estimate.value
        for estimate in _accuracies(finished).estimates
        if estimate.group["over"] != "field"
    }
    categories = list(dict.fromkeys(name for _, name in values))
    keys = design.distinguishing_keys(finished)
    rows: list[tuple[Cell, ...]] = [
        (
            *(model[key] for key in (*keys, "training_words", *_SUMS)),
            *(or_none(values.get((design.cell_of(model).name, name), nan)) for name in categories),
        )
        for model, _ in finished
    ]
    notes = (
        "words: words of the training text. Perplexity: on the test text, per whitespace-separated word, sentence ends "
        "included.",
        "Accuracy: the mean over all paradigms, and over those of each category. Ties count as wrong. Chance is 1/2.",
    )
    return Table("Training study", (*keys, "words", "perplexity", "unknown_words", *categories), tuple(rows), (), notes)


def outputs(folder: Path) -> Iterator[tuple[str, Table | Figure]]:
    """Make the learning curves by category, the means by size, and the gains per doubling of the text."""
    finished = list(design.finished_models(folder))
    found = _accuracies(finished)
    models = {design.cell_of(model).name: model for model, _ in finished}
    if not found.estimates:
        return
    rows = [
        (estimate.group["phenomenon"], models[name]["family"], name, models[name]["requested_words"], estimate.value)
        for estimate in found.estimates
        if estimate.group["over"] != "field" and (name := estimate.group.model)
    ]
    schema = {name: kind for name, kind in learning_curve.SCHEMA.items() if name not in ("low", "high", "n", "method")}
    points = pl.DataFrame(rows, schema=schema, orient="row")
    means = over_samples(points, {name: model["sample"] for name, model in models.items()})
    yield "table_means", _means_table(means)
    humans = tables.people_of_all(found.samples, found.known)
    if points["words"].n_unique() > 1:
        yield "table_slopes", tables.slope_table(learning_curve.slopes(points), found.samples, found.known)
    empty = {column: pl.lit(nan) for column in ("low", "high", "sd")}
    bare = points.with_columns(**empty, n=pl.lit(1, pl.Int64), method=pl.lit(""))
    title = "Accuracy by amount of training text"
    several = means.filter(pl.col("samples") > 1).drop("samples")
    bars = "bar: standard deviation over samples, on either side of their mean, as in the paper's Figure 5"
    notes = [bars] if len(several) else []
    units = "other samples of the corpus"
    yield "learning_curve", learning_curve.draw(bare, humans, title, several, units=units, notes=notes)


def over_samples(points: pl.DataFrame, samples: Mapping[str, int]) -> pl.DataFrame:
    """Average the models of each family, size and category over the samples of the corpus.

    Arguments:
        points: a row for each model and category, with the columns phenomenon, family, model, words and value.
        samples: model -> the number of its sample.

    Returns:
        The columns of `learning_curve.SCHEMA`, of which n is the number of models, and the columns sd (the standard
        deviation over samples) and samples.

    >>> points = pl.DataFrame({"phenomenon": "all", "family": "lstm", "model": ["a", "b", "c"], "words": 10,
    ...                        "value": [0.5, 0.7, 0.8]})
    >>> over_samples(points, {"a": 1, "b": 1, "c": 2}).select("value", "n", "samples").row(0)  # (.6 + .8) / 2
    (0.7, 3, 2)
    """
    rows = []
    numbered = points.with_columns(sample=pl.col("model").replace_strict(samples, return_dtype=pl.Int64))
    for (phenomenon, family, words), group in numbered.group_by("phenomenon", "family", "words", maintain_order=True):
        values = group.group_by("sample", maintain_order=True).agg(pl.col("value").mean())["value"].to_numpy()
        found = interval.of_numbers(values, "samples of the corpus")
        low, high = max(0.0, found.low), min(1.0, found.high)
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else nan
        name = f"mean of {len(group)}"
        bounds = (low, high) if len(values) > 1 else (nan, nan)
        mean = round(float(values.mean()), 12)
        rows.append((phenomenon, family, name, words, mean, *bounds, len(group), found.method, sd, len(values)))
    schema = {**learning_curve.SCHEMA, "sd": pl.Float64, "samples": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _means_table(means: pl.DataFrame) -> Table:
    columns = ("category", "family", "words", "accuracy", "sd", "low", "high", "samples", "models")
    rows = tuple(
        (
            row["phenomenon"], row["family"], row["words"], or_none(row["value"]), or_none(row["sd"]), or_none(row["low"]),
            or_none(row["high"]), row["samples"], row["n"],
        )
        for row in means.iter_rows(named=True)
    )  # fmt: skip
    notes = (
        "accuracy: the mean over the samples of the corpus of one size; of several seeds in a sample, their mean. sd: the "
        "standard deviation over samples. Interval: 95 %, Student's t, for other samples of the same corpus, not for other "
        "items.",
        "words: the requested size; a text has at most one sentence more.",
    )
    return Table("Accuracy by amount of training text", columns, rows, (), notes)


def _accuracies(finished: _Finished) -> Accuracies:
    samples: dict[score.Key, Sample] = {}
    known: dict[str, Paradigm] = {}
    for model, run in finished:
        known |= paradigms([suite for suite in run.suites if methods.WHOLE in suite.predictions])
        results = run.results().with_columns(model=pl.lit(design.cell_of(model).name))
        by_suite = score.of_results(results, methods.WHOLE, run.kind(methods.WHOLE), run.tolerance)
        samples |= {key: sample for key, sample in by_suite.items() if key[1] in known}
    return Accuracies(tables.means(samples, known), samples, known)
