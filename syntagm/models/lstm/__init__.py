"""Word-level LSTM language models."""
