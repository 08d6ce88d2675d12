"""Hu et al. 2020, "A systematic assessment of syntactic generalization in neural language models": the controlled experiment.

Model classes are trained on nested corpora, several seeds of each where the seed matters, and scored on the test suites; each
model's perplexity on one test text shared by all stands beside its scores. The question is whether the two go together, and what
matters more, the class or the amount of text.

An item is right if the suite's first prediction holds of it. A suite's score is its share of right items, the SG score the
mean over suites: over the 31 that the paper's figures rest on, and over all 34. Perplexity is per word between blanks, for all
model classes alike, each sentence on its own and its end a word.

The paper's figures are drawn of its own raw data (`from_raw`, with the regressions, and a list of where the printed paper
differs), of an experiment (`of_experiment`), and, as far as they go, of models off the shelf (`of_runs`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Cell, Table
from syntagm.io import atomic
from syntagm.papers.experiment import measured
from syntagm.papers.experiment.design import Design
from syntagm.papers.experiment.experiment import carry_out
from syntagm.papers.hu2020 import figures, published, regressions, tables
from syntagm.papers.hu2020 import study as _study
from syntagm.papers.hu2020.preparation import SUITES as LEFT_OUT
from syntagm.papers.paper import Experiment, Paper
from syntagm.progress import Progress
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.views.scores import numbers as estimates

SUITES = ("hu2020",)
# Of the 34 suites the paper's own analysis leaves these out of every mean.
ASIDE = LEFT_OUT["31"]
SIZES = {"xs": 100_000, "sm": 1_000_000}
SEEDS = (1, 2)

# What a perplexity says, and what the table calls it.
SUMS = {
    "perplexity": "perplexity", "perplexity_known": "perplexity_known", "bits_per_word": "bits_per_word",
    "bits_per_character": "bits_per_character", "words": "test_words", "unknown": "unknown_words",
    "undefined": "undefined_words",
}  # fmt: skip
SCORE = ("score", "low", "high", "n", "ties", "undefined_items", "score_34")


def experiment(design: Design, progress: Progress | None = None) -> Table:
    """Carry the experiment out, or go on with it where it stands; errors as `carry_out`.

    Returns:
        The results of all finished models of the folder, which also stand in `results.csv` and `results.md`.
    """
    carry_out(design, write, progress or Progress())
    return results(design.folder)


def from_raw(folder: Path, *, suites: str = "31", ngram: str = "vote") -> Iterator[tuple[str, Table | Figure]]:
    """Figures 1 to 6, Table 4, the regressions and what lies behind them, of the paper's own raw data.

    Arguments:
        folder: `data/raw` of cpllab/syntactic-generalization.
        suites: how many suites count: "31" (as in the paper's figures), "33" or "34".
        ngram: the seeds of the n-gram become one model by "vote" (as in the paper) or by "mean".

    Raises:
        InputError: the files are not what they should be.
        UsageError: another choice.
    """
    return published.made(folder, suites, ngram)


def of_runs(runs: Sequence[Run]) -> Iterator[tuple[str, Table | Figure]]:
    """Figures 1, 5 and 6 and their tables, of models off the shelf, over the suites that count.

    Raises:
        RunError: there is nothing that counts.
    """
    study = _study.of_runs(runs, ASIDE)
    yield from figures.figures(study)
    yield from tables.tables(study)


def of_experiment(folder: Path) -> Iterator[tuple[str, Table | Figure]]:
    """Figures 1 to 6 and their tables, of all finished models of an experiment; the regressions, if classes and sizes differ.

    Raises:
        RunError: there is no experiment, or nothing that counts.
    """
    found = list(measured.finished(folder))
    millions = {size: words / 1e6 for size, words in measured.sizes(folder).items()}
    study = _study.of_experiment(found, millions, ASIDE)
    yield from figures.figures(study)
    yield from tables.tables(study)
    cells = {(one["family"], one["size"]) for one, _ in found}
    if min(len({cell[at] for cell in cells}) for at in (0, 1)) > 1:
        yield from regressions.tables(study)


def write(folder: Path) -> None:
    """Write the results of all finished models of a folder: `results.csv` with each suite, `results.md` without."""
    table = results(folder)
    atomic.write(folder / "results.csv", table.csv().encode())
    width = table.columns.index(SCORE[-1]) + 1 + len(_circuits(list(measured.finished(folder))))
    short = replace(table, columns=table.columns[:width], rows=tuple(row[:width] for row in table.rows))
    atomic.write(folder / "results.md", short.markdown().encode())


def results(folder: Path) -> Table:
    """A row for each finished model of a folder: its text, perplexity, SG score, and the scores of circuits and suites.

    Raises:
        RunError: there is no experiment, or a file is damaged.
    """
    found = list(measured.finished(folder))
    circuits = _circuits(found)
    suites = list(dict.fromkeys(suite.name for _, run in found for suite in run.suites if suite.predictions))
    shown = ("family", "size", "seed", "training_words", *SUMS)
    rows = [(*(one[name] for name in shown), *_scores(run, circuits, suites)) for one, run in found]
    columns = ("family", "size", "seed", "words", *SUMS.values(), *SCORE, *circuits, *suites)
    return Table("Controlled experiment", columns, tuple(rows), (), _notes([run for _, run in found]))


def _circuits(found: Sequence[tuple[Mapping[str, object], Run]]) -> list[str]:
    counted = (suite for _, run in found for suite in run.suites if suite.name not in ASIDE)
    return sorted({suite.tags["circuit"] for suite in counted if "circuit" in suite.tags})


def _scores(run: Run, circuits: Sequence[str], suites: Sequence[str]) -> tuple[Cell, ...]:
    """The SG score with its interval, and the scores of circuits and suites; None for what was not run."""
    table, predictions = run.results(), estimates.predictions(run, "first")
    counted = {name: several for name, several in predictions.items() if name not in ASIDE}
    labels = {suite.name: suite.tags["circuit"] for suite in run.suites if "circuit" in suite.tags}
    overall = score.score(table, counted, run.tolerance)
    everything = score.score(table, predictions, run.tolerance)
    by_circuit = score.score(table, counted, run.tolerance, tag="circuit", labels=labels)
    by_suite = estimates.accuracies(run, "first")
    values = {one.group["circuit"]: one.value for one in by_circuit} | {one.group.suite: one.value for one in by_suite}
    return (
        *(_numbers(overall[0]) if overall else [None] * (len(SCORE) - 1)),
        everything[0].value if everything else None,
        *(values.get(name) for name in (*circuits, *suites)),
    )


def _numbers(one: Estimate) -> tuple[Cell, ...]:
    return one.value, one.low, one.high, one.n, one.ties, one.undefined


def _notes(runs: Sequence[Run]) -> tuple[str, ...]:
    """What the numbers rest on."""
    of_models = [
        f"Signature of {run.model}: {run.signature(one.name, next(iter(one.predictions)))}"
        for run in runs[:1]
        for one in run.suites[:1]
        if one.predictions
    ]
    return (
        "words: of the training text. Perplexity: on the test text, per word between blanks, ends of sentences included; "
        "perplexity_known: without unknown words.",
        f"score: the mean over suites without {', '.join(ASIDE)}, as in the paper's figures, and so the circuits; "
        "score_34: over all.",
        "Intervals: 95 %, items drawn anew within each suite; they are not about other seeds. Ties count as wrong.",
        *of_models,
    )


PAPER = Paper(SUITES, of_runs, from_raw, experiment=Experiment(SIZES, SEEDS, experiment, of_experiment))
