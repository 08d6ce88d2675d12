"""What the first layer of a BERT or one of its kin multiplies each token by, computed once for each token and place.

What it is given depends on a token and its place alone, and the rows of a text differ by a mask, so nearly all of its queries,
keys and values repeat. A probe says whether the numbers are the model's own.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.functional import embedding, linear

from syntagm.models.masked.last_layer import layers


def first_layer(model: Any) -> Any | None:
    """The first layer, if it has the parts of BERT's, is not the last, and stands on a processor; else None."""
    # On a graphics card finding the repeats costs more than they do.
    found = layers(model) if model.device.type == "cpu" else []
    return found[0] if len(found) > 1 else None


@contextlib.contextmanager
def once(layer: Any, tokens: torch.Tensor) -> Iterator[None]:
    """Within, queries, keys and values of the layer are computed once for each token number and place of `tokens`."""
    width = tokens.shape[1]
    distinct, which = torch.unique(tokens * width + torch.arange(width), return_inverse=True)
    # Where one of each stands.
    place = torch.empty(len(distinct), dtype=torch.long)
    place[which.flatten()] = torch.arange(tokens.numel())
    parts = [getattr(layer.attention.self, name) for name in ("query", "key", "value")]
    for part in parts:

        def forward(hidden: torch.Tensor, part: Any = part) -> torch.Tensor:
            return embedding(which, linear(hidden.flatten(0, 1)[place], part.weight, part.bias))

        part.forward = forward
    try:
        yield
    finally:
        for part in parts:
            del part.forward
