"""The declaration of the families `gpt2` and `gpt2-words`."""

from dataclasses import replace

from syntagm.training.duration import TREEBANK_WORDS, Work, by_gradients, seen_twice
from syntagm.training.gpt2.settings import Gpt2Settings
from syntagm.training.trainable import Controlled, Trainable

# BPE tokens per whitespace-separated word.
BYTE_PAIRS = 1.4


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
    controlled=Controlled(_duration),
)
# Section 4.5 of Hu et al. 2020.
GPT2_WORDS = replace(GPT2, name="gpt2-words", summary="GPT-2 from scratch, over words", variant_of="gpt2")
