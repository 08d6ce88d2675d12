"""The settings of an LSTM: its size, how text becomes steps, how it trains."""

from dataclasses import dataclass

from syntagm.errors import UsageError
from syntagm.training.options import MODEL, TRAINING, option, part, refuse_small
from syntagm.training.settings import Settings
from syntagm.training.words import Words


@dataclass(frozen=True, slots=True)
class Size:
    """How big an LSTM is. Hu et al. 2020: 256, 256, 2, 0.3; Gulordava et al. 2018: 650, 650, 2, 0.2.

    Arguments:
        embedding: width of the embeddings.
        hidden: width of the layers.
        layers: how many.
        dropout: of embeddings, between layers, and before the output layer.
        tied: do embeddings and output layer share one matrix?
    """

    embedding: int = option("width of the embeddings", 256)
    hidden: int = option("width of the layers", 256)
    layers: int = option("layers", 2)
    dropout: float = option("share of units left out", 0.3)
    tied: bool = option("one matrix for embeddings and output layer", False)

    def __post_init__(self) -> None:
        refuse_small(self, "embedding", "hidden", "layers")
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout", str(self.dropout), "from 0 to less than 1")
        if self.tied and self.embedding != self.hidden:
            raise UsageError("tied", f"embedding {self.embedding} and hidden {self.hidden}", "both the same")


@dataclass(frozen=True, slots=True)
class Steps:
    """How a stream of words becomes steps.

    Arguments:
        batch: columns.
        window: words of a column that a step reads.
    """

    batch: int = option("sequences a step", 20)
    window: int = option("words of a column that a step reads", 35)

    def __post_init__(self) -> None:
        refuse_small(self, "batch", "window")


@dataclass(frozen=True, slots=True)
class LstmSettings:
    """All settings of an LSTM.

    Arguments:
        size: of the model.
        words: how text becomes words.
        steps: how words become steps.
        loop: how it trains.
    """

    size: Size = part(MODEL, Size())
    words: Words = part(MODEL, Words())
    steps: Steps = part(MODEL, Steps())
    loop: Settings = part(TRAINING, Settings(epochs=40, optimiser="sgd", lr=20.0))
