"""What the training of word-level recurrent networks shares: the stream of words, steps, and held-out likelihood."""
