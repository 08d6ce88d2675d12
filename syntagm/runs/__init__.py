"""Runs of tasks: the engine that computes them, the ledger that writes them, and the store that reads them."""
