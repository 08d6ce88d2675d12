"""The models with which sentences are tried: those named at the start, loaded on first use, one at a time."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from syntagm.core import NONE, Permissions, RunError, UsageError, did_you_mean
from syntagm.models import LanguageModel, names, sweeps
from syntagm.runs import Run
from syntagm.runs.evaluate import evaluate
from syntagm.suites import Suite

# The runs of tried sentences that are kept, and the seconds that one waits for another. Only one may wait while another is
# scored, because each has one of the few threads that answer.
KEPT, PATIENCE, WAITING = 64, 20.0, 2
_BUSY = "Another sentence is being scored, or a model is being loaded."


class Bench:
    """Models by their labels."""

    def __init__(self, models: Sequence[str], permissions: Permissions = NONE) -> None:
        self.permissions = permissions
        found = [(text, model) for text in models for model in sweeps.several(text)]
        labels = [sweeps.folder_name(sweeps.label_part(*pair)) for pair in found]
        if len(set(labels)) < len(labels):
            labels = [sweeps.folder_name(model) for _, model in found]
        self.models: Mapping[str, str] = dict(zip(labels, (model for _, model in found), strict=True))
        if len(self.models) < len(labels):
            raise UsageError("--model", "the same model twice", "each model once")
        for model in self.models.values():
            names.check(model, permissions)
        self._loaded: tuple[str, LanguageModel] | None = None
        self._kept: OrderedDict[tuple[str, str], Run] = OrderedDict()
        self._lock, self._places = threading.Lock(), threading.Semaphore(WAITING)

    def find(self, label: str) -> str:
        if label not in self.models:
            known = ", ".join(self.models) or "a model, which `syntagm serve --model NAME` names"
            raise UsageError("model", repr(label[:100]), known, did_you_mean(label, self.models))
        return self.models[label]

    def score(self, label: str, suite: Suite, measures: Sequence[str] = ()) -> Run:
        """Evaluate a model on a small suite in memory."""
        # The representation of a suite that is a dataclass has all of it.
        key = (label, repr((suite.items, suite.predictions, suite.aggregate, tuple(measures))))
        with self._turn():
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            run = evaluate(self._load(label), suite, measures=measures or None)
            run.name = label
            self._kept[key] = run
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return run

    def _load(self, label: str) -> LanguageModel:
        name = self.find(label)
        if self._loaded is None or self._loaded[0] != label:
            self._loaded = None  # its memory is free before the next one is loaded
            model = names.load_permitted(name, self.permissions)
            model.label = label
            self._loaded = (label, model)
        return self._loaded[1]

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise RunError("the models", "busy", "a free one", f"{_BUSY} Try again in a moment.")
        try:
            if not self._lock.acquire(timeout=PATIENCE):
                raise RunError(
                    "the models", f"busy for {PATIENCE:g} seconds", "a free one", f"{_BUSY} Try again later."
                )
            try:
                yield
            finally:
                self._lock.release()
        finally:
            self._places.release()
