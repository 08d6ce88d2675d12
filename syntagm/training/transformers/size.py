"""How big a transformer is, whatever it is trained for."""

from dataclasses import dataclass

from syntagm.errors import UsageError
from syntagm.training.options import option, refuse_small


@dataclass(frozen=True, slots=True)
class Size:
    """How big a transformer is.

    Arguments:
        layers: how many.
        width: of each, a multiple of `heads`.
        heads: of attention.
        positions: the longest row that the model can take.
        dropout: everywhere (0.1 in the papers).
    """

    layers: int = option("layers", 12)
    width: int = option("their width", 768)
    heads: int = option("heads of attention", 12)
    positions: int = option("longest row", 1024)
    dropout: float = option("share of units left out", 0.1)

    def __post_init__(self) -> None:
        refuse_small(self, "layers", "width", "heads", "positions")
        if self.width % self.heads:
            raise UsageError("width", str(self.width), f"a multiple of heads ({self.heads})")
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout", str(self.dropout), "from 0 to less than 1")


def refuse_long_rows(window: int, size: Size) -> None:
    """Refuse rows that the model can't take.

    Raises:
        UsageError: they are longer than its positions.
    """
    if window > size.positions:
        raise UsageError("window", str(window), f"at most the model's positions ({size.positions})")
