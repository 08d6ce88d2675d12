"""What the loop needs to know of a model in training: its batches, its loss, its perplexity on held-out text."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class Learner(ABC):
    """A model in training.

    Attributes:
        family: `lstm`, `gpt2` ...: the folder in `training`.
        module: what is trained.
        record: how the training text became numbers and the model its size, for `training.json`; what it says must stay
            the same for a training to go on.
    """

    family: str
    module: nn.Module
    record: dict[str, object]

    @abstractmethod
    def batches(self, epoch: int, rank: int, world: int) -> Sequence[Any]:
        """The batches of an epoch for one of `world` processes, each with as many; a function of the seed and the epoch.

        Every batch can be asked for by its index, so that a training goes on in the middle of an epoch.
        """

    @abstractmethod
    def needs(self, world: int) -> tuple[str, str]:
        """What the training text has, and what one batch of `world` processes needs, in words; for a text that is too short."""

    def carried(self) -> dict[str, Tensor]:
        """What goes from batch to batch, as it stands before the first batch of an epoch: nothing, unless overridden."""
        return {}

    @abstractmethod
    def loss(self, batch: Any, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """The mean loss of a batch in nats a token, the number of tokens, and what is carried on, detached."""

    @abstractmethod
    def held_out(self) -> tuple[float, int]:
        """The nats of the held-out text, in evaluation mode, and its words, ends of sentences among them."""

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write the model into a folder, as `models/` reads it."""

    @property
    def device(self) -> torch.device:
        """Where the module is."""
        return next(self.module.parameters()).device
