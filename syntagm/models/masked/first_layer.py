"""Queries, keys and values of the first layer of BERT-like models, computed once for each token and position.

The input of the first layer depends only on the token and its position, and the rows of a text differ in one mask. So nearly
all of its queries, keys and values are repeated. A probe checks that the results are those of the original model.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.functional import embedding

from syntagm.models.masked.last_layer import layers


def first_layer(model: Any) -> Any | None:
    """Return the first layer if it is built like BERT's, is not the only layer, and is on a CPU; else None."""
    # On a GPU, finding the repeats takes longer than computing them.
    all_layers = layers(model) if model.device.type == "cpu" else []
    return all_layers[0] if len(all_layers) > 1 else None


@contextlib.contextmanager
def once(layer: Any, tokens: torch.Tensor) -> Iterator[None]:
    """Within the `with` block, compute the layer's queries, keys and values once for each token id and position in `tokens`."""
    width = tokens.shape[1]
    distinct, which = torch.unique(tokens * width + torch.arange(width, device=tokens.device), return_inverse=True)
    # An occurrence of each distinct pair.
    occurrence = torch.empty(len(distinct), dtype=torch.long, device=tokens.device)
    occurrence[which.flatten()] = torch.arange(tokens.numel(), device=tokens.device)
    parts = [getattr(layer.attention.self, name) for name in ("query", "key", "value")]
    for part in parts:

        def forward(hidden: torch.Tensor, part: Any = part) -> torch.Tensor:
            return embedding(which, type(part).forward(part, hidden.flatten(0, 1)[occurrence]))

        part.forward = forward
    try:
        yield
    finally:
        for part in parts:
            del part.forward
