"""The settings of an LSTM with a second task: those of an LSTM, and the tagged text."""

from dataclasses import dataclass
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.lstm.settings import LstmSettings, Size, Steps
from syntagm.training.options import MODEL, TRAINING, option, part
from syntagm.training.settings import Settings
from syntagm.training.words import Words


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
