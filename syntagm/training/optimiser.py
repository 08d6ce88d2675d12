"""The optimiser and the gradient clipping of the training loop."""

import torch
from torch import nn

from syntagm.training.settings import Settings


def build(module: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Create the optimiser of a module: plain SGD, or AdamW without weight decay of biases and norms."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(parameters, lr=settings.lr)
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
