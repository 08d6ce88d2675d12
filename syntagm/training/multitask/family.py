"""The declaration of the family `multitask`."""

from collections.abc import Sequence

from syntagm.training.duration import TREEBANK_WORDS, Work, by_gradients
from syntagm.training.lstm.family import weights
from syntagm.training.lstm.settings import LstmSettings
from syntagm.training.multitask.settings import MultitaskSettings
from syntagm.training.trainable import Controlled, Trainable


def _check_texts(settings: MultitaskSettings, corpus: Sequence[str], valid: Sequence[str]) -> None:
    from syntagm.training.multitask import tagged

    tagged.files(settings.tagging, corpus, valid)


def _duration(settings: MultitaskSettings, work: Work) -> tuple[float, float]:
    # Each step also has a window of the tagged text, without an output layer of the size of the vocabulary.
    both = weights(LstmSettings(settings.size, settings.words), work.words) + weights(LstmSettings(settings.size), 0)
    step = settings.steps.batch * settings.steps.window
    return by_gradients(both, TREEBANK_WORDS, settings.loop.epochs, step, work)


MULTITASK = Trainable(
    name="multitask",
    summary="a word-level LSTM that also learns to tag words, such as with CCG supertags",
    settings=MultitaskSettings(),
    module="syntagm.training.multitask.train",
    note="Without --tags and --valid-tags, FILE must be trees; their words get simplified CCG categories. "
    "Marvin and Linzen 2018: --embedding 200 --hidden 650 --dropout 0.2 --batch 128",
    controlled=Controlled(_duration, check_texts=_check_texts),
)
