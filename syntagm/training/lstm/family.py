"""The declaration of the family `lstm`."""

from syntagm.training.duration import TREEBANK_WORDS, Work, by_gradients, seen_twice
from syntagm.training.lstm.settings import LstmSettings
from syntagm.training.trainable import Controlled, Trainable


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
    return float(inner + seen_twice(words) * min(1.0, 2 / max(1, settings.words.threshold)) * size.hidden)


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
