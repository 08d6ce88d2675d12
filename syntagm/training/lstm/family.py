"""The declaration of the family `lstm`."""

from syntagm.training.duration import TREEBANK_WORDS, Work, by_gradients, seen_twice
from syntagm.training.lstm.settings import LstmSettings
from syntagm.training.trainable import Controlled, Trainable

# Hu et al. 2020.
_PAPER = {
    "embedding": 256, "hidden": 256, "layers": 2, "dropout": 0.3, "tied": False,
    "tokens": "treebank", "threshold": 2, "classes": "berkeley", "batch": 20, "window": 35,
    "epochs": 40, "reading": 0, "optimiser": "sgd", "lr": 20.0, "schedule": "plateau", "clip": 0.25, "patience": 0,
    "dtype": "f32",
}  # fmt: skip
# The threshold gives the same vocabulary as that of the n-gram model of this scale.
_SMALL = {"embedding": 128, "hidden": 128, "dropout": 0.2, "tied": True, "threshold": 5}
_SHORT = {"reading": 4_000_000, "patience": 2}


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
    controlled=Controlled({"paper": _PAPER, "small": {**_PAPER, **_SMALL, **_SHORT}}, _duration, default=True),
)
