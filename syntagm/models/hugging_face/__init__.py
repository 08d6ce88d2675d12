"""Checkpoints, tokens and options, shared by causal and masked models from transformers."""
