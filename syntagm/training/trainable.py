"""What a family says of itself so that it can be trained: one record, read by `train` and by experiments."""

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


def _is_whole(folder: Path) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Controlled(Generic[S]):
    """How a family takes part in controlled experiments.

    Arguments:
        scales: its options by the name of the scale (`small`, `paper`); it takes part in those of the scales that it has.
        duration: estimate the seconds of training and of scoring, at most.
        default: does it take part in an experiment that names no families?
        pace: what its estimates of duration rest on, if not on the number of its weights.
    """

    scales: Mapping[str, Mapping[str, Any]]
    duration: Callable[[S, Work], tuple[float, float]]
    default: bool = False
    pace: str = ""


@dataclass(frozen=True, slots=True)
class Trainable(Generic[S]):
    """A family of models that can be trained. Nothing here loads what training needs.

    Arguments:
        name: what the command line calls it.
        summary: what it is, in a few words.
        settings: the defaults; their fields are the options of `syntagm train`.
        train: train a model and write its folder; go on with a training that was stopped there; leave one that has ended as
            it is; refuse another one.
        drawn: does chance play a part? If not, one model stands for all seeds of an experiment.
        needs_valid: can it not do without held-out text?
        valid: what held-out text is for.
        note: stands above its options in `--help`.
        controlled: how it takes part in controlled experiments; None: it does not.
        variant_of: the family whose models these are, trained with other options; "" for a family of its own.
        whole: does the model that an ended training left stand in its folder as it was written? If not, it is trained anew.
    """

    name: str
    summary: str
    settings: S
    train: Train[S]
    drawn: bool = True
    needs_valid: bool = True
    valid: str = "held-out text"
    note: str = ""
    controlled: Controlled[S] | None = None
    variant_of: str = ""
    whole: Callable[[Path], bool] = _is_whole

    @property
    def options(self) -> tuple[Option, ...]:
        """The options of its settings."""
        return options(self.settings)

    @property
    def on_device(self) -> bool:
        """Can it be trained and scored elsewhere than on the processor?"""
        return any(option.field == "device" for option in self.options)
