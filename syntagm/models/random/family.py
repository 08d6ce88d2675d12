"""The family `random`: how a model of it is loaded."""

from syntagm.models.random.model import load

__all__ = ["load"]
