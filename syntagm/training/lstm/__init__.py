"""Training of word-level LSTM language models."""
