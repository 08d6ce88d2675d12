"""The interface between the training loop and a model: batches, loss and held-out likelihood."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class Learner(ABC):
    """A model in training.

    Attributes:
        family: the name of the family's folder in `training`: `lstm`, `gpt2` ...
        module: the network that is trained.
        record: the corpus, the text settings and the model's size, for `training.json`. Training resumes only if the
            record is the same as before.
        statistics: what else `training.json` says of the texts of a word-level model; see `training.statistics`.
    """

    family: str
    module: nn.Module
    record: dict[str, object]
    statistics: Mapping[str, Any] = {}

    @abstractmethod
    def batches(self, epoch: int, rank: int, world: int) -> Sequence[Any]:
        """Return the batches of an epoch for one process.

        They depend only on the seed and the epoch. Batches are indexed, so training can resume in the middle of an
        epoch.

        Arguments:
            epoch: the number of the epoch, from 0.
            rank: the number of this process, from 0.
            world: the number of processes. Each gets the same number of batches.
        """

    @abstractmethod
    def needs(self, world: int) -> tuple[str, str]:
        """Describe the size of the training text and of one batch of `world` processes, for an error message."""

    def carried(self) -> dict[str, Tensor]:
        """Return the initial value of the state that is carried from batch to batch in an epoch.

        It is empty unless overridden.
        """
        return {}

    def rate_factor(self, batch: Any) -> float:
        """Return a factor for the learning rate of the step that reads a batch; 1 unless overridden."""
        return 1.0

    @abstractmethod
    def loss(self, batch: Any, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Return the mean loss of a batch in nats per token, the number of tokens, and the detached state to carry on."""

    @abstractmethod
    def held_out(self) -> tuple[float, int]:
        """Return the held-out negative log-likelihood in nats, and the number of words including sentence ends.

        The module is put into evaluation mode.
        """

    def judged(self, bits: float) -> tuple[float, dict[str, float]]:
        """Return the number that decides which weights are best, the lowest, and further columns of the history.

        Arguments:
            bits: the held-out bits per word, just computed. They decide, unless this is overridden.
        """
        return bits, {}

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write the model into a folder, in the format that `models/` reads."""

    @property
    def device(self) -> torch.device:
        """The device of the module."""
        return next(self.module.parameters()).device
