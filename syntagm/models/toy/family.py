"""The family `toy`: how a model of it is loaded."""

from syntagm.models.toy.model import load

__all__ = ["load"]
