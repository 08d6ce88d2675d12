"""What a controlled experiment is about: the models that it compares, and where in its folder each thing goes.

    experiment.json       what it is about; another experiment is refused
    corpora/SIZE.txt      the parts
    models/NAME/          a model folder each, NAME being FAMILY-SIZE-SEED
    runs/NAME/            its run directory
    perplexity/NAME.json  its perplexity on the test text

Whatever is there is not made again, so that a killed experiment goes on, and families, sizes and seeds can be added. Several
processes may work in one folder, each on models of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syntagm.training import families

Options = Mapping[str, Any]


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
        return f"{self.family}-{self.size}" + (f"-{self.seed}" if families.find(self.family).drawn else "")


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
        options: family -> its hyperparameters by name, see `hyperparameters`.
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
        """All models, small parts first, so that much is known early; one, of seed 0, where nothing is drawn.

        >>> design = Design(Path(), [], [], [], {"sm": 20, "xs": 10}, [1, 2], {"ngram": {}, "lstm": {}})
        >>> [cell.name for cell in design.cells()]
        ['ngram-xs', 'lstm-xs-1', 'lstm-xs-2', 'ngram-sm', 'lstm-sm-1', 'lstm-sm-2']
        """
        return [
            Cell(family, size, seed)
            for size in sorted(self.sizes, key=self.sizes.__getitem__)
            for family in self.options
            for seed in (self.seeds if families.find(family).drawn else [0])
        ]

    def record(self) -> Path:
        """The file that says what the experiment is about."""
        return record(self.folder)

    def part(self, size: str) -> Path:
        """The file of a part of the corpus."""
        return self.folder / "corpora" / f"{size}.txt"

    def model(self, cell: Cell) -> Path:
        """The folder of a model."""
        return self.folder / "models" / cell.name

    def run(self, cell: Cell) -> Path:
        """The run directory of a model."""
        return run(self.folder, cell)

    def perplexity(self, cell: Cell) -> Path:
        """The file with the perplexity of a model."""
        return self.folder / "perplexity" / f"{cell.name}.json"


def record(folder: Path) -> Path:
    """The file in the folder of an experiment that says what it is about."""
    return folder / "experiment.json"


def run(folder: Path, cell: Cell) -> Path:
    """The run directory of a model in the folder of an experiment."""
    return folder / "runs" / cell.name
