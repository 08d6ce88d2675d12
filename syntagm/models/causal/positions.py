"""The maximum length of a text for causal models, and the length up to which each token sees all tokens before it."""

from typing import Any

# Stands for any number of positions, as in recurrent models.
NO_LIMIT = 1 << 30


def limit(config: Any) -> int:
    """Return the largest number of input tokens that the model has positions for; `NO_LIMIT` if there is no limit."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
        positions = getattr(config.get_text_config(), name, None)
        if isinstance(positions, int) and positions > 0:
            return positions
    return NO_LIMIT


def window(config: Any) -> int:
    """Return the length up to which no sliding-window layer excludes any tokens."""
    text = config.get_text_config()
    sizes = [
        getattr(text, name, None)
        for name in ("sliding_window", "window_size", "attention_window", "sliding_window_size", "attention_chunk_size")
    ]
    return min([size for size in sizes if isinstance(size, int) and size > 0], default=NO_LIMIT)
