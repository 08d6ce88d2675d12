"""The family `causal`: how a model of it is loaded."""

from syntagm.models.causal.model import load
from syntagm.models.hugging_face.options import PERMISSIONS

__all__ = ["PERMISSIONS", "load"]
