"""A controlled experiment in a folder: nested parts of a corpus, a model of each family, size and seed, what each of them scores.

    experiment.json       what it is about; another experiment is refused
    corpora/SIZE.txt      the parts
    models/NAME/          a model folder each, NAME being FAMILY-SIZE-SEED
    runs/NAME/            its run directory
    perplexity/NAME.json  its perplexity on the test text

Whatever is there is not made again, so that a killed experiment goes on, and families, sizes and seeds can be added. Several
processes may work in one folder, each on models of its own.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syntagm.errors import RunError, UsageError
from syntagm.io import atomic
from syntagm.io.json import record as json_record
from syntagm.models.contract import LanguageModel
from syntagm.papers.experiment import hyperparameters
from syntagm.papers.experiment.progress import Told
from syntagm.runs.store import Run, open_run, read_record

Options = Mapping[str, Any]
# Nothing in these is drawn, so that one model stands for all seeds; its seed is 0.
SEEDLESS = ("ngram",)


@dataclass(frozen=True, slots=True)
class Cell:
    """One model of an experiment."""

    family: str
    size: str
    seed: int

    @property
    def name(self) -> str:
        """What its folders are called.

        >>> Cell("lstm", "xs", 1).name, Cell("ngram", "xs", 0).name
        ('lstm-xs-1', 'ngram-xs')
        """
        return f"{self.family}-{self.size}" + (f"-{self.seed}" if self.family not in SEEDLESS else "")


@dataclass(frozen=True, slots=True)
class Design:
    """What an experiment varies, and what it holds constant.

    Arguments:
        folder: where everything goes.
        corpus: the training text, as `corpus.texts` takes it; each part is drawn from it.
        valid: the held-out text, for schedules and early stopping.
        test: the text whose perplexity is compared.
        sizes: of the parts, in words, by name.
        seeds: of weights, order and dropout; a model each.
        options: family -> its hyperparameters by name, those of `syntagm train`. `reading`: pass through the text no more
            often than it takes to read so many words, to the nearest pass, and once at least; 0: no such limit.
        suites: what models are scored on: names as a command line has them.
        draw: the seed of the parts.
        device: where to train and score.
    """

    folder: Path
    corpus: Sequence[str]
    valid: Sequence[str]
    test: Sequence[str]
    sizes: Mapping[str, int]
    seeds: Sequence[int]
    options: Mapping[str, Options]
    suites: Sequence[str] = field(default=())
    draw: int = 1
    device: str = "cpu"

    def cells(self) -> list[Cell]:
        """All models, small parts first, so that much is known early.

        >>> design = Design(Path(), [], [], [], {"sm": 20, "xs": 10}, [1, 2], {"ngram": {}, "lstm": {}})
        >>> [cell.name for cell in design.cells()]
        ['ngram-xs', 'lstm-xs-1', 'lstm-xs-2', 'ngram-sm', 'lstm-sm-1', 'lstm-sm-2']
        """
        return [
            Cell(family, size, seed)
            for size in sorted(self.sizes, key=self.sizes.__getitem__)
            for family in self.options
            for seed in ([0] if family in SEEDLESS else self.seeds)
        ]


def passes(options: Options, words: int) -> int:
    """How often a text of so many words is read, at most.

    >>> passes({"epochs": 40, "reading": 4_000_000}, 1_000_000), passes({"epochs": 40, "reading": 0}, 1_000_000)
    (4, 40)
    """
    limit = max(1, round(options["reading"] / words)) if options.get("reading") else options["epochs"]
    return int(min(options["epochs"], limit))


def draw(design: Design) -> dict[str, int]:
    """Write the parts that are not there yet.

    Returns:
        The number of words of each part.
    """
    from syntagm.training.corpora import corpus, nested

    if missing := {name: size for name, size in design.sizes.items() if not part(design, name).exists()}:
        nested.write(design.corpus, missing, design.folder / "corpora", design.draw)
    return {name: sum(len(text.split()) for text in corpus.texts([part(design, name)])) for name in design.sizes}


def part(design: Design, size: str) -> Path:
    """The file of a part."""
    return design.folder / "corpora" / f"{size}.txt"


def train(design: Design, cell: Cell, told: Told) -> None:
    """Train a model on its part, or go on with its training; nothing if it is finished."""
    from syntagm.training import state as _state
    from syntagm.training.ngram import train as ngram
    from syntagm.training.record import finished

    folder, options = design.folder / "models" / cell.name, dict(design.options[cell.family])
    training = [str(part(design, cell.size))]
    if cell.family == "ngram":
        # It says itself whether it is finished.
        ngram.train(training, design.valid, folder, **options, progress=told.said)
    elif finished(folder) is None:
        options |= {"seed": cell.seed, "device": design.device, "epochs": passes(options, design.sizes[cell.size])}
        _fit(cell.family, training, design.valid, folder, options, told)
    else:
        # A kill between the model and this leaves a state of three times its size.
        _state.remove(folder / "state")


def _fit(
    family: str, training: Sequence[str], valid: Sequence[str], folder: Path, options: Options, told: Told
) -> None:
    from syntagm.training.lstm import train as lstm
    from syntagm.training.transformers import gpt2

    size, text, settings = hyperparameters.taken(family, options)
    family_of = lstm if family == "lstm" else gpt2
    family_of.train(training, valid, folder, size, text, settings, progress=told)


def score(design: Design, cell: Cell, told: Told) -> None:
    """Score a model on the suites, into its run directory; nothing if the run is finished."""
    from syntagm.materials.finding import expand
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.runs.evaluate import run

    place = design.folder / "runs" / cell.name
    if (read_record(place) is None) or not open_run(place).done:
        run(_load(design, cell), SuiteFiles(expand(list(design.suites))), place, progress=told)  # type: ignore[arg-type]


def measure(design: Design, cell: Cell, words: int, told: Told) -> None:
    """The perplexity of a model on the test text, ends of sentences included, as a file; nothing if it is there.

    Raises:
        RunError: it is there, and of other weights than the model has now.
    """
    from syntagm.models.hugging_face.weights import hash_folder
    from syntagm.tasks.perplexity import division, perplexity
    from syntagm.training.corpora import corpus

    path, weights = (
        design.folder / "perplexity" / f"{cell.name}.json",
        hash_folder(design.folder / "models" / cell.name),
    )
    if path.exists():
        if read(path).get("weights", weights) != weights:
            cure = f"Remove it and {design.folder / 'runs' / cell.name}: both are then made anew."
            raise RunError(str(path), "of another training", f"of the weights in models/{cell.name}", cure)
        return
    model = _load(design, cell, eos="yes", **division(str(design.folder / "models" / cell.name), design.test))
    found = perplexity(model, corpus.texts(design.test), done=lambda more: told.answered("test text", more))
    numbers = ("words", "unknown", "undefined", "bits", "bits_per_word", "perplexity", "perplexity_known")
    made: dict[str, Any] = {"family": cell.family, "size": cell.size, "seed": cell.seed, "training_words": words}
    made |= {
        "model": model.name,
        "fingerprint": model.fingerprint,
        "policies": dict(model.policies),
        "weights": weights,
    }
    made |= {name: getattr(found, name) for name in (*numbers, "bits_per_character")}
    path.parent.mkdir(exist_ok=True)
    atomic.write(path, (json.dumps(made, indent=1, ensure_ascii=False) + "\n").encode())


def _load(design: Design, cell: Cell, **options: str) -> LanguageModel:
    from syntagm.models import names

    where = {} if cell.family == "ngram" else {"device": design.device}
    return names.load(str(design.folder / "models" / cell.name), **where, **options)


def state(design: Design, cell: Cell) -> str:
    """How far a model has come: `to do`, `begun`, `trained` or `done`."""
    folder = design.folder / "models" / cell.name
    if not (folder / "training.json").exists():
        return "begun" if folder.exists() else "to do"
    run = design.folder / "runs" / cell.name
    scored = read_record(run) is not None and open_run(run).done
    return "done" if scored and (design.folder / "perplexity" / f"{cell.name}.json").exists() else "trained"


def finished(folder: Path) -> Iterator[tuple[dict[str, Any], Run]]:
    """What was measured of each finished model of a folder, small parts first: its perplexity, and its run.

    Raises:
        RunError: there is no experiment, or a file is damaged.
    """
    record = read(folder / "experiment.json")
    families, sizes = list(record["families"]), record["sizes"]
    found = []
    for path in sorted((folder / "perplexity").glob("*.json")):
        found.append(one := read(path))
        if one.get("family") not in families or one.get("size") not in sizes:
            raise RunError(str(path), "of no model of the experiment", "a family and a size of it", "Remove it.")
    for one in sorted(found, key=lambda one: (sizes[one["size"]], families.index(one["family"]), one["seed"])):
        run = folder / "runs" / Cell(one["family"], one["size"], one["seed"]).name
        if read_record(run) is not None and (opened := open_run(run)).done:
            yield one, opened


def sizes(folder: Path) -> dict[str, int]:
    """How many words each part of an experiment has, as asked for.

    Raises:
        RunError: there is no experiment, or its record is damaged.
    """
    return dict(read(folder / "experiment.json")["sizes"])


def read(path: Path) -> dict[str, Any]:
    """What an experiment wrote.

    Raises:
        RunError: it can't be read.
    """
    return json_record(path, RunError, "what an experiment wrote", "Remove it.")


def words(design: Design) -> dict[str, int]:
    """The number of words of the texts `corpus`, `valid` and `test`.

    Raises:
        UsageError: a part is larger than the corpus.
        InputError: a text can't be read.
    """
    from syntagm.training.corpora import corpus

    texts = {"corpus": design.corpus, "valid": design.valid, "test": design.test}
    counts = {name: sum(len(text.split()) for text in corpus.texts(paths)) for name, paths in texts.items()}
    for name, size in design.sizes.items():
        if size > counts["corpus"]:
            found = f"{name} of {size:,} words"
            raise UsageError("sizes", found, f"at most the {counts['corpus']:,} of the training text")
    return counts
