"""The settings of a GPT-2: size, tokenizer and rows, initial weights, and training loop."""

from dataclasses import dataclass
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.options import MODEL, TRAINING, option, part, refuse_small
from syntagm.training.settings import Default, Settings
from syntagm.training.transformers.size import Size, refuse_long_rows


@dataclass(frozen=True, slots=True)
class Text:
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
        save_dtype: the ddtype of the saved weights.
    """

    size: Size = part(MODEL, Size())
    text: Text = part(MODEL, Text())
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
