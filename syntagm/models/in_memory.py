"""Language models created from transformers models in memory."""

from typing import Any

from syntagm.errors import UsageError
from syntagm.models.contract import LanguageModel


def from_transformers(model: Any, tokenizer: Any, *, name: str, masked: bool = False, **options: str) -> LanguageModel:
    """Create a language model from a transformers model in memory, for example inside a training loop.

    Arguments:
        model: a transformers model in evaluation mode. It is neither copied nor moved. Call this function again after a
            training step.
        tokenizer: its fast tokenizer.
        name: name of the model in results.
        masked: whether it is a masked language model; otherwise it is a causal one.
        options: options of the family `causal` or `masked` that are not about loading, such as `bos="no"`.

    Raises:
        UsageError: an option is invalid, or the model is in training mode.
        ModelError: the architecture can't be scored exactly.

    >>> from transformers import GPT2Config, GPT2LMHeadModel
    >>> from syntagm.models.names import load
    >>> demo = load("demo")  # stands for any model and its tokenizer
    >>> from_transformers(demo.module, demo.tokenizer, name="mine", bos="no").name
    'causal:mine?bos=no'
    """
    if isinstance(model, str):
        cure = "To load a model by name, call syntagm.load_model(name)."
        raise UsageError("from_transformers", repr(model), "a transformers model in memory", cure)
    if masked:
        from syntagm.models.masked.model import from_transformers as of_masked

        return of_masked(model, tokenizer, name, **options)
    from syntagm.models.causal.model import from_transformers as of_causal

    return of_causal(model, tokenizer, name, **options)
