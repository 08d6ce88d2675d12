"""Training of recurrent neural network grammars (RNNGs) on trees."""
