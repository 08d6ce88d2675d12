"""Runs of tasks: the engine computes them, the ledger writes them, and the store reads them."""
