"""The settings of a GPT-2: its size, how text becomes tokens and rows, what it begins with, how it trains."""

from dataclasses import dataclass
from typing import Literal

from syntagm.errors import UsageError
from syntagm.training.options import MODEL, TRAINING, option, part, refuse_small
from syntagm.training.settings import Settings
from syntagm.training.transformers.size import Size, refuse_long_rows


@dataclass(frozen=True, slots=True)
class Text:
    """How text becomes tokens and rows.

    Arguments:
        units: `bpe`, or `words`: what stands between blanks and punctuation marks, those seen less than twice unknown.
        vocabulary: how many entries (bpe).
        tokenizer: the folder or name of a tokenizer to take as it is, instead of training one.
        window: tokens a row.
        batch: rows a step.
        lines: cloze lines a step.
    """

    units: Literal["bpe", "words"] = option("what tokens are", "bpe")
    vocabulary: int = option("entries of the BPE vocabulary", 50_257)
    tokenizer: str = option("take this tokenizer, a folder or a name on the hub", "")
    window: int = option("tokens a row in training", 128)
    batch: int = option("sequences a step", 32)
    lines: int = option("cloze lines a step", 256)

    def __post_init__(self) -> None:
        refuse_small(self, "window", "batch", "lines")


@dataclass(frozen=True, slots=True)
class Gpt2Settings:
    """All settings of a GPT-2.

    Arguments:
        size: of the model.
        text: how text becomes tokens and rows.
        loop: how it trains.
        cloze: corpora of lines of whose words only the last is learnt.
        init_from: the folder or name of a checkpoint of this size to begin with, instead of with random weights; its tokenizer is
            taken, too.
        save_dtype: the type in which weights are stored.
    """

    size: Size = part(MODEL, Size())
    text: Text = part(MODEL, Text())
    loop: Settings = part(
        TRAINING,
        Settings(epochs=40, optimiser="adamw", lr=6e-4, schedule="cosine", warmup=200, decay=0.1, clip=1.0, patience=2),
    )
    cloze: tuple[str, ...] = option(
        "further lines, of whose words only the last is learnt", (), metavar="FILE", group=MODEL
    )
    init_from: str = option("begin with this checkpoint of the same size", "", metavar="MODEL", group=MODEL)
    save_dtype: Literal["f32", "f16"] = option("the type of the stored weights", "f32", group=MODEL)

    def __post_init__(self) -> None:
        refuse_long_rows(self.text.window, self.size)
        if self.init_from and self.text.tokenizer:
            cure = "A checkpoint goes with its own tokenizer."
            raise UsageError("tokenizer", self.text.tokenizer, "none with init_from", cure)
        if self.text.tokenizer and self.text.units != "bpe":
            cure = "A given tokenizer says what its tokens are."
            raise UsageError("units", self.text.units, "none with tokenizer", cure)
