"""Readers of corpora: text, trees, BLLIP, and nested subsets of them."""
