"""The family `lstm`: how a model of it is loaded."""

from syntagm.models.lstm.model import load

__all__ = ["load"]
