"""Training of GPT-2 models from scratch."""
