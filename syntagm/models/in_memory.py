"""Language models created from transformers models in memory: finished ones, and ones that are being trained."""

import contextlib
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from syntagm.core import OptionValue, UsageError, public, spelled
from syntagm.models import families
from syntagm.models.contract import LanguageModel

_COMPILED = "_compiled_call_impl"


class TransformersModel(Protocol):
    """A transformers model in memory; of a wrapped one, its `module`. To load a model by name, call syntagm.load_model(name)."""

    config: Any
    device: Any
    dtype: Any
    training: bool

    def modules(self) -> Iterable[Any]:
        """Iterate over the modules of the network."""

    def parameters(self) -> Iterable[Any]:
        """Iterate over the weights."""


class FastTokenizer(Protocol):
    """A fast tokenizer of transformers."""

    backend_tokenizer: Any


class OwnModel(Protocol):
    """An object with the method `score`. Its attributes and answers are those of the class in a `python:FILE.py`."""

    def score(self, texts: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        """Return the tokens of each text: where they start, and their surprisals."""


def as_language_model(model: LanguageModel | OwnModel) -> LanguageModel:
    """Return a language model; an object with the method `score` becomes one."""
    if isinstance(model, LanguageModel):
        return model
    from syntagm.models.python.model import of_object

    return of_object(model)


@public
def from_transformers(
    model: TransformersModel, tokenizer: FastTokenizer, *, name: str, masked: bool = False, **options: OptionValue
) -> LanguageModel:
    """Create a language model from a transformers model in memory.

    Arguments:
        model: a transformers model in evaluation mode. It is neither copied nor moved. Call this function again after a
            training step; `Trajectory` does less work at each step. One that `torch.compile` returned is used without
            its compilation. Forward hooks and PEFT adapters are part of it, and must not change afterwards. Its fingerprint
            identifies hooks by what they do to a few tokens: give models with different hooks different names.
        tokenizer: its fast tokenizer.
        name: name of the model in results.
        masked: whether it is a masked language model; otherwise it is a causal one.
        options: options of the family `causal` or `masked` that are not about loading, such as `bos="no"`.

    Raises:
        UsageError: the name or an option is invalid, or the model is in training mode.
        ModelError: the architecture can't be scored exactly.

    >>> from transformers import GPT2Config, GPT2LMHeadModel
    >>> from syntagm.models.names import load
    >>> demo = load("demo")  # stands for any model and its tokenizer
    >>> from_transformers(demo.module, demo.tokenizer, name="mine", bos="no").name
    'causal:mine?bos=no'
    """
    _refuse_name(name)
    texts, model = {key: spelled(value) for key, value in options.items()}, uncompiled(model)
    created: LanguageModel = _family(masked).from_transformers(model, tokenizer, name, **texts)
    return created


class InTraining:
    """A transformers model that is being trained, as a language model at one step after another.

    How the model can be computed exactly is probed at the first of these steps only, and its weights are never hashed.
    The fingerprint depends on the step and on a few numbers of each weight instead, and the record says so.

    Arguments:
        tokenizer: its fast tokenizer.
        name: name of the model in results, to which the step is added.
        masked: whether it is a masked language model.
        options: options of the family `causal` or `masked` that are not about loading.

    Raises:
        UsageError: an option is invalid.
    """

    def __init__(self, tokenizer: Any, *, name: str, masked: bool = False, **options: OptionValue) -> None:
        _refuse_name(name)
        texts = {key: spelled(value) for key, value in options.items()}
        families.find("masked" if masked else "causal").choose(texts, loaded=True)
        self.name, self._tokenizer, self._masked, self._options = name, tokenizer, masked, texts
        self._first: Any = None
        self._place: tuple[object, ...] = ()
        self._settings, self._probed = "", 0

    def at(self, model: Any, step: int) -> LanguageModel:
        """Return the language model at a step. It may be used until the next training step."""
        from syntagm.models.hugging_face.loading import Loaded
        from syntagm.models.hugging_face.weights import described, hash_settings, sample, state_of

        # The architecture doesn't change during training. Another model object, or one with other hooks, is probed again.
        place = (id(model), model.dtype, state_of(model, self._tokenizer))
        known = place == self._place
        if not known:
            self._settings, self._probed = hash_settings(model, self._tokenizer), step
        training = {
            "step": step,
            "identified by": "the step and a few numbers of each weight; the weights are not hashed",
            "sample": sample(model),
            "settings": self._settings,
            "exactness probed at step": self._probed,
            **described(model),
        }
        loaded = Loaded(model, self._tokenizer, f"{self.name}@step{step}", "", (), training)
        if not known:
            family = _family(self._masked)
            self._first = (family.Masked if self._masked else family.Causal)(loaded, self._options)
            self._place = place
        current: Any = object.__new__(type(self._first))
        vars(current).update(vars(self._first))
        current.identify(loaded)
        language_model: LanguageModel = current
        return language_model


def _family(masked: bool) -> Any:
    """Return the module of the family, which loads transformers."""
    return importlib.import_module(f"syntagm.models.{'masked' if masked else 'causal'}.model")


def _refuse_name(name: str) -> None:
    """Refuse a name that is empty or can't be seen, or that looks like one with options."""
    if not name.strip() or not name.isprintable() or "?" in name:
        raise UsageError("the name of a model", repr(name), "printable characters without ?, at least one")


def uncompiled(model: Any) -> Any:
    # A compiled model is compiled again for texts of other lengths, and its operations may round otherwise.
    return getattr(model, "_orig_mod", model)


@contextlib.contextmanager
def as_evaluated(model: Any) -> Iterator[None]:
    """Put a model that is being trained into evaluation mode, and leave it afterwards as it was found."""
    # Evaluation draws no random numbers and computes no gradients, so only modes and the forward method are restored.
    modes = {module: module.training for module in model.modules()}
    # For mixed precision, a trainer replaces the forward method by one that computes in low precision.
    replaced = vars(model).pop("forward", None)
    # What `module.compile()` sets is compiled again for texts of other lengths, and does not see hooks.
    compiled = {module: vars(module).pop(_COMPILED) for module in modes if _COMPILED in vars(module)}
    model.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
        for module, call in compiled.items():
            setattr(module, _COMPILED, call)
        if replaced is not None:
            model.forward = replaced
