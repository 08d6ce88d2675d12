"""Declarations of trainable families, for `syntagm train` and for experiments, and estimates of training time.

A training step costs 6 floating-point operations per weight of a matrix product and token; scoring costs 2. The machine's
speed is measured. Training of small and large models reached 0.27 to 0.4 of this speed on one processor core. Each step also
has a fixed cost. The vocabulary size is guessed from the size of the text. The estimate ignores early stopping, so it is an
upper limit for models that are trained by gradient descent.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from syntagm.core import Progress, extras
from syntagm.training.settings import Flag, options

REACHED = 0.3
STEP_SECONDS = {"cpu": 0.005, "cuda": 0.02}
LOAD_SECONDS = 5.0
# Treebank words and punctuation marks per whitespace-separated word.
TREEBANK_WORDS = 1.17
SUITE_TOKENS = 60_000


@dataclass(frozen=True, slots=True)
class Work:
    """The amount of text for one model, and the speed of the machine."""

    words: int  # words of the training text
    valid: int  # words of the held-out text
    test: int  # words of the test text, which is scored in addition to the suites
    speed: float  # floating-point operations per second
    device: str  # the device for training and scoring: `cpu`, `cuda` ..
    # The options with which the model is evaluated; see `Controlled.evaluation`.
    evaluation: Mapping[str, str] = field(default_factory=dict)


def known_words(words: int, threshold: int = 2) -> float:
    """Guess how many distinct words occur at least `threshold` times in a text of `words` words.

    >>> round(known_words(1_000_000)), round(known_words(1_000_000, 4))
    (24000, 12000)
    """
    return float(24_000 * (words / 1e6) ** 0.6) * min(1.0, 2 / max(1, threshold))


def by_gradients(weights: float, tokens: float, epochs: int, step: float, work: Work) -> tuple[float, float]:
    """Estimate the time for a model that is trained by gradient descent."""
    rate = work.speed * REACHED
    one_pass = (6 * work.words + 2 * work.valid) * tokens * weights / rate
    steps = work.words * tokens / step
    one_pass += steps * STEP_SECONDS[work.device.partition(":")[0]]
    scoring = (work.test * tokens + SUITE_TOKENS) * 2 * weights / rate
    return epochs * one_pass + LOAD_SECONDS, scoring + 2 * LOAD_SECONDS


S = TypeVar("S")


def _always(folder: Path) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Controlled(Generic[S]):
    """What controlled experiments need to know of a family. Its hyperparameters in them belong to the papers."""

    # A function that gives upper estimates of the seconds of training and of scoring.
    duration: Callable[[S, Work], tuple[float, float]]
    pace: str = ""  # the basis for estimates of duration, if it is not the number of weights
    evaluation: tuple[str, ...] = ()  # the hyperparameters that are options of the trained model, not of training
    # A function that refuses, with a UsageError, a corpus or a held-out text without the trees that the family needs;
    # None if it needs none.
    check_texts: Callable[[S, Sequence[str], Sequence[str]], None] | None = None


@dataclass(frozen=True, slots=True)
class Trainable(Generic[S]):
    """A trainable family of models. Its declaration does not load the libraries that training needs."""

    name: str  # the name on the command line
    summary: str  # a short description
    settings: S  # the default settings; their fields are the options of `syntagm train`
    module: str  # module whose `train` trains a model; it is imported when a model is trained
    seeded: bool = True  # whether models depend on a seed; if not, one model serves for all seeds of an experiment
    needs_valid: bool = True  # whether training needs held-out text
    valid: str = "held-out text"  # the use of held-out text
    note: str = ""  # a text above the options in `--help`
    controlled: Controlled[S] | None = None  # the role in controlled experiments; None if the family takes no part
    variant_of: str = ""  # the family of which this is a variant with other options; "" for an independent family
    trees: bool = False  # whether training needs trees; text without trees can then be parsed for it (`--parser`)
    is_intact: Callable[[Path], bool] = _always

    def train(
        self, corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: S, progress: Progress
    ) -> object:
        """Train a model and write its folder. Making the same call again resumes interrupted training."""
        # A finished model stays unchanged, and the folder of another training run is refused.
        with extras.needed(f"train {self.name}"):
            result: object = importlib.import_module(self.module).train(corpus, valid, folder, settings, progress)
        return result

    @property
    def options(self) -> tuple[Flag, ...]:
        return options(self.settings)

    @property
    def on_device(self) -> bool:
        """Whether the family can be trained and scored on a device other than the CPU."""
        return any(option.name == "device" for option in self.options)
