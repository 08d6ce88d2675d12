"""The settings of an RNNG: size, words, batches and training loop."""

from dataclasses import dataclass
from typing import Literal

from syntagm.training.lstm.settings import Size
from syntagm.training.options import MODEL, TRAINING, option, part, refuse_small
from syntagm.training.settings import Settings
from syntagm.training.words import Words


@dataclass(frozen=True, slots=True)
class Steps:
    """The division of the trees into training steps.

    Arguments:
        batch: the number of trees of a step.
    """

    batch: int = option("trees per step", 32)

    def __post_init__(self) -> None:
        refuse_small(self, "batch")


@dataclass(frozen=True, slots=True)
class RnngSettings:
    """All settings of an RNNG.

    Arguments:
        size: the size of the model. Hu et al. 2020: as the LSTM.
        parts: `all`: the state of a derivation is computed from LSTMs over the stack, the actions and the words (Dyer et
            al. 2016); `stack`: from the stack only (rnng-pytorch).
        words: the settings for words; the words of trees are used as they are, and `tokens` is for texts to be scored.
        steps: the division of the trees into steps.
        loop: the settings of the training loop.
    """

    size: Size = part(MODEL, Size())
    parts: Literal["all", "stack"] = option(
        "LSTMs over the stack, the actions and the words, or over the stack only", "all", group=MODEL
    )
    words: Words = part(MODEL, Words())
    steps: Steps = part(MODEL, Steps())
    loop: Settings = part(TRAINING, Settings(epochs=18, optimiser="adamw", lr=1e-3, clip=5.0))
