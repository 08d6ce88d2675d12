"""Training of word-level ON-LSTM language models."""
