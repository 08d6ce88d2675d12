"""The declaration of the family `masked`."""

from dataclasses import dataclass
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.settings import (
    MODEL,
    TRAINING,
    Default,
    Settings,
    TransformerSize,
    option,
    part,
    refuse_long_rows,
    refuse_small,
)
from syntagm.training.trainable import Trainable


@dataclass(frozen=True, slots=True)
class MaskedText:
    """The settings for turning text into tokens and rows.

    Arguments:
        vocabulary: the number of entries.
        lower: whether to convert to lower case and remove accents, as BERT uncased does.
        mask_prob: the probability that a token of a row is chosen for prediction.
        window: the length of the longest row, with its two symbols; longer sentences become several rows.
        batch: rows per step.
    """

    vocabulary: int = option("entries of the WordPiece vocabulary", 30_522)
    lower: bool = option("convert to lower case and remove accents, as BERT uncased does", False)
    mask_prob: float = option("probability that a token is masked", 0.15, metavar="P")
    window: int = option("longest row in training", 128)
    batch: int = option("sequences per step", 64)

    def __post_init__(self) -> None:
        refuse_small(self, "vocabulary", "batch")
        if self.window < 3:
            raise UsageError("window", str(self.window), "at least 3: a token and two symbols")
        if not 0 < self.mask_prob < 1:
            raise UsageError("mask_prob", str(self.mask_prob), "between 0 and 1")


@dataclass(frozen=True, slots=True)
class MaskedSettings:
    """All settings of a BERT.

    Arguments:
        size: the size of the model.
        text: the settings for turning text into tokens and rows.
        loop: the settings of the training loop.
        save_dtype: the dtype of the saved weights.
    """

    size: TransformerSize = part(MODEL, TransformerSize(layers=4, width=512, heads=8, positions=512))
    text: MaskedText = part(MODEL, MaskedText())
    loop: Settings = part(
        TRAINING,
        Settings(
            epochs=40,
            optimiser="adamw",
            lr=5e-4,
            schedule="cosine",
            warmup=Default(1000),
            decay=0.01,
            clip=1.0,
            patience=2,
        ),
    )
    save_dtype: Literal["f32", "f16"] = option("dtype of the saved weights", "f32", group=MODEL)

    def __post_init__(self) -> None:
        refuse_long_rows(self.text.window, self.size)


# The family takes no part in controlled experiments: pseudo-perplexities can't be compared with perplexities.
MASKED = Trainable(
    name="masked",
    summary="a BERT from scratch, over WordPiece",
    settings=MaskedSettings(),
    module="syntagm.training.masked.train",
)
