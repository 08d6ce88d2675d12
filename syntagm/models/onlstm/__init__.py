"""Word-level ON-LSTM language models."""
