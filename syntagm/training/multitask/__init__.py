"""Training of LSTM language models with a second task, tagging."""
