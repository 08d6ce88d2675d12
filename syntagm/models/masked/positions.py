"""How long a text may be for a masked model."""

from typing import Any

import torch


def limit(model: Any) -> int:
    """Return how many inputs the model's positions allow."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
        found = getattr(model.config, name, None)
        if isinstance(found, int) and found > 0:
            break
    else:
        return 1 << 30
    words = model.get_input_embeddings()
    for table in model.modules():
        if table is words:
            continue
        # RoBERTa and its kin count positions from the one after that of padding.
        if isinstance(table, torch.nn.Embedding) and table.num_embeddings == found and table.padding_idx is not None:
            return found - table.padding_idx - 1
    return found
