"""Mutated inputs for every reader: whatever a file holds, it is read, or refused with an error of Syntagm's own."""
