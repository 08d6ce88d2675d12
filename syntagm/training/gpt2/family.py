"""The declaration of the families `gpt2` and `gpt2-words`."""

from dataclasses import dataclass, replace
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
from syntagm.training.trainable import TREEBANK_WORDS, Controlled, Trainable, Work, by_gradients, known_words


@dataclass(frozen=True, slots=True)
class Gpt2Text:
    """The settings for turning text into tokens and rows.

    Arguments:
        units: `bpe`, or `words` for words and punctuation marks, of which those seen less than twice are unknown.
        vocabulary: the number of entries (bpe).
        tokenizer: the folder or name of an existing tokenizer; "" to train one on the text.
        window: tokens per row.
        batch: rows per step.
        lines: cloze lines per step.
    """

    units: Literal["bpe", "words"] = option("unit of tokenization", "bpe")
    vocabulary: int = option("entries of the BPE vocabulary", 50_257)
    tokenizer: str = option("use this tokenizer: a folder or a name on the hub", "")
    window: int = option("tokens per row in training", 128)
    batch: int = option("sequences per step", 32)
    lines: int = option("cloze lines per step", 256)

    def __post_init__(self) -> None:
        refuse_small(self, "window", "batch", "lines")


@dataclass(frozen=True, slots=True)
class Gpt2Settings:
    """All settings of a GPT-2.

    Arguments:
        size: the size of the model.
        text: the settings for turning text into tokens and rows.
        loop: the settings of the training loop.
        cloze: files of cloze lines; only the last word of each line is a target.
        init_from: the folder or name of a checkpoint of the same size to start from; its tokenizer is used as well. ""
            for random weights.
        save_dtype: the dtype of the saved weights.
    """

    size: TransformerSize = part(MODEL, TransformerSize())
    text: Gpt2Text = part(MODEL, Gpt2Text())
    loop: Settings = part(
        TRAINING,
        Settings(
            epochs=40,
            optimiser="adamw",
            lr=6e-4,
            schedule="cosine",
            warmup=Default(200),
            decay=0.1,
            clip=1.0,
            patience=2,
        ),
    )
    cloze: tuple[str, ...] = option(
        "cloze lines: of each, only the last word is a target", (), metavar="FILE", group=MODEL
    )
    init_from: str = option("start from this checkpoint of the same size", "", metavar="MODEL", group=MODEL)
    save_dtype: Literal["f32", "f16"] = option("dtype of the saved weights", "f32", group=MODEL)

    def __post_init__(self) -> None:
        refuse_long_rows(self.text.window, self.size)
        if self.init_from and self.text.tokenizer:
            cure = "A checkpoint has its own tokenizer."
            raise UsageError("tokenizer", self.text.tokenizer, "no tokenizer together with init_from", cure)
        if self.text.tokenizer and self.text.units != "bpe":
            cure = "An existing tokenizer fixes the units."
            raise UsageError("units", self.text.units, "no units together with tokenizer", cure)


# BPE tokens per whitespace-separated word.
BYTE_PAIRS = 1.4


def weights(settings: Gpt2Settings, words: int) -> float:
    """Return the number of weights that each token is multiplied by, in a model trained on `words` words.

    >>> round(weights(Gpt2Settings(), 1_000_000))
    123532032
    """
    size, text = settings.size, settings.text
    entries = text.vocabulary if text.units == "bpe" else known_words(words)
    return float(12 * size.layers * size.width**2 + entries * size.width)


def _duration(settings: Gpt2Settings, work: Work) -> tuple[float, float]:
    text = settings.text
    tokens = BYTE_PAIRS if text.units == "bpe" else TREEBANK_WORDS
    return by_gradients(weights(settings, work.words), tokens, settings.loop.epochs, text.batch * text.window, work)


GPT2 = Trainable(
    name="gpt2",
    summary="GPT-2 from scratch, over BPE or over words",
    settings=Gpt2Settings(),
    module="syntagm.training.gpt2.train",
    controlled=Controlled(_duration),
)
# Section 4.5 of Hu et al. 2020.
GPT2_WORDS = replace(GPT2, name="gpt2-words", summary="GPT-2 from scratch, over words", variant_of="gpt2")
