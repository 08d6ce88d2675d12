"""What identifies a transformers model: its fingerprint and its record, which contain a hash of its weights."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from syntagm.models.contract import LanguageModel, changed
from syntagm.models.devices import checksum
from syntagm.models.hugging_face.loading import Loaded
from syntagm.models.hugging_face.weights import (
    effect,
    hash_code,
    refuse_other,
    refuse_training,
    sample,
    state_of,
    stored,
)

# How far the logits of a model may be from those that it had, relative to the largest: the number of threads may differ.
_CLOSE, _CLOSE_16_BITS = 1e-3, 5e-2


class Identified(LanguageModel):
    """A model whose weights are hashed when its fingerprint or its record is first asked for."""

    # Scoring a few texts needs neither, and takes less time than hashing.

    _copies = False

    def _identify(
        self, loaded: Loaded, scorer: str, dependencies: Sequence[object], record: Callable[[], Mapping[str, object]]
    ) -> None:
        self._loaded, self._sample = loaded, sample(loaded.model)
        self._state = state_of(loaded.model, loaded.tokenizer)
        self._dependencies, self._described = (scorer, json.dumps(dependencies)), record
        # A model that is being trained is identified anew at each step.
        for name in ("fingerprint", "record", "_weights"):
            self.__dict__.pop(name, None)

    def _add_to_record(self, further: Mapping[str, object]) -> None:
        """Add information to the record, which is not computed for that."""
        described = self._described
        self._described = lambda: {**described(), **further}
        self.__dict__.pop("record", None)

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]  # it can be written, too
        """A hash of everything that the numbers depend on."""
        scorer, dependencies = self._dependencies
        content = [scorer, self._weights or self._loaded.training, *json.loads(dependencies)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @cached_property
    def record(self) -> Mapping[str, object]:  # type: ignore[override]
        """Further information for the record of a run; see `fingerprint` for errors."""
        architecture = self._loaded.model.config.model_type
        return {"architecture": architecture, "weights": self._weights, **self._described()}

    @cached_property
    def _weights(self) -> str:
        """The hash of the weights; empty for a model that is being trained."""
        weights = self._loaded.weights
        if isinstance(weights, str):
            return weights
        self._refuse_change()
        self._confirm()
        return weights()

    def _weights_now(self) -> str:
        model = self._loaded.model
        # Code that comes with a model may store what it pleases as it computes.
        named = stored(model) if hash_code(model) is None else model.named_parameters()
        return checksum(tensor for _, tensor in named)

    def _given_out(self) -> None:
        super()._given_out()
        self._effect = effect(self._loaded.model)

    def _confirm(self) -> None:
        """Verify the weights, and by the logits after some tokens what else the model computes with; see `LanguageModel`."""
        if not self._weights_given:
            return
        self._refuse_change()
        super()._confirm()
        now, before = effect(self._loaded.model), self._effect
        close = _CLOSE_16_BITS if self._loaded.model.dtype.itemsize < 4 else _CLOSE
        if now.shape != before.shape or float((now - before).abs().max()) > close * max(1.0, float(before.abs().max())):
            raise changed(self.name, "other logits than when the model was created", "the same after some tokens")

    def _refuse_change(self) -> None:
        """Refuse a model that has been trained, changed otherwise, or put in training mode since it was created."""
        if sample(self._loaded.model) != self._sample:
            raise changed(self.name)
        refuse_other(self._state, self._loaded.model, self._loaded.tokenizer, self.name)
        refuse_training(self._loaded.model, self.name)
