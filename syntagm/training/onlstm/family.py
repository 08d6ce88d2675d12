"""The declaration of the family `onlstm`."""

from itertools import pairwise

from syntagm.training.duration import TREEBANK_WORDS, Work, by_gradients, seen_twice
from syntagm.training.onlstm.settings import OnLstmSettings
from syntagm.training.trainable import Controlled, Trainable

# Shen et al. 2019; words as for the other families of Hu et al. 2020.
_PAPER = {
    "embedding": 400, "hidden": 1150, "layers": 3, "chunk": 10, "dropout": 0.45, "dropout_layers": 0.3,
    "dropout_input": 0.5, "dropout_words": 0.1, "dropout_recurrent": 0.45, "tokens": "treebank", "threshold": 2,
    "classes": "berkeley", "batch": 20, "window": 70, "epochs": 500, "reading": 0, "optimiser": "asgd", "lr": 30.0,
    "schedule": "constant", "clip": 0.25, "patience": 0, "dtype": "f32",
}  # fmt: skip
# The vocabulary is that of the other families of this scale.
_SMALL = {
    "embedding": 160, "hidden": 200, "threshold": 5, "dropout": 0.2, "dropout_layers": 0.1, "dropout_input": 0.2,
    "dropout_words": 0.0, "dropout_recurrent": 0.2, "window": 35, "epochs": 40, "reading": 4_000_000, "patience": 6,
}  # fmt: skip


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
    controlled=Controlled({"paper": _PAPER, "small": {**_PAPER, **_SMALL}}, _duration),
)
