"""Training word-level LSTM language models."""
