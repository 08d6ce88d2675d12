"""A toy bigram model, small enough to be checked by hand."""
