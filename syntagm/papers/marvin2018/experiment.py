"""The comparison of Marvin and Linzen 2018 on a corpus of one's own: an LSTM with one task against one with two.

The paper's Multitask model has a higher accuracy than its RNN in most constructions, and a lower perplexity. Each of these
findings is compared with that of models trained here: it holds if the difference has the same sign for each seed and
its 95% interval, for other items, does not contain 0; it does not hold if the interval lies on the other side, again with
all seeds; otherwise the data can't tell. The accuracy of an item is its mean over seeds, so intervals don't cover the
variation between seeds; the differences of single seeds stand beside.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from syntagm.core import Progress, RunError
from syntagm.papers.experiment import design as places
from syntagm.papers.experiment.design import Design
from syntagm.papers.experiment.experiment import carry_out
from syntagm.papers.marvin2018.constructions import by_construction, constructions, probable
from syntagm.papers.paper import cited
from syntagm.runs import Run
from syntagm.stats import interval
from syntagm.training import record as training
from syntagm.views import Cell, Table, or_none

ONE, TWO = "lstm", "multitask"
# Their names in the paper.
PAPER_ONE, PAPER_TWO = "RNN", "Multitask"
FAMILIES = ("ngram", ONE, TWO)
SIZES = {"xs": 200_000}
SEEDS = (1, 2)
HOLDS, FAILS, UNCLEAR, EQUAL = "holds", "does not hold", "unclear", "no difference in the paper"
INCOMPARABLE = "not comparable: other unknown words"
_Finished = tuple[Mapping[str, Any], Run]


def experiment(design: Design, progress: Progress | None = None) -> Table:
    """Carry out the experiment, or resume it; for the errors see `carry_out`."""
    return carry_out(design, results, progress)


def results(folder: Path) -> Table:
    finished = list(places.finished_models(folder))
    keys = places.distinguishing_keys(finished)
    names = [name for name in _constructions() if any(name in constructions(run) for _, run in finished)]
    rows: list[tuple[Cell, ...]] = []
    for model, run in finished:
        accuracies = by_construction(run, constructions(run))
        found = [accuracies.get((name, probable(name))) for name in names]
        values = [or_none(estimate.value) if estimate else None for estimate in found]
        tagging = _tagging(folder, model)
        rows.append((*(model[key] for key in (*keys, "training_words", "perplexity", "unknown")), tagging, *values))
    columns = (*keys, "words", "perplexity", "unknown_words", "tags_correct", *names)
    notes = (
        "words: words of the training text. Perplexity: on the test text, per whitespace-separated word, sentence ends "
        "included. tags_correct: the share of the held-out words whose tag is correct.",
        "Accuracy over all items of a construction; of triples, in the comparison that the paper's numbers probably belong "
        "to. Ties count as wrong.",
    )
    return Table("Controlled experiment", columns, tuple(rows), (), notes)


def outputs(folder: Path) -> Iterator[tuple[str, Table]]:
    """Make the comparison of one task with two, for each size with finished models of both."""
    finished = list(places.finished_models(folder))
    sizes = list(dict.fromkeys(model["size"] for model, _ in finished))
    for size in sizes:
        one, two = (_of(finished, family, size) for family in (ONE, TWO))
        if seeds := sorted(one.keys() & two.keys()):
            name = "comparison" + (f"_{size}" if len(sizes) > 1 else "")
            yield name, _comparison(size, [one[seed] for seed in seeds], [two[seed] for seed in seeds], seeds)


def _of(finished: Sequence[_Finished], family: str, size: str) -> dict[tuple[int, int], _Finished]:
    """Return the models of a family and a size, by sample and seed."""
    own = [(model, run) for model, run in finished if (model["family"], model["size"]) == (family, size)]
    return {(model["sample"], model["seed"]): (model, run) for model, run in own}


def _comparison(
    size: str, one: Sequence[_Finished], two: Sequence[_Finished], seeds: Sequence[tuple[int, int]]
) -> Table:
    published = {line["construction"]: line for line in cited("marvin2018")["table1"]}
    first, second = ([_values(run) for _, run in models] for models in (one, two))
    rows: list[tuple[Cell, ...]] = []
    for name in _constructions():
        items = [table.filter(pl.col("construction") == name).drop("construction") for table in (*first, *second)]
        if any(table.is_empty() for table in items):
            continue
        joined = items[0]
        for number, table in enumerate(items[1:], 1):
            joined = joined.join(table, on=("suite", "item"), suffix=f"_{number}", maintain_order="left")
        values = joined.drop("suite", "item").to_numpy()
        values = values[~np.isnan(values).any(axis=1)]
        differences = values[:, len(seeds) :] - values[:, : len(seeds)]
        found, by_seed = interval.of_numbers(differences.mean(axis=1)), differences.mean(axis=0)
        difference = float(differences.mean()) if len(values) else float("nan")
        in_paper = published[name][PAPER_TWO] - published[name][PAPER_ONE]
        rows.append((
            name, *(or_none(float(part.mean())) for part in np.split(values, 2, axis=1)), or_none(difference),
            or_none(found.low), or_none(found.high), ", ".join(f"{value:+.3f}" for value in by_seed),
            len(values), published[name][PAPER_ONE], published[name][PAPER_TWO],
            _verdict(in_paper, found.low, found.high, by_seed),
        ))  # fmt: skip
    rows.append(_perplexities(one, two))
    columns = (
        "finding", ONE, TWO, "difference", "low", "high", "by_seed", "n", PAPER_ONE, PAPER_TWO, "paper's finding",
    )  # fmt: skip
    notes = (
        f"Seeds: {_shown(seeds)}. Accuracy of an item: its mean over seeds. Intervals: 95 %, for other items; "
        "they don't cover the variation between seeds (by_seed: the difference of each seed).",
        f"{HOLDS}: the difference has the sign of the paper's for each seed, and the interval does not contain 0; {FAILS}: "
        f"both are on the other side; {UNCLEAR}: neither. Of perplexities: all seeds, or none, agree with the paper.",
        f"{PAPER_ONE}, {PAPER_TWO}: transcribed from {cited('marvin2018')['source']}",
    )
    return Table(f"One task against two, {size}", columns, tuple(rows), (PAPER_ONE, PAPER_TWO), notes)


def _shown(seeds: Sequence[tuple[int, int]]) -> str:
    """List the seeds, with the samples of the corpus if there are several.

    >>> _shown([(1, 1), (1, 2)]), _shown([(1, 1), (2, 1)])
    ('1, 2', '1, 1 (sample 2)')
    """
    return ", ".join(f"{seed} (sample {sample})" if sample > 1 else str(seed) for sample, seed in seeds)


def _perplexities(one: Sequence[_Finished], two: Sequence[_Finished]) -> tuple[Cell, ...]:
    """Return the row of the perplexities, geometric means over seeds."""
    pairs = [(first["perplexity"], second["perplexity"]) for (first, _), (second, _) in zip(one, two, strict=True)]
    means = [float(np.exp(np.log(values).mean())) for values in zip(*pairs, strict=True)]
    lower = [second < first for first, second in pairs]
    verdict = HOLDS if all(lower) else UNCLEAR if any(lower) else FAILS
    unknown = [[(model["unknown"], model["undefined"]) for model, _ in models] for models in (one, two)]
    verdict = verdict if unknown[0] == unknown[1] else INCOMPARABLE
    by_seed = ", ".join(f"{second - first:+.1f}" for first, second in pairs)
    words, in_paper = (
        int(one[0][0]["words"]),
        [cited("marvin2018")["perplexity"][name] for name in (PAPER_ONE, PAPER_TWO)],
    )
    return ("Perplexity", *means, means[1] - means[0], None, None, by_seed, words, *in_paper, verdict)


def _verdict(in_paper: float, low: float, high: float, by_seed: Sequence[float]) -> str:
    """Return what a 95% interval, and the differences of single seeds, say of the paper's difference.

    >>> _verdict(0.1, 0.02, 0.3, [0.1, 0.2]), _verdict(0.1, -0.3, -0.1, [-0.2]), _verdict(0.0, 0.1, 0.2, [0.1])
    ('holds', 'does not hold', 'no difference in the paper')
    >>> _verdict(-0.1, -0.1, 0.2, [0.1]), _verdict(0.1, 0.02, 0.3, [0.4, -0.1])
    ('unclear', 'unclear')
    """
    if abs(in_paper) < 1e-9:
        return EQUAL
    if in_paper < 0:
        low, high, by_seed = -high, -low, [-value for value in by_seed]
    if low > 0 and min(by_seed) > 0:
        return HOLDS
    return FAILS if high < 0 and max(by_seed) < 0 else UNCLEAR


def _values(run: Run) -> pl.DataFrame:
    """Return the value of each item in the comparison of its construction, with the construction."""
    names = {suite: name for name, members in constructions(run).items() for suite in members}
    measures = {suite: probable(name) for suite, name in names.items()}
    rows = run.results().filter(pl.col("suite").is_in(list(names)))
    rows = rows.with_columns(
        construction=pl.col("suite").replace_strict(names, return_dtype=pl.String),
        wanted=pl.col("suite").replace_strict(measures, return_dtype=pl.String),
    )
    return rows.filter(pl.col("measure") == pl.col("wanted")).select("construction", "suite", "item", "value")


def _constructions() -> list[str]:
    return [line["construction"] for line in cited("marvin2018")["table1"]]


def _tagging(folder: Path, model: Mapping[str, Any]) -> float | None:
    """Return the tagging accuracy of the weights that training kept, on held-out text; None of a family without tags."""
    place = places.model_folder(folder, places.cell_of(model))
    if (record := training.finished(place)) is None:
        raise RunError(str(place), "no finished training", "the training of a model with results")
    rows = [row for row in record.get("history", []) if "tag_accuracy" in row]
    if not rows:
        return None
    weight = record["tagging"]["tag_weight"]
    return float(min(rows, key=lambda row: row["bits_per_word"] + weight * row["tag_bits"])["tag_accuracy"])
