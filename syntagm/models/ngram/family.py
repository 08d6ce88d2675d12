"""The family `ngram`: how a model of it is loaded."""

from syntagm.models.ngram.model import load

__all__ = ["load"]
