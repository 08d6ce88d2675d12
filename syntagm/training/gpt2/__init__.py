"""Training GPT-2 from scratch."""
