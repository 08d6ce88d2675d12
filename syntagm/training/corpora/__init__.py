"""Corpora: text, trees, BLLIP, and nested parts of them."""
