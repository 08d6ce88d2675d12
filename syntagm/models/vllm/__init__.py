"""Hugging Face causal language models computed by vLLM in this process."""
