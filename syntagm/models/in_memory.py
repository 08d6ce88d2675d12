"""A transformers model in memory as a language model of this package."""

from typing import Any

from syntagm.errors import UsageError
from syntagm.models.contract import LanguageModel


def from_transformers(model: Any, tokenizer: Any, *, name: str, masked: bool = False, **options: str) -> LanguageModel:
    """Take a transformers model and its tokenizer, for example inside a training loop.

    Arguments:
        model: in evaluation mode. It is used where and as it is; call this again after a training step.
        tokenizer: a fast one.
        name: what to call the model in results.
        masked: is it a masked language model? Otherwise it is a causal one.
        options: those of the family `causal` or `masked` that are not about loading, such as `bos="no"`.

    Raises:
        UsageError: an option can't be taken, or the model is in training mode.
        ModelError: the model can't be asked exactly.

    >>> from transformers import GPT2Config, GPT2LMHeadModel
    >>> from syntagm.models.names import load
    >>> demo = load("demo")  # any model and its tokenizer do
    >>> from_transformers(demo.module, demo.tokenizer, name="mine", bos="no").name
    'causal:mine?bos=no'
    """
    if isinstance(model, str):
        cure = "A model that has to be loaded: syntagm.load_model(name)."
        raise UsageError("from_transformers", repr(model), "a transformers model in memory", cure)
    if masked:
        from syntagm.models.masked.model import from_transformers as of_masked

        return of_masked(model, tokenizer, name, **options)
    from syntagm.models.causal.model import from_transformers as of_causal

    return of_causal(model, tokenizer, name, **options)
