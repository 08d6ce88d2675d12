"""The declaration of the family `onlstm`."""

from itertools import pairwise

from syntagm.training.duration import TREEBANK_WORDS, Work, by_gradients, seen_twice
from syntagm.training.onlstm.settings import OnLstmSettings
from syntagm.training.trainable import Controlled, Trainable


def weights(settings: OnLstmSettings, words: int) -> float:
    """Return the number of weights that each word is multiplied by, in a model trained on `words` words.

    >>> round(weights(OnLstmSettings(), 1_000_000))
    30799500
    """
    size = settings.size
    widths = [size.embedding, *[size.hidden] * (size.layers - 1), size.embedding]
    inner = sum((2 * width // size.chunk + 4 * width) * (inputs + width) for inputs, width in pairwise(widths))
    return float(inner + seen_twice(words) * min(1.0, 2 / max(1, settings.words.threshold)) * size.embedding)


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
