"""The list of trainable model families. To add a family, add a folder to this package and an entry to `FAMILIES`."""

from typing import Any

from syntagm.core import UsageError
from syntagm.training.gpt2.family import GPT2, GPT2_WORDS
from syntagm.training.lstm.family import LSTM
from syntagm.training.masked.family import MASKED
from syntagm.training.multitask.family import MULTITASK
from syntagm.training.ngram.family import NGRAM
from syntagm.training.onlstm.family import ONLSTM
from syntagm.training.rnng.family import RNNG
from syntagm.training.trainable import Trainable

FAMILIES: tuple[Trainable[Any], ...] = (NGRAM, LSTM, ONLSTM, MULTITASK, GPT2, GPT2_WORDS, MASKED, RNNG)


def find(name: str) -> Trainable[Any]:
    """Find a family by its name.

    >>> find("lstm").summary
    'a word-level LSTM'
    """
    for family in FAMILIES:
        if family.name == name:
            return family
    raise UsageError("family", repr(name), "one of " + ", ".join(family.name for family in FAMILIES))


def kin(name: str) -> tuple[str, ...]:
    """Return the names of a family and of its variants.

    >>> kin("gpt2")
    ('gpt2', 'gpt2-words')
    """
    return tuple(family.name for family in FAMILIES if name in (family.name, family.variant_of))
