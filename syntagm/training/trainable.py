"""The declaration of a family that can be trained, read by `syntagm train` and by experiments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from syntagm.progress import Progress
from syntagm.training.duration import Work
from syntagm.training.options import Option, options

S = TypeVar("S")
# Corpus, held-out text, model folder, settings, progress.
Train = Callable[[Sequence[str], Sequence[str], Path, S, Progress], object]


def _always(folder: Path) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Controlled(Generic[S]):
    """The part of a family in controlled experiments.

    Arguments:
        scales: its options by name of the scale (`small`, `paper`). It takes part only in the scales listed here.
        duration: a function that estimates the seconds of training and of scoring, as upper limits.
        default: True if it takes part in an experiment that names no families.
        pace: the basis of its estimates of duration, if it is not the number of its weights.
    """

    scales: Mapping[str, Mapping[str, Any]]
    duration: Callable[[S, Work], tuple[float, float]]
    default: bool = False
    pace: str = ""


@dataclass(frozen=True, slots=True)
class Trainable(Generic[S]):
    """A family of models that can be trained. The declaration does not load the libraries that training needs.

    Arguments:
        name: its name on the command line.
        summary: what it is, in a few words.
        settings: the default settings; their fields are the options of `syntagm train`.
        train: a function that trains a model and writes its folder. It resumes an interrupted training, leaves a finished
            one as it is, and refuses a folder of another training.
        seeded: True if its models depend on a seed; otherwise one model serves for all seeds of an experiment.
        needs_valid: True if it needs held-out text.
        valid: what held-out text is used for.
        note: a text above its options in `--help`.
        controlled: its part in controlled experiments; None if it takes no part.
        variant_of: the family that it is a variant of, with other options; "" for a family of its own.
        is_intact: a function that checks whether the model of a finished training is intact. If not, it is trained again.
    """

    name: str
    summary: str
    settings: S
    train: Train[S]
    seeded: bool = True
    needs_valid: bool = True
    valid: str = "held-out text"
    note: str = ""
    controlled: Controlled[S] | None = None
    variant_of: str = ""
    is_intact: Callable[[Path], bool] = _always

    @property
    def options(self) -> tuple[Option, ...]:
        """The training options, derived from the settings class."""
        return options(self.settings)

    @property
    def on_device(self) -> bool:
        """True if it can be trained and scored on another device than the CPU."""
        return any(option.field == "device" for option in self.options)
