"""Training BERT from scratch."""
