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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.io import atomic
from syntagm.papers.experiment import experiment as controlled
from syntagm.papers.experiment import lock
from syntagm.papers.experiment.experiment import Design, Options
from syntagm.papers.experiment.progress import Nobody, Told
from syntagm.papers.hu2020 import figures, published, regressions, tables
from syntagm.papers.hu2020 import study as _study
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.views.scores import numbers as estimates

SUITES = ("hu2020",)
# Of the 34 suites the paper's own analysis leaves these out of every mean.
ASIDE = ("fgd-embed3", "fgd-embed4", "nn-nv-rpl")
FAMILIES = ("ngram", "lstm", "gpt2")
SIZES = {"xs": 100_000, "sm": 1_000_000}
SEEDS = (1, 2)

_NGRAM: Options = {"order": 5, "tokens": "treebank", "threshold": 2, "classes": "berkeley", "fallback": False}
_LSTM: Options = {
    "embedding": 256, "hidden": 256, "layers": 2, "dropout": 0.3, "tied": False,
    "tokens": "treebank", "threshold": 2, "classes": "berkeley", "batch": 20, "window": 35,
    "epochs": 40, "reading": 0, "optimiser": "sgd", "rate": 20.0, "schedule": "plateau", "clip": 0.25, "patience": 0,
    "dtype": "f32",
}  # fmt: skip
_GPT2: Options = {
    "layers": 12, "width": 768, "heads": 12, "positions": 1024, "dropout": 0.1,
    "units": "bpe", "vocabulary": 50_257, "tokenizer": "", "window": 1024, "batch": 8,
    "epochs": 40, "reading": 0, "optimiser": "adamw", "rate": 6e-4, "schedule": "cosine", "warmup": 200, "decay": 0.1,
    "clip": 1.0, "patience": 2, "dtype": "f32",
}  # fmt: skip
_SMALL_LSTM: Options = {"embedding": 128, "hidden": 128, "dropout": 0.2, "tied": True, "threshold": 5}
_SMALL_GPT2: Options = {
    "layers": 4, "width": 128, "heads": 4, "positions": 256, "vocabulary": 4096, "window": 64, "batch": 16, "rate": 2e-3,
}  # fmt: skip
# The two word models have the same vocabulary. Small models read some 4 million words: parts of 100,000 words 40 times,
# those of a million 4 times.
_SHORT: Options = {"reading": 4_000_000, "patience": 2}
# The hyperparameters of each family. `paper`: the sizes of the paper; `small`: two hours of one processor core for
# the default sizes and seeds.
SCALES: Mapping[str, Mapping[str, Options]] = {
    "paper": {"ngram": _NGRAM, "lstm": _LSTM, "gpt2": _GPT2, "gpt2-words": {**_GPT2, "units": "words"}},
    "small": {
        "ngram": {**_NGRAM, "threshold": 5, "fallback": True},
        "lstm": {**_LSTM, **_SMALL_LSTM, **_SHORT},
        "gpt2": {**_GPT2, **_SMALL_GPT2, **_SHORT},
        "gpt2-words": {**_GPT2, **_SMALL_GPT2, **_SHORT, "units": "words"},
    },
}
# What a perplexity says, and what the table calls it.
SUMS = {
    "perplexity": "perplexity", "perplexity_known": "perplexity_known", "bits_per_word": "bits_per_word",
    "bits_per_character": "bits_per_character", "words": "test_words", "unknown": "unknown_words",
    "undefined": "undefined_words",
}  # fmt: skip
SCORE = ("score", "low", "high", "n", "ties", "undefined_items", "score_34")


def options(
    scale: str, families: Sequence[str], changes: Mapping[str, str] | None = None
) -> dict[str, dict[str, object]]:
    """The hyperparameters of families at a scale, some of them changed.

    Arguments:
        changes: FAMILY.NAME -> value, as text.

    Raises:
        UsageError: no such scale, family or hyperparameter, or a value of another kind.

    >>> options("small", ["ngram"], {"ngram.order": "3"})["ngram"]["order"]
    3
    """
    if scale not in SCALES:
        raise UsageError("scale", repr(scale), "one of " + ", ".join(SCALES))
    if odd := [name for name in families if name not in SCALES[scale]]:
        raise UsageError("families", repr(odd[0]), "one of " + ", ".join(SCALES[scale]))
    made = {family: dict(SCALES[scale][family]) for family in families}
    for name, text in (changes or {}).items():
        family, _, option = name.partition(".")
        if family not in made or option not in made[family]:
            known = [f"{family}.{option}" for family, several in made.items() for option in several]
            raise UsageError("hyperparameters", f"no {name!r}", "one of " + ", ".join(known))
        made[family][option] = _like(made[family][option], name, text)
    return made


def experiment(design: Design, told: Told | None = None) -> Table:
    """Carry the experiment out, or go on with it where it stands.

    Returns:
        The results of all finished models of the folder, which also stand in `results.csv` and `results.md`.

    Raises:
        UsageError: a hyperparameter, a size or a family that can't be taken.
        InputError: a text can't be read.
        RunError: the folder holds another experiment, is in use, or can't be written.
        Interrupted: `told` said so; the same call goes on.
    """
    told = told or Nobody()
    lock.claim(design, told)
    # Each part of the corpus is a proper part of the next.
    words = controlled.draw(design)
    for number, cell in enumerate(cells := design.cells(), 1):
        told.said(f"{number} of {len(cells)}: {cell.name}, {words[cell.size]:,} words")
        with lock.turn(design, cell, told):
            controlled.train(design, cell, told)
            controlled.score(design, cell, told)
            controlled.measure(design, cell, words[cell.size], told)
        # Or a process that is at its last model might put back a table without that of another.
        with lock.alone(design.folder, told):
            write(design.folder)
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
    found = list(controlled.finished(folder))
    millions = {size: words / 1e6 for size, words in controlled.sizes(folder).items()}
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
    width = table.columns.index(SCORE[-1]) + 1 + len(_circuits(list(controlled.finished(folder))))
    short = replace(table, columns=table.columns[:width], rows=tuple(row[:width] for row in table.rows))
    atomic.write(folder / "results.md", short.markdown().encode())


def results(folder: Path) -> Table:
    """A row for each finished model of a folder: its text, perplexity, SG score, and the scores of circuits and suites.

    Raises:
        RunError: there is no experiment, or a file is damaged.
    """
    found = list(controlled.finished(folder))
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
    values = {one.group["circuit"]: one.value for one in by_circuit} | {
        one.group["suite"]: one.value for one in by_suite
    }
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


def _like(standing: object, name: str, text: str) -> object:
    """A value given as text, of the kind that stands there."""
    kinds: dict[type, Callable[[str], object]] = {
        int: int,
        float: float,
        str: str,
        bool: {"yes": True, "no": False}.__getitem__,
    }
    try:
        return kinds[type(standing)](text)
    except (ValueError, KeyError):
        expected = "yes or no" if isinstance(standing, bool) else f"a value like {standing!r}"
        raise UsageError(f"hyperparameter {name}", repr(text), expected) from None
