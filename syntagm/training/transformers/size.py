"""The size of a transformer."""

from dataclasses import dataclass

from syntagm.core import UsageError
from syntagm.training.options import option, refuse_small


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a transformer.

    Arguments:
        layers: the number of layers.
        width: the width of the layers, a multiple of `heads`.
        heads: the number of attention heads.
        positions: the length of the length of the longest row that the model can read.
        dropout: the dropout in all places (0.1 in the papers).
    """

    layers: int = option("layers", 12)
    width: int = option("width of the layers", 768)
    heads: int = option("attention heads", 12)
    positions: int = option("length of the longest row that the model can read", 1024)
    dropout: float = option("dropout probability", 0.1)

    def __post_init__(self) -> None:
        refuse_small(self, "layers", "width", "heads", "positions")
        if self.width % self.heads:
            raise UsageError("width", str(self.width), f"a multiple of heads ({self.heads})")
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout", str(self.dropout), "from 0 to less than 1")


def refuse_long_rows(window: int, size: Size) -> None:
    """Refuse a window longer than the model's positions."""
    if window > size.positions:
        raise UsageError("window", str(window), f"at most the model's positions ({size.positions})")
