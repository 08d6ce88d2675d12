"""The optimiser and the gradient clipping of the training loop."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from syntagm.training.settings import Settings


class AveragedSGD(torch.optim.SGD):
    """Plain SGD that, from some step on, also computes the mean of the weights after each step (Polyak & Juditsky 1992)."""

    # This is PyTorch's ASGD with t0 = 0 and lambd = 0, but the learning rate is that of the step.

    @property
    def averaging(self) -> bool:
        """Whether weights are averaged."""
        return bool(self.state)

    def average(self) -> None:
        """Average the weights from the next step on."""
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter] = {"average": parameter.detach().clone(), "step": torch.zeros(())}

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Make a step, and add its weights to the averages."""
        super().step(closure)
        for parameter, state in self.state.items():
            state["step"] += 1
            state["average"].lerp_(parameter, 1 / float(state["step"]))

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Use the averages as weights while the context lasts, if there are any."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for parameter, state in self.state.items():
            kept = parameter.detach().clone()
            parameter.data.copy_(state["average"])
            state["average"].copy_(kept)


def build(module: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Create the optimiser of a module: plain SGD, SGD with averaging, or AdamW without weight decay of biases and norms."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(parameters, lr=settings.lr)
    if settings.optimiser == "asgd":
        return AveragedSGD(parameters, lr=settings.lr, weight_decay=settings.decay)
    groups = [
        {"params": [parameter for parameter in parameters if parameter.dim() > 1], "weight_decay": settings.decay},
        {"params": [parameter for parameter in parameters if parameter.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.lr, betas=(0.9, 0.95), eps=1e-8)


def clip(module: nn.Module, limit: float) -> None:
    """Scale gradients, including sparse ones, down to a norm of `limit` if theirs is larger, like PyTorch."""
    values = []
    for parameter in module.parameters():
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()
            values.append(parameter.grad.values())
        elif parameter.grad is not None:
            values.append(parameter.grad)
    norm = torch.nn.utils.get_total_norm(values)
    factor = torch.clamp(limit / (norm + 1e-6), max=1.0)
    if float(factor) != 1:
        for value in values:
            value.mul_(factor)
