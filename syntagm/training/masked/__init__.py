"""Training of BERT models from scratch."""
