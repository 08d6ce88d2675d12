"""The last layer of a BERT or one of its kin, computed at the asked places only: all places are attended to, few are needed.

A quarter of what four layers cost. The layer is found by its parts, and a probe says whether the numbers are the model's own.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch


def layers(model: Any) -> Sequence[Any]:
    """The layers of a model, if they have the parts of BERT's; else none."""
    found = getattr(getattr(model.base_model, "encoder", None), "layer", None)
    if not found or not isinstance(found, torch.nn.ModuleList):
        return ()
    layer: Any = found[-1]
    parts = ("query", "key", "value")
    own = getattr(getattr(layer, "attention", None), "self", None)
    linear = all(isinstance(getattr(own, part, None), torch.nn.Linear) for part in parts)
    after = all(hasattr(layer, part) for part in ("intermediate", "output")) and hasattr(layer.attention, "output")
    return list(found) if linear and after and hasattr(own, "num_attention_heads") else ()


def last_layer(model: Any) -> Any | None:
    """The last layer, if it has the parts of BERT's; else None."""
    found = layers(model)
    return found[-1] if found else None


@contextlib.contextmanager
def at_places(layer: Any, places: torch.Tensor) -> Iterator[None]:
    """Within, the layer gives the output at one place of each row only. Shape (rows, 1, width)."""

    def forward(hidden: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        asked = hidden[torch.arange(len(places), device=hidden.device), places][:, None]
        attended = layer.attention.output(_attend(layer.attention.self, asked[:, 0], hidden)[:, None], asked)
        found: torch.Tensor = layer.output(layer.intermediate(attended), attended)
        return found

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward


def _attend(own: Any, asked: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    """What one place of each row attends to. Shape (rows, width).

    With one query a row, the matrices of keys and values are multiplied with it and with what it attends to, not with every
    place. The bias of the keys is the same for all places, so it cancels.
    """
    heads = own.num_attention_heads
    keys, values = (part.weight.unflatten(0, (heads, -1)) for part in (own.key, own.value))
    query = own.query(asked).unflatten(-1, (heads, -1))
    scores = torch.einsum("rhe,hed->rhd", query, keys) @ hidden.transpose(1, 2)
    shares = torch.softmax(scores / query.shape[-1] ** 0.5, -1)
    mixed: torch.Tensor = torch.einsum("rhd,hed->rhe", shares @ hidden, values).flatten(1) + own.value.bias
    return mixed
