"""The last layer of BERT-like models, computed only at the scored positions; they still attend to all positions.

With four layers this saves nearly a quarter of the time. The layer is recognised by its parts, and a probe checks that the
results are those of the original model.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import transformers

_RETURNS_TUPLE = transformers.__version__.startswith("4.")


def layers(model: Any) -> Sequence[Any]:
    """Return the layers of a model if they are built like BERT's; else an empty sequence."""
    modules = getattr(getattr(model.base_model, "encoder", None), "layer", None)
    if not modules or not isinstance(modules, torch.nn.ModuleList):
        return ()
    layer: Any = modules[-1]
    parts, attention = ("query", "key", "value"), getattr(layer, "attention", None)
    own = getattr(attention, "self", None)
    linear = all(isinstance(getattr(own, part, None), torch.nn.Linear) for part in parts)
    after = all(hasattr(layer, part) for part in ("intermediate", "output")) and hasattr(attention, "output")
    return list(modules) if linear and after and hasattr(own, "num_attention_heads") else ()


def last_layer(model: Any) -> Any | None:
    """Return the last layer if it is built like BERT's; else None."""
    all_layers = layers(model)
    return all_layers[-1] if all_layers else None


@contextlib.contextmanager
def at_places(layer: Any, places: torch.Tensor) -> Iterator[None]:
    """Within the `with` block, compute the layer's output only at one position of each row. Shape (rows, 1, width)."""

    def forward(hidden: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor | tuple[torch.Tensor]:
        scored = hidden[torch.arange(len(places), device=hidden.device), places][:, None]
        attended = layer.attention.output(_attend(layer.attention.self, scored[:, 0], hidden)[:, None], scored)
        output: torch.Tensor = layer.output(layer.intermediate(attended), attended)
        return (output,) if _RETURNS_TUPLE else output

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward


def _attend(own: Any, scored: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    """Compute the attention output at one position per row. Shape (rows, width)."""
    # With one query per row, the key matrix is multiplied with the query and the value matrix with the weighted sum of
    # hidden states, instead of both with every position. The bias of the keys is the same for all positions, so it
    # cancels.
    heads = own.num_attention_heads
    keys, values = (part.weight.unflatten(0, (heads, -1)) for part in (own.key, own.value))
    query = own.query(scored).unflatten(-1, (heads, -1))
    scores = torch.einsum("rhe,hed->rhd", query, keys) @ hidden.transpose(1, 2)
    weights = torch.softmax(scores / query.shape[-1] ** 0.5, -1)
    mixed: torch.Tensor = torch.einsum("rhd,hed->rhe", weights @ hidden, values).flatten(1) + own.value.bias
    return mixed
