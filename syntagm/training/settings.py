"""The settings of the training loop: optimiser, learning-rate schedule, early stopping and precision."""

from dataclasses import dataclass
from math import cos, inf, pi
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.options import option

Optimiser = Literal["sgd", "asgd", "adamw"]
Schedule = Literal["plateau", "cosine", "constant"]
PLATEAU_FACTOR = 0.25
FLOOR = 0.1
# Averaging (asgd) begins when an evaluation is worse than the best of all but this number of the last ones.
NON_MONOTONE = 5
# The loop multiplies the seed by a million and adds the epoch; the result must fit into 64 bits.
_SEEDS = 2**32


class Default(int):
    """A default number of warm-up steps, which is reduced in short training. A number given by the user is a plain int."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Training settings.

    Arguments:
        epochs: the maximum number of passes over the text.
        optimiser: `sgd`: plain SGD; `asgd`: SGD that averages the weights of all steps once evaluations stop improving
            (NT-ASGD, Merity et al. 2018); `adamw`: AdamW with betas 0.9 and 0.95 and no weight decay of biases and norms.
        lr: the peak learning rate.
        schedule: `plateau`: divide the rate by four after an evaluation that does not beat the best one (Gulordava et al.
            2018); `cosine`: rise linearly over `warmup` steps, then fall to a tenth along a cosine over all epochs;
            `constant`: rise linearly over `warmup` steps, then stay constant.
        warmup: the number of linear warm-up steps, at most the total number of steps; ignored by `plateau`. In short
            training, a `Default` is reduced; see `warmup_steps`.
        decay: the weight decay (asgd, adamw).
        clip: the maximum norm of the gradient; 0 for no limit.
        patience: the number of successive evaluations without improvement after which training stops; 0 for no
            early stopping.
        every: the number of steps between evaluations, in addition to one at the end; 0 to evaluate after each
            epoch.
        seed: the seed of the initial weights, the order of the batches and dropout.
        dtype: `f32`: float32; `bf16`: forward passes in bfloat16, weights and optimiser in float32.
        device: `cpu`, `cuda`, `cuda:1` ...
    """

    epochs: int = option("maximum number of passes over the text")
    optimiser: Optimiser = option("plain SGD, SGD with averaging once improvement stops, or AdamW")
    lr: float = option("learning rate")
    schedule: Schedule = option("schedule of the learning rate", "plateau")
    warmup: int = option("warm-up steps (cosine, constant); the default is reduced in short training", 0)
    decay: float = option("weight decay (asgd, adamw)", 0.0)
    clip: float = option("maximum norm of the gradient; 0: no limit", 0.25)
    patience: int = option("number of evaluations without improvement after which to stop; 0: never stop early", 0)
    every: int = option("number of steps between evaluations; 0: evaluate after each epoch", 0)
    seed: int = option("seed of the initial weights, the order of the batches and dropout", 1)
    dtype: Literal["f32", "bf16"] = option("bf16: forward passes in bfloat16", "f32")
    device: str = option("cpu, cuda, cuda:1 ...", "cpu")

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("warmup", 0), ("decay", 0), ("clip", 0), ("patience", 0), ("every", 0)):
            # This refuses inf and nan, too.
            if not least <= getattr(self, name) < inf:
                raise UsageError(name, str(getattr(self, name)), f"at least {least}")
        if not 0 < self.lr < inf:
            raise UsageError("lr", str(self.lr), "more than 0")
        if self.optimiser == "asgd" and 0 < self.patience <= NON_MONOTONE:
            # Training would stop before the average begins.
            raise UsageError("patience", f"{self.patience} with the optimiser asgd", f"0, or more than {NON_MONOTONE}")
        if not 0 <= self.seed < _SEEDS:
            raise UsageError("seed", str(self.seed), f"from 0 to {_SEEDS - 1:,}")


def rate_at(settings: Settings, step: int, steps: int, reductions: int) -> float:
    """Return the learning rate of a step.

    Arguments:
        settings: the schedule, warm-up and peak rate.
        step: the step, from 0.
        steps: the total number of steps.
        reductions: the number of times that the plateau schedule has reduced the rate.

    >>> cosine = Settings(1, "adamw", 1.0, "cosine", warmup=2)
    >>> [round(rate_at(cosine, step, 12, 0), 3) for step in (0, 1, 2, 7, 11)]
    [0.5, 1.0, 1.0, 0.55, 0.122]
    >>> rate_at(Settings(1, "sgd", 20.0), 5, 12, reductions=2)
    1.25
    """
    if settings.schedule == "plateau":
        return float(settings.lr * PLATEAU_FACTOR**reductions)
    warmup = warmup_steps(settings, steps)
    if step < warmup:
        return settings.lr * (step + 1) / warmup
    if settings.schedule == "constant":
        return settings.lr
    progress = (step - warmup) / max(1, steps - warmup)
    return settings.lr * (FLOOR + (1 - FLOOR) * (1 + cos(pi * min(1.0, progress))) / 2)


def warmup_steps(settings: Settings, steps: int) -> int:
    """Return the number of warm-up steps for training with a total of `steps` steps.

    A default that is more than half of the steps is reduced to a tenth of them.

    >>> default = Settings(1, "adamw", 1.0, "cosine", warmup=Default(200))
    >>> warmup_steps(default, 400), warmup_steps(default, 150)
    (200, 15)
    """
    if isinstance(settings.warmup, Default) and 2 * settings.warmup > steps:
        return steps // 10
    return settings.warmup
