"""The family `masked`: how a model of it is loaded."""

from syntagm.models.masked.model import PERMISSIONS, load

__all__ = ["PERMISSIONS", "load"]
