"""The declaration of the family `multitask`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.corpora import trees
from syntagm.training.lstm.family import LstmSettings, Size, Steps, weights
from syntagm.training.settings import MODEL, TRAINING, Settings, Words, option, part
from syntagm.training.trainable import TREEBANK_WORDS, Controlled, Trainable, Work, by_gradients


@dataclass(frozen=True, slots=True)
class Tagging:
    """The second task.

    Arguments:
        tags: the tagged training text; empty if the corpus consists of trees, which then are the tagged text.
        valid_tags: the tagged held-out text; empty if the held-out text consists of trees.
        head: the output layer of tags; see `models.multitask.model`.
        mixing: `equal`: each step has a window of both texts, and adds their losses; `size`: each step has a window of one
            of them, in random order, so that the longer text counts more.
        tag_weight: the factor of the tagging loss.
    """

    tags: str = option("tagged training text: word|tag, word<TAB>tag, .auto or trees (the trees of the corpus)", "")
    valid_tags: str = option("tagged held-out text (the held-out trees)", "")
    head: Literal["linear", "shared"] = option(
        "output layer of tags: one of their own, or that of the words as in the published program", "linear"
    )
    mixing: Literal["equal", "size"] = option(
        "equal: both losses in each step; size: one text per step, the longer one more often", "equal"
    )
    tag_weight: float = option("factor of the tagging loss", 1.0)

    def __post_init__(self) -> None:
        if not 0 < self.tag_weight < float("inf"):
            raise UsageError("tag_weight", str(self.tag_weight), "more than 0")


_LSTM = LstmSettings()


@dataclass(frozen=True, slots=True)
class MultitaskSettings:
    """All settings of an LSTM with a second task.

    Arguments:
        size: the size of the model.
        tagging: the second task.
        words: the settings for turning text into words; tagged words are used as they are.
        steps: the division of both texts into training steps.
        loop: the settings of the training loop.
    """

    size: Size = part(MODEL, Size())
    tagging: Tagging = part(MODEL, Tagging())
    words: Words = part(MODEL, Words())
    steps: Steps = part(MODEL, Steps())
    loop: Settings = part(TRAINING, _LSTM.loop)


def tagged_files(tagging: Tagging, corpus: Sequence[str], valid: Sequence[str]) -> tuple[list[str], list[str]]:
    return _files(tagging.tags, corpus, "tags"), _files(tagging.valid_tags, valid, "valid-tags")


def _files(given: str, texts: Sequence[str], option: str) -> list[str]:
    if given:
        return [given]
    if other := [path for path in map(str, texts) if not path.removesuffix(".gz").endswith(trees.SUFFIXES)]:
        expected = "a tagged text: word|tag, word<TAB>tag, .auto or trees"
        cure = f"Use --{option} FILE (in an experiment: --set multitask.{option.replace('-', '_')}=FILE)."
        raise UsageError(option, f"none given, and {other[0]} has no trees", expected, cure)
    return list(map(str, texts))


def _check_texts(settings: MultitaskSettings, corpus: Sequence[str], valid: Sequence[str]) -> None:
    tagged_files(settings.tagging, corpus, valid)


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
