"""The family `masked`: how a model of it is loaded."""

from syntagm.models.hugging_face.options import PERMISSIONS
from syntagm.models.masked.model import load

__all__ = ["PERMISSIONS", "load"]
