"""The output layer in training on a CPU: loss and gradients in one pass, in preallocated memory.

With a plain linear layer and `cross_entropy`, about half the time of a step is spent on allocating memory for the logits,
their log-softmax and both gradients, each with a number for every token and every word of the vocabulary. Here, a few
rows at a time go through one buffer, in which logits become probabilities p. The targets are subtracted afterwards, in
arrays as wide as the hidden layer. For N tokens with hidden states h, targets t and weights W, the gradients are

    of W:  p' h / N, minus h / N in the rows t;     of h:  (p W - W[t]) / N

This is the same computation in a different order, so the results are equal up to rounding.
"""

from typing import Any

import torch
from torch import Tensor, nn

from syntagm.core import UsageError

# Rows at a time: few enough that their numbers stay in the CPU's cache.
ROWS = 256
# Probabilities below this are close to denormal numbers, or 0.
SMALL = 1e-30


class OnePass:
    """The loss of an output layer."""

    # The gradients of the layer's weights are written directly to `grad`, in memory that is reused for each batch.

    def __init__(self, layer: nn.Linear, rounded: bool = False) -> None:
        if rounded:
            _precision()
        self.layer, self._rounded = layer, rounded
        self._gradients = torch.empty_like(layer.weight), torch.empty_like(layer.bias)
        self._buffer = torch.empty(ROWS, len(layer.bias))

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Compute the mean surprisal of the targets in nats."""
        apply: Any = _Loss.apply
        loss: Tensor = apply(hidden, targets, self)
        return loss

    def compute(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss and its gradient with respect to `hidden`; store the gradients of the layer for `give`."""
        if not self._rounded:
            return self._compute(hidden.float(), targets)
        matmul = _precision()
        precision, matmul.fp32_precision = matmul.fp32_precision, "bf16"
        try:
            return self._compute(hidden.float(), targets)
        finally:
            matmul.fp32_precision = precision

    def _compute(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        (weight, bias), share = (self.layer.weight, self.layer.bias), 1 / len(targets)
        of_weight, of_bias = self._gradients
        of_hidden, loss = torch.empty_like(hidden), 0.0
        for first in range(0, len(targets), ROWS):
            rows, row_targets = hidden[first : first + ROWS], targets[first : first + ROWS]
            buffer = torch.addmm(bias, rows, weight.T, out=self._buffer[: len(rows)])
            torch.softmax(buffer, 1, out=buffer)
            loss += self._nats(rows, row_targets, buffer) * share
            kept = 1.0 if first else 0.0
            torch.addmm(of_weight, buffer.T, rows, beta=kept, alpha=share, out=of_weight)
            torch.addmv(of_bias, buffer.T, torch.full((len(rows),), share), beta=kept, out=of_bias)
            torch.mm(buffer, weight, out=of_hidden[first : first + ROWS]).mul_(share)
        of_weight.index_add_(0, targets, hidden, alpha=-share)
        of_bias.index_add_(0, targets, torch.ones(len(targets)), alpha=-share)
        return torch.tensor(loss), of_hidden.sub_(weight[targets], alpha=share)

    def _nats(self, hidden: Tensor, targets: Tensor, probabilities: Tensor) -> float:
        """Return the sum of the surprisals of some targets."""
        chosen = probabilities.gather(1, targets[:, None])[:, 0]
        # These have lost digits or are 0. They are rare, so they are computed again from the logits.
        small = chosen < SMALL
        nats = -float(chosen[~small].double().log().sum())
        if small.any():
            logits = torch.nn.functional.linear(hidden[small], self.layer.weight, self.layer.bias)
            nats += float(torch.nn.functional.cross_entropy(logits, targets[small], reduction="sum"))
        return nats

    def give(self, factor: Tensor) -> None:
        """Multiply the stored gradients by `factor`, and add them to the gradients of the layer."""
        for parameter, gradient in zip((self.layer.weight, self.layer.bias), self._gradients, strict=True):
            if factor != 1:
                gradient *= factor
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                parameter.grad += gradient


def _precision() -> Any:
    """Return the part of PyTorch that sets the precision of products on a CPU."""
    matmul = getattr(torch.backends.mkldnn, "matmul", None)
    if matmul is None:
        found, expected = f"PyTorch {torch.__version__}", "2.9 or newer, which can multiply in bfloat16 here"
        raise UsageError("--dtype bf16", found, expected, "Use --dtype f32, or a newer PyTorch.")
    return matmul


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, hidden: Tensor, targets: Tensor, softmax: OnePass) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            loss, gradient = softmax.compute(hidden.detach(), targets)
        context.softmax, context.kind = softmax, hidden.dtype
        context.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(context: Any, *factors: Tensor) -> tuple[Tensor, None, None]:
        [factor], [gradient] = factors, context.saved_tensors
        context.softmax.give(factor)
        return (gradient * factor).to(context.kind), None, None
