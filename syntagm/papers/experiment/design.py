"""The design of a controlled experiment: the models that it compares, and the layout of its folder.

    experiment.json       the design; a different experiment is refused
    corpora/PART.txt      the nested subsets of the corpus; PART.trees if it consists of trees
    models/NAME/          the model folders, where NAME is FAMILY-PART-SEED
    runs/NAME/            the run directory of each model
    perplexity/NAME.json  the perplexity of each model on the test text
    simulations/*.json    the simulated responses of likelihood-ratio tests, a file for each test

PART is SIZE in the first random sample of the corpus, and SIZE.2, SIZE.3 ... in further samples. The subsets of one sample
are nested. Existing results are not computed again, so a killed experiment can be resumed, and families, sizes, samples and
seeds can be added.
Several processes may work in one folder on different models.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syntagm.core import RENEWED, Form, RunError, Shape, atomic
from syntagm.papers.experiment.hyperparameters import Options
from syntagm.runs import PERPLEXITY, Run, has_run, ledger, open_run, read_record
from syntagm.training import families, record as training


@dataclass(frozen=True, slots=True)
class Cell:
    """One model of an experiment."""

    family: str
    size: str
    seed: int
    sample: int = 1

    @property
    def part(self) -> str:
        """The name of the subset of the corpus."""
        return part_name(self.size, self.sample)

    @property
    def name(self) -> str:
        """The name of the model's folders.

        >>> Cell("lstm", "xs", 1).name, Cell("ngram", "xs", 0).name, Cell("lstm", "xs", 1, sample=2).name
        ('lstm-xs-1', 'ngram-xs', 'lstm-xs.2-1')
        """
        return f"{self.family}-{self.part}" + (f"-{self.seed}" if families.find(self.family).seeded else "")


def part_name(size: str, sample: int) -> str:
    """Return the name of a subset of the corpus.

    >>> part_name("xs", 1), part_name("xs", 2)
    ('xs', 'xs.2')
    """
    return size if sample == 1 else f"{size}.{sample}"


@dataclass(frozen=True, slots=True)
class Design:
    """The design of an experiment: what it varies, and what it holds constant."""

    folder: Path  # the folder of the experiment
    # Paths of the training text, as in `corpus.texts`, from which the subsets are drawn. Subsets of trees consist of
    # trees.
    corpus: Sequence[str]
    valid: Sequence[str]  # paths of the held-out text, for schedules and early stopping
    test: Sequence[str]  # paths of the text for the comparison of perplexities
    sizes: Mapping[str, int]  # the sizes of the subsets: name -> words
    seeds: Sequence[int]  # the seeds of weights, order and dropout; one model is trained per seed
    options: Mapping[str, Options]  # family -> its hyperparameters by name; see `hyperparameters`
    suites: Sequence[str] = field(default=())  # the suites to score, by their names on the command line
    draw: int = 1  # the seed for drawing the subsets of the first sample; the next sample has the next seed, and so on
    device: str = "cpu"  # the device for training and scoring
    samples: int = 1  # the number of random samples of the corpus, from each of which subsets of all sizes are drawn
    # How the corpus is divided into sections, if subsets consist of whole sections: the mark of `corpus.sections`;
    # empty if sentences are drawn.
    sections: str = ""

    def cells(self) -> list[Cell]:
        """List all models, small subsets first. A family without seeds has one model per subset, with seed 0.

        >>> design = Design(Path(), [], [], [], {"sm": 20, "xs": 10}, [1, 2], {"ngram": {}, "lstm": {}})
        >>> [cell.name for cell in design.cells()]
        ['ngram-xs', 'lstm-xs-1', 'lstm-xs-2', 'ngram-sm', 'lstm-sm-1', 'lstm-sm-2']
        """
        return [
            Cell(family, size, seed, sample)
            for size in sorted(self.sizes, key=self.sizes.__getitem__)
            for sample in range(1, self.samples + 1)
            for family in self.options
            for seed in (self.seeds if families.find(family).seeded else [0])
        ]

    def parts(self, sample: int) -> dict[str, int]:
        """Return the subsets of a sample: name -> words."""
        return {part_name(size, sample): words for size, words in self.sizes.items()}

    def record(self) -> Path:
        return record_path(self.folder)

    def part(self, name: str) -> Path:
        return part_file(self.folder, name, self.corpus)

    def model(self, cell: Cell) -> Path:
        return model_folder(self.folder, cell)

    def run(self, cell: Cell) -> Path:
        return run_folder(self.folder, cell)

    def perplexity(self, cell: Cell) -> Path:
        return perplexity_path(self.folder, cell)


def record_path(folder: Path) -> Path:
    return folder / "experiment.json"


def part_file(folder: Path, name: str, corpus: Sequence[str]) -> Path:
    from syntagm.training import nested

    return folder / "corpora" / f"{name}{nested.suffix(corpus)}"


def model_folder(folder: Path, cell: Cell) -> Path:
    return folder / "models" / cell.name


def run_folder(folder: Path, cell: Cell) -> Path:
    return folder / "runs" / cell.name


def perplexity_path(folder: Path, cell: Cell) -> Path:
    return folder / "perplexity" / f"{cell.name}.json"


def simulations(folder: Path) -> Path:
    return atomic.inside(folder, "simulations")


_TEXT: Shape = [{"name": str, "files": int, "bytes": int, "sha256": str}]
# experiment.json
DESIGN = Form(
    "the design of an experiment",
    2,
    {
        "format": int,
        "corpus": _TEXT,
        "valid": _TEXT,
        "test": _TEXT,
        "draw": int,
        "samples?": int,
        "sections?": str,
        "suites": [str],
        "suite_hashes": {str: str},
        "sizes": {str: int},
        "families": {str: dict},
        "parts?": {str: str},
        "renewed?": RENEWED,
    },
    "Restore the file. If the change was intended, `syntagm seal {folder}` renews the seal.",
)


def state_of(design: Design, cell: Cell) -> str:
    """Return the state of a model: `to do`, `begun`, `trained` or `done`."""
    folder = design.model(cell)
    if training.finished(folder) is None:
        return "begun" if folder.exists() else "to do"
    return "done" if is_scored(design.run(cell)) and design.perplexity(cell).exists() else "trained"


def is_scored(folder: Path) -> bool:
    """Return whether a run is done. A damaged run does not count as done, because the engine repairs or refuses it."""
    return not is_damaged(folder) and read_record(folder) is not None and open_run(folder).done


def is_damaged(folder: Path) -> bool:
    """Return whether a file of a run is damaged; False if there is no run."""
    return has_run(folder) and bool(ledger.faults(folder))


def lost_run(folder: Path, cell: Cell) -> RunError | None:
    """Return an error if a model has a perplexity, but no run, from which it would vanish in silence."""
    place = run_folder(folder, cell)
    if has_run(place) or not perplexity_path(folder, cell).exists():
        return None
    expected = f"the run of a model whose perplexity is in {perplexity_path(folder, cell)}"
    return RunError(
        str(place), "no run", expected, "Repeat the command that made the experiment: it computes the run again."
    )


def finished_models(folder: Path) -> Iterator[tuple[dict[str, Any], Run]]:
    """Yield the perplexity record and the run of each finished model of a folder, beginning with small subsets."""
    # The perplexity record has the key `sample`, which is 1 where the file doesn't say it.
    for model in perplexities(folder):
        place = run_folder(folder, cell_of(model))
        if error := lost_run(folder, cell_of(model)):
            raise error
        if not (run := open_run(place)).done:
            continue
        if (found := run.model.partition("?")[0]) != (expected := model["model"].partition("?")[0]):
            raise RunError(
                str(place), f"a run of {found}", f"a run of {expected}", "Move each folder back to where it belongs."
            )
        yield model, run


def perplexities(folder: Path) -> list[dict[str, Any]]:
    """Return the perplexity records of a folder, beginning with small subsets; for the errors see `finished_models`."""
    record = DESIGN.read(record_path(folder))
    families, sizes = list(record["families"]), record["sizes"]
    models = [
        {"sample": 1} | read_perplexity(path, families, sizes)
        for path in sorted((folder / "perplexity").glob("*.json"))
    ]
    order = {cell_of(model): (sizes[model["size"]], families.index(model["family"])) for model in models}
    return sorted(models, key=lambda each: (*order[cell_of(each)], each["sample"], each["seed"]))


def read_perplexity(path: Path, families: Container[str], sizes: Mapping[str, int]) -> dict[str, Any]:
    model = PERPLEXITY.read(path)
    if model["family"] not in families or sizes.get(model["size"]) != model["requested_words"]:
        found = "a model that is not in the experiment"
        raise RunError(str(path), found, "a family and a size of the experiment", "Remove it.")
    if (name := cell_of(model).name) != path.stem:
        raise RunError(str(path), f"the perplexity of {name}", f"that of {path.stem}", "Put the files in their places.")
    return model


def cell_of(model: Mapping[str, Any]) -> Cell:
    return Cell(model["family"], model["size"], model["seed"], model.get("sample", 1))


def distinguishing_keys(finished: Sequence[tuple[Mapping[str, Any], Run]]) -> tuple[str, ...]:
    """Return the keys of a perplexity record that tell models apart; `sample` only if there are several samples."""
    return ("family", "size", *(["sample"] if any(model["sample"] > 1 for model, _ in finished) else []), "seed")


def requested_sizes(folder: Path) -> dict[str, int]:
    """Return the requested sizes of the subsets of an experiment: name -> words."""
    return dict(DESIGN.read(record_path(folder))["sizes"])
