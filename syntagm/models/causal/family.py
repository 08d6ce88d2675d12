"""The family `causal`: how a model of it is loaded."""

from syntagm.models.causal.model import PERMISSIONS, load

__all__ = ["PERMISSIONS", "load"]
