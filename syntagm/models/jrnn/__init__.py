"""LSTMs with projections and peepholes, imported from published checkpoints."""
