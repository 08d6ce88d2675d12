"""Left-to-right language models from transformers."""
