"""The family `recorded`: how a model of it is loaded."""

from syntagm.models.recorded.model import load

__all__ = ["load"]
