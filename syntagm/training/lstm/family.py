"""The declaration of the family `lstm`."""

from dataclasses import dataclass

from syntagm.core import UsageError
from syntagm.training.settings import MODEL, TRAINING, Settings, Words, option, part, refuse_small
from syntagm.training.trainable import TREEBANK_WORDS, Controlled, Trainable, Work, by_gradients, known_words


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an LSTM. Hu et al. 2020: 256, 256, 2, 0.3; Gulordava et al. 2018: 650, 650, 2, 0.2.

    Arguments:
        embedding: the width of the embeddings.
        hidden: the width of the layers.
        layers: the number of layers.
        dropout: the dropout of embeddings, between layers, and before the output layer.
        tied: whether embeddings and output layer share one matrix.
    """

    embedding: int = option("width of the embeddings", 256)
    hidden: int = option("width of the layers", 256)
    layers: int = option("layers", 2)
    dropout: float = option("dropout probability", 0.3)
    tied: bool = option("one matrix for embeddings and output layer", False)

    def __post_init__(self) -> None:
        refuse_small(self, "embedding", "hidden", "layers")
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout", str(self.dropout), "from 0 to less than 1")
        if self.tied and self.embedding != self.hidden:
            raise UsageError("tied", f"embedding {self.embedding} and hidden {self.hidden}", "the same size for both")


@dataclass(frozen=True, slots=True)
class Steps:
    """The division of a stream of words into training steps.

    Arguments:
        batch: the number of columns, which are read in parallel.
        window: words of each column per step.
    """

    batch: int = option("sequences per step", 20)
    window: int = option("words of each sequence per step", 35)

    def __post_init__(self) -> None:
        refuse_small(self, "batch", "window")


@dataclass(frozen=True, slots=True)
class LstmSettings:
    """All settings of an LSTM.

    Arguments:
        size: the size of the model.
        words: the settings for turning text into words.
        steps: the division of the words into training steps.
        loop: the settings of the training loop.
    """

    size: Size = part(MODEL, Size())
    words: Words = part(MODEL, Words())
    steps: Steps = part(MODEL, Steps())
    loop: Settings = part(TRAINING, Settings(epochs=40, optimiser="sgd", lr=20.0))


def weights(settings: LstmSettings, words: int) -> float:
    """Return the number of weights that each word is multiplied by, in a model trained on `words` words.

    >>> round(weights(LstmSettings(), 1_000_000))
    7192576
    """
    size = settings.size
    inner = sum(
        4 * size.hidden * (size.hidden + (size.embedding if layer == 0 else size.hidden))
        for layer in range(size.layers)
    )
    return float(inner + known_words(words, settings.words.threshold) * size.hidden)


def _duration(settings: LstmSettings, work: Work) -> tuple[float, float]:
    step = settings.steps.batch * settings.steps.window
    return by_gradients(weights(settings, work.words), TREEBANK_WORDS, settings.loop.epochs, step, work)


LSTM = Trainable(
    name="lstm",
    summary="a word-level LSTM",
    settings=LstmSettings(),
    module="syntagm.training.lstm.train",
    note="The defaults are those of Hu et al. 2020. Gulordava et al. 2018: "
    "--embedding 650 --hidden 650 --dropout 0.2 --batch 128",
    controlled=Controlled(_duration),
)
