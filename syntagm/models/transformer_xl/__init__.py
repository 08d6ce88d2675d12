"""Word-level Transformer-XL language models, imported from published checkpoints."""
