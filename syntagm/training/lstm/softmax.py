"""The output layer in training on a processor: loss and gradients in one pass, in room that is kept.

With a plain linear layer and `cross_entropy` about half the time of a step goes into fresh memory: the logits, their
log-softmax and both gradients, each a number for every token and every word of the vocabulary. Here a few rows at a time go
through one buffer, in which logits become probabilities p, and the targets are taken away on the narrow side. For N tokens,
with hidden states h, targets t and weights W, the gradients are

    of W:  p' h / N, less h / N in the rows t;     of h:  (p W - W[t]) / N

which is the same mathematics in another order: equal to rounding.
"""

from typing import Any

import torch
from torch import Tensor, nn

# Rows at a time: their numbers should stay in the processor's cache.
ROWS = 256
# Probabilities below are denormal soon, or 0.
SMALL = 1e-30


class Softmax:
    """The loss of an output layer.

    The gradients of the layer's weights are put straight into `grad`, in room that is used again for each batch.

    Arguments:
        layer: on a processor, in float32, with a bias.
        rounded: multiply in bfloat16 (sums, logits, loss and gradients stay in float32), where the processor can.
    """

    def __init__(self, layer: nn.Linear, rounded: bool = False) -> None:
        self.layer, self._rounded = layer, rounded
        self._gradients = torch.empty_like(layer.weight), torch.empty_like(layer.bias)
        self._room = torch.empty(ROWS, len(layer.bias))

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """The mean surprisal of the targets in nats.

        Arguments:
            hidden: shape (tokens, width).
            targets: shape (tokens,).
        """
        apply: Any = _Loss.apply
        found: Tensor = apply(hidden, targets, self)
        return found

    def compute(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """The loss and its gradient with respect to `hidden`; the other gradients are kept."""
        products: Any = torch.backends.mkldnn
        spelled = products.matmul.fp32_precision
        products.matmul.fp32_precision = "bf16" if self._rounded else spelled
        try:
            return self._compute(hidden.float(), targets)
        finally:
            products.matmul.fp32_precision = spelled

    def _compute(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        (weight, bias), share = (self.layer.weight, self.layer.bias), 1 / len(targets)
        of_weight, of_bias = self._gradients
        of_hidden, loss = torch.empty_like(hidden), 0.0
        for first in range(0, len(targets), ROWS):
            part, aims = hidden[first : first + ROWS], targets[first : first + ROWS]
            room = torch.addmm(bias, part, weight.T, out=self._room[: len(part)])
            torch.softmax(room, 1, out=room)
            loss += self._nats(part, aims, room) * share
            kept = 1.0 if first else 0.0
            torch.addmm(of_weight, room.T, part, beta=kept, alpha=share, out=of_weight)
            torch.addmv(of_bias, room.T, torch.full((len(part),), share), beta=kept, out=of_bias)
            torch.mm(room, weight, out=of_hidden[first : first + ROWS]).mul_(share)
        of_weight.index_add_(0, targets, hidden, alpha=-share)
        of_bias.index_add_(0, targets, torch.ones(len(targets)), alpha=-share)
        return torch.tensor(loss), of_hidden.sub_(weight[targets], alpha=share)

    def _nats(self, hidden: Tensor, targets: Tensor, probabilities: Tensor) -> float:
        """The surprisals of some targets, added up."""
        chosen = probabilities.gather(1, targets[:, None])[:, 0]
        # These have lost digits, or are 0: rare enough to be computed again.
        small = chosen < SMALL
        nats = -float(chosen[~small].double().log().sum())
        if small.any():
            logits = torch.nn.functional.linear(hidden[small], self.layer.weight, self.layer.bias)
            nats += float(torch.nn.functional.cross_entropy(logits, targets[small], reduction="sum"))
        return nats

    def give(self, factor: Tensor) -> None:
        """Add the kept gradients, times the gradient of what the loss went into, to those of the layer."""
        for parameter, gradient in zip((self.layer.weight, self.layer.bias), self._gradients, strict=True):
            if factor != 1:
                gradient *= factor
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                parameter.grad += gradient


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(place: Any, hidden: Tensor, targets: Tensor, softmax: Softmax) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            loss, gradient = softmax.compute(hidden.detach(), targets)
        place.softmax, place.kind = softmax, hidden.dtype
        place.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(place: Any, *factors: Tensor) -> tuple[Tensor, None, None]:
        [factor], [gradient] = factors, place.saved_tensors
        place.softmax.give(factor)
        return (gradient * factor).to(place.kind), None, None
