"""The settings of the training loop: optimiser, schedule, when to stop, and in what type to compute."""

from dataclasses import dataclass
from math import cos, inf, pi
from typing import Literal

from syntagm.errors import UsageError
from syntagm.training.options import option

Optimiser = Literal["sgd", "adamw"]
Schedule = Literal["plateau", "cosine", "constant"]
PLATEAU_FACTOR = 0.25
FLOOR = 0.1
# The loop multiplies it by a million and the epoch, within 64 bits.
_SEEDS = 2**32


@dataclass(frozen=True, slots=True)
class Settings:
    """How to train.

    Arguments:
        epochs: at most so many passes over the text.
        optimiser: `sgd`, plain; or `adamw` (betas 0.9 and 0.95, no decay of biases and norms).
        lr: the learning rate, at its highest.
        schedule: `plateau`: a quarter of it after an evaluation that is no better than the best (Gulordava et al. 2018);
            `cosine`: linearly up over `warmup` steps, then down to a tenth along a cosine over all epochs; `constant`:
            up likewise, then as it is.
        warmup: steps; `plateau` has none.
        decay: weight decay (adamw).
        clip: the largest norm of the gradient; 0 for no limit.
        patience: stop after so many evaluations in a row without a better one; 0: never.
        every: evaluate every so many steps, and after the last; 0: after each epoch.
        seed: of weights, order and dropout.
        dtype: `f32`; or `bf16`: forward passes in bfloat16, weights and optimiser in float32.
        device: `cpu`, `cuda`, `cuda:1` ...
    """

    epochs: int = option("passes over the text, at most")
    optimiser: Optimiser = option("plain SGD, or AdamW")
    lr: float = option("learning rate")
    schedule: Schedule = option("how the rate goes on", "plateau")
    warmup: int = option("steps (cosine, constant), at most all there are", 0)
    decay: float = option("weight decay (adamw)", 0.0)
    clip: float = option("largest norm of the gradient; 0: no limit", 0.25)
    patience: int = option("stop after so many evaluations without gain; 0: never", 0)
    every: int = option("evaluate every so many steps, and at the end; 0: after each epoch", 0)
    seed: int = option("of weights, order and dropout", 1)
    dtype: Literal["f32", "bf16"] = option("bf16: forward passes in bfloat16", "f32")
    device: str = option("cpu, cuda, cuda:1 ...", "cpu")

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("warmup", 0), ("decay", 0), ("clip", 0), ("patience", 0), ("every", 0)):
            # Neither endless nor no number.
            if not least <= getattr(self, name) < inf:
                raise UsageError(name, str(getattr(self, name)), f"at least {least}")
        if not 0 < self.lr < inf:
            raise UsageError("lr", str(self.lr), "more than 0")
        if not 0 <= self.seed < _SEEDS:
            raise UsageError("seed", str(self.seed), f"from 0 to {_SEEDS - 1:,}")


def rate_at(settings: Settings, step: int, steps: int, reductions: int) -> float:
    """The learning rate of a step, from 0, of `steps` in all, after so many reductions of the plateau schedule.

    >>> cosine = Settings(1, "adamw", 1.0, "cosine", warmup=2)
    >>> [round(rate_at(cosine, step, 12, 0), 3) for step in (0, 1, 2, 7, 11)]
    [0.5, 1.0, 1.0, 0.55, 0.122]
    >>> rate_at(Settings(1, "sgd", 20.0), 5, 12, reductions=2)
    1.25
    """
    if settings.schedule == "plateau":
        return float(settings.lr * PLATEAU_FACTOR**reductions)
    if step < settings.warmup:
        return settings.lr * (step + 1) / settings.warmup
    if settings.schedule == "constant":
        return settings.lr
    part = (step - settings.warmup) / max(1, steps - settings.warmup)
    return settings.lr * (FLOOR + (1 - FLOOR) * (1 + cos(pi * min(1.0, part))) / 2)
