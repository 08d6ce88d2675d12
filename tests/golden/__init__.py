"""The record of numbers: what the command line prints and writes, kept to be compared between two commits."""
