"""What identifies a transformers model: its fingerprint and its record, which contain a hash of its weights."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from syntagm.models.contract import LanguageModel
from syntagm.models.hugging_face.loading import Loaded
from syntagm.models.hugging_face.weights import refuse_change, sample


class Identified(LanguageModel):
    """A model whose weights are hashed when its fingerprint or its record is first asked for.

    Scoring a few texts needs neither, and takes less time than hashing.
    """

    def _identify(
        self, loaded: Loaded, scorer: str, dependencies: Sequence[object], record: Mapping[str, object]
    ) -> None:
        """Set what the fingerprint and the record depend on.

        Arguments:
            loaded: the model.
            scorer: the version of the computation.
            dependencies: what numbers depend on besides the weights, as JSON has it.
            record: the record without the architecture and the weights.
        """
        self._loaded, self._sample = loaded, sample(loaded.model)
        self._dependencies, self._described = (scorer, json.dumps(dependencies)), dict(record)
        self._fingerprint: str | None = None
        self._record: Mapping[str, object] | None = None
        self._weights: str | None = loaded.weights if isinstance(loaded.weights, str) else None

    @property
    def fingerprint(self) -> str:
        """A hash of everything that the numbers depend on.

        Raises:
            ModelError: the weights have changed since the model was created.
        """
        if self._fingerprint is None:
            scorer, dependencies = self._dependencies
            content = [scorer, self._hash() or self._loaded.training, *json.loads(dependencies)]
            self._fingerprint = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return self._fingerprint

    @fingerprint.setter
    def fingerprint(self, value: str) -> None:
        self._fingerprint = value

    @property
    def record(self) -> Mapping[str, object]:
        """Further information for the record of a run; see `fingerprint` for errors."""
        if self._record is None:
            architecture = self._loaded.model.config.model_type
            self._record = {"architecture": architecture, "weights": self._hash(), **self._described}
        return self._record

    @record.setter
    def record(self, value: Mapping[str, object]) -> None:
        self._record = value

    def _hash(self) -> str:
        """Return the hash of the weights; empty for a model that is being trained."""
        if self._weights is None:
            assert callable(self._loaded.weights)
            refuse_change(self._loaded.model, self._sample, self.name)
            self._weights = self._loaded.weights()
        return self._weights
