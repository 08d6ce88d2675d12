"""How long a text may be for a causal model, and within which length each token sees all before it."""

from typing import Any


def limit(config: Any) -> int:
    """Return how many input tokens the model's positions allow."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
        found = getattr(config.get_text_config(), name, None)
        if isinstance(found, int) and found > 0:
            return found
    return 1 << 30


def window(config: Any) -> int:
    """Return how long a sequence may be so that no layer with a sliding window cuts anything off."""
    text = config.get_text_config()
    found = [
        getattr(text, name, None)
        for name in ("sliding_window", "window_size", "attention_window", "sliding_window_size", "attention_chunk_size")
    ]
    return min([size for size in found if isinstance(size, int) and size > 0], default=1 << 30)
