"""Masked language models from transformers."""
