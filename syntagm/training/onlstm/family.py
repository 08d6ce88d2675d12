"""The declaration of the family `onlstm`."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.lstm.family import Steps
from syntagm.training.settings import MODEL, TRAINING, Settings, Words, option, part, refuse_small
from syntagm.training.trainable import TREEBANK_WORDS, Controlled, Trainable, Work, by_gradients, known_words


@dataclass(frozen=True, slots=True)
class OnLstmSize:
    """The size of an ON-LSTM.

    Arguments:
        embedding: the width of the embeddings and of the last layer, whose output layer has the embeddings' matrix.
        hidden: the width of the other layers.
        layers: the number of layers.
        chunk: the number of neurons that share their master gates.
        softmax: `full`: one softmax over all words; `adaptive`: words that are not among the first 2,800 in two steps;
            `auto`: `adaptive` if the output of one step would take more than half of the GPU's memory, else `full`.
    """

    embedding: int = option("width of the embeddings and of the last layer", 400)
    hidden: int = option("width of the other layers", 1150)
    layers: int = option("layers", 3)
    chunk: int = option("neurons with the same master gates; must divide both widths", 10)
    softmax: Literal["auto", "full", "adaptive"] = option(
        "one softmax, or two steps for rarer words; auto: adaptive where the GPU's memory is too small for full", "auto"
    )

    def __post_init__(self) -> None:
        refuse_small(self, "embedding", "hidden", "layers", "chunk")
        for name in ("embedding", "hidden"):
            if (width := getattr(self, name)) % self.chunk:
                raise UsageError(name, str(width), f"a multiple of chunk, {self.chunk}")


@dataclass(frozen=True, slots=True)
class Regularisation:
    """The regularisation of Merity et al. 2018 (AWD-LSTM), with the values of Shen et al. 2019.

    Arguments:
        dropout: the dropout before the output layer.
        dropout_layers: the dropout between layers.
        dropout_input: the dropout of embeddings.
        dropout_words: the probability that all occurrences of a word in a step are dropped.
        dropout_recurrent: the dropout of recurrent weights.
        activation: the factor of the mean square of the last layer's output in the loss.
        smoothness: the factor of the mean square of its change from word to word.
    """

    dropout: float = option("dropout before the output layer", 0.45)
    dropout_layers: float = option("dropout between layers", 0.3)
    dropout_input: float = option("dropout of embeddings", 0.5)
    dropout_words: float = option("probability that a word's embedding is dropped", 0.1)
    dropout_recurrent: float = option("dropout of recurrent weights", 0.45)
    activation: float = option("factor of the output's mean square in the loss", 2.0)
    smoothness: float = option("factor of the mean square of the output's change from word to word", 1.0)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value, dropout = getattr(self, name), name.startswith("dropout")
            if not (0 <= value < 1 if dropout else 0 <= value < float("inf")):
                raise UsageError(name, str(value), "from 0 to less than 1" if dropout else "at least 0")


@dataclass(frozen=True, slots=True)
class OnLstmSettings:
    """All settings of an ON-LSTM. The defaults are those of the published command for the Penn Treebank.

    Arguments:
        size: the size of the model.
        regularisation: dropout and terms of the loss.
        words: the settings for turning text into words.
        steps: the division of the words into training steps; the number of words varies around `window`.
        loop: the settings of the training loop.
    """

    size: OnLstmSize = part(MODEL, OnLstmSize())
    regularisation: Regularisation = part(TRAINING, Regularisation())
    words: Words = part(MODEL, Words())
    steps: Steps = part(MODEL, Steps(20, 70))
    loop: Settings = part(TRAINING, Settings(epochs=500, optimiser="asgd", lr=30.0, schedule="constant", decay=1.2e-6))


def weights(settings: OnLstmSettings, words: int) -> float:
    """Return the number of weights that each word is multiplied by, in a model trained on `words` words.

    >>> round(weights(OnLstmSettings(), 1_000_000))
    30799500
    """
    size = settings.size
    widths = [size.embedding, *[size.hidden] * (size.layers - 1), size.embedding]
    inner = sum((2 * width // size.chunk + 4 * width) * (inputs + width) for inputs, width in pairwise(widths))
    return float(inner + known_words(words, settings.words.threshold) * size.embedding)


def _duration(settings: OnLstmSettings, work: Work) -> tuple[float, float]:
    # Each word of a column is a step of its own in each layer.
    step = settings.steps.batch / settings.size.layers
    return by_gradients(weights(settings, work.words), TREEBANK_WORDS, settings.loop.epochs, step, work)


ONLSTM = Trainable(
    name="onlstm",
    summary="a word-level ON-LSTM",
    settings=OnLstmSettings(),
    module="syntagm.training.onlstm.train",
    note="The defaults are those of Shen et al. 2019 for the Penn Treebank.",
    controlled=Controlled(_duration),
)
