"""The declaration of the families `gpt2` and `gpt2-words`."""

from dataclasses import replace

from syntagm.training.duration import TREEBANK_WORDS, Work, by_gradients, seen_twice
from syntagm.training.gpt2.settings import Gpt2Settings
from syntagm.training.settings import Default
from syntagm.training.trainable import Controlled, Trainable

# BPE tokens per whitespace-separated word.
BYTE_PAIRS = 1.4
_PAPER = {
    "layers": 12, "width": 768, "heads": 12, "positions": 1024, "dropout": 0.1,
    "units": "bpe", "vocabulary": 50_257, "tokenizer": "", "window": 1024, "batch": 8,
    "epochs": 40, "reading": 0, "optimiser": "adamw", "lr": 6e-4, "schedule": "cosine", "warmup": Default(200),
    "decay": 0.1, "clip": 1.0, "patience": 2, "dtype": "f32",
}  # fmt: skip
_SMALL = {
    "layers": 4, "width": 128, "heads": 4, "positions": 256, "vocabulary": 4096, "window": 64, "batch": 16, "lr": 2e-3,
}  # fmt: skip
_SHORT = {"reading": 4_000_000, "patience": 2}
_SCALES = {"paper": _PAPER, "small": {**_PAPER, **_SMALL, **_SHORT}}


def weights(settings: Gpt2Settings, words: int) -> float:
    """Return the number of weights that each token is multiplied by, in a model trained on `words` words.

    >>> round(weights(Gpt2Settings(), 1_000_000))
    123532032
    """
    size, text = settings.size, settings.text
    entries = text.vocabulary if text.units == "bpe" else seen_twice(words)
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
    controlled=Controlled(_SCALES, _duration, default=True),
)
# Section 4.5 of Hu et al. 2020.
GPT2_WORDS = replace(
    GPT2,
    name="gpt2-words",
    summary="GPT-2 from scratch, over words",
    controlled=Controlled({scale: {**options, "units": "words"} for scale, options in _SCALES.items()}, _duration),
    variant_of="gpt2",
)
