"""Training GPT-2 and masked transformers from scratch."""
