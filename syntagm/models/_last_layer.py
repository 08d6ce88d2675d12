"""The last layer of a BERT or one of its kin, computed at the asked places only: all places are attended to, few are needed.

A quarter of what four layers cost. The layer is found by its parts, and a probe says whether the numbers are the model's own.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention


def last_layer(model: Any) -> Any | None:
    """The last layer, if it has the parts of BERT's; else None."""
    layers = getattr(getattr(model.base_model, "encoder", None), "layer", None)
    if not layers or not isinstance(layers, torch.nn.ModuleList):
        return None
    layer: Any = layers[-1]
    parts = ("query", "key", "value")
    own = getattr(getattr(layer, "attention", None), "self", None)
    linear = all(isinstance(getattr(own, part, None), torch.nn.Linear) for part in parts)
    after = all(hasattr(layer, part) for part in ("intermediate", "output")) and hasattr(layer.attention, "output")
    return layer if linear and after and hasattr(own, "num_attention_heads") else None


@contextlib.contextmanager
def at_places(layer: Any, places: torch.Tensor) -> Iterator[None]:
    """Within, the layer gives the output at one place of each row only. Shape (rows, 1, width)."""

    def forward(hidden: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        own = layer.attention.self
        asked = hidden[torch.arange(len(places), device=hidden.device), places][:, None]
        query, key, value = (
            made.unflatten(-1, (own.num_attention_heads, -1)).transpose(1, 2)
            for made in (own.query(asked), own.key(hidden), own.value(hidden))
        )
        mixed = scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        attended = layer.attention.output(mixed, asked)
        found: torch.Tensor = layer.output(layer.intermediate(attended), attended)
        return found

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward
