"""Recurrent neural network grammars (RNNGs): generative models of trees and words, scored by beam search."""
