"""Conventions: which number of a sentence is compared, what is left out of it, and how ties count."""
