"""The maximum length of a text for masked models."""

from typing import Any

import torch

# Stands for any number of positions.
NO_LIMIT = 1 << 30


def limit(model: Any) -> int:
    """Return the largest number of inputs that the model has positions for; `NO_LIMIT` if there is no limit."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
        positions = getattr(model.config, name, None)
        if isinstance(positions, int) and positions > 0:
            break
    else:
        return NO_LIMIT
    words = model.get_input_embeddings()
    for table in model.modules():
        if table is words:
            continue
        # RoBERTa-like models count positions from the one after the padding index.
        if (
            isinstance(table, torch.nn.Embedding)
            and table.num_embeddings == positions
            and table.padding_idx is not None
        ):
            return positions - table.padding_idx - 1
    return positions
