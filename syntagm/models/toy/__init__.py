"""A model small enough to check by pencil."""
