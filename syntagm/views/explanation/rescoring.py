"""Pairs scored again under other settings of the model, and with other texts, to see which of them another tool had."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from syntagm.core import NONE, ModelError, UsageError
from syntagm.models import Asking, LanguageModel, Option, Surprisals, families, names
from syntagm.runs import Run

# The values of settings that are tried, besides the model's own.
_SETTINGS: Mapping[str, tuple[str, ...]] = {"bos": ("yes", "no"), "eos": ("yes", "no"), "dtype": ("f32", "bf16", "f16")}
_TEXTS: Mapping[str, Callable[[str], str]] = {"a blank before": lambda text: f" {text}", "lower case": str.lower}


@dataclass(frozen=True, slots=True)
class Change:
    """A difference that needs other surprisals: a setting of the model, or another text."""

    setting: str  # the name of a setting; "" for another text
    value: str  # its value, or a key of `_TEXTS`

    def __str__(self) -> str:
        return f"{self.setting}={self.value}" if self.setting else self.value


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to texts under some changes."""

    of: Mapping[str, tuple[str, Surprisals]]  # text -> the text that was scored, and its surprisals
    first_scored: bool  # whether the model had a start-of-text symbol
    tolerance: float  # differences in bits within it are ties


class Rescoring:
    """A model that scores texts again, under changes."""

    def __init__(self, name: str, run: Run, texts: Sequence[str]) -> None:
        self._name, self._texts = name, list(dict.fromkeys(texts))
        model = names.load(name)
        if model.fingerprint != (recorded := run.record["model"]["fingerprint"]):
            found = f"{model.name} ({model.fingerprint[:8]})"
            cure = "Give its options, too, such as bos=no."
            raise UsageError("model", found, f"the model of {run.place}: {run.model} ({recorded[:8]})", cure)
        parsed = names.parse(name)
        own = parsed.options
        known = {option.name: option for option in families.find(parsed.family).settings if isinstance(option, Option)}
        self._own: dict[str, str] = {
            setting: model.settings.get(setting) or own.get(setting) or known[setting].default or _SETTINGS[setting][0]
            for setting in _SETTINGS
            if setting in known
        }
        self._plain = {key: value for key, value in own.items() if key not in self._own}
        self._address = name.partition("?")[0]
        self._loaded: dict[tuple[str, ...], LanguageModel | None] = {}
        self._answers: dict[frozenset[Change], Answers | None] = {}
        self.refused: dict[str, None] = {}

    @property
    def changes(self) -> list[Change]:
        """The changes that can be tried."""
        settings = [
            Change(setting, value) for setting, own in self._own.items() for value in _SETTINGS[setting] if value != own
        ]
        return [*settings, *(Change("", text) for text in _TEXTS)]

    def answers(self, changes: frozenset[Change]) -> Answers | None:
        """Score the texts under some changes; None if the model can't be loaded so, which `refused` says then."""
        if changes not in self._answers:
            self._answers[changes] = self._score(changes)
        return self._answers[changes]

    def _score(self, changes: frozenset[Change]) -> Answers | None:
        if (model := self._model(changes)) is None:
            return None
        changed = dict(zip(self._texts, self._changed(changes), strict=True))
        asked = sorted(set(changed.values()))
        asking = Asking(model)
        found = {answer.text: answer for answer in asking.score(asked)}
        asking.confirm()
        tolerance = max(1e-4, model.numerical_error)
        return Answers(
            {text: (other, found[other]) for text, other in changed.items()}, model.bos is not None, tolerance
        )

    def _changed(self, changes: frozenset[Change]) -> Iterator[str]:
        edits = [edit for name, edit in _TEXTS.items() if Change("", name) in changes]
        for text in self._texts:
            for edit in edits[::-1]:
                text = edit(text)
            yield text

    def _model(self, changes: frozenset[Change]) -> LanguageModel | None:
        """Return the model with the settings of the changes; only the last one is kept."""
        settings = self._own | {change.setting: change.value for change in changes if change.setting}
        key = tuple(settings.values())
        if key not in self._loaded:
            self._loaded = {}
            try:
                self._loaded[key] = names.load_permitted(self._address, NONE, {**self._plain, **settings})
            except (ModelError, UsageError) as error:
                self._loaded[key] = None
                shown = " and ".join(str(change) for change in changes if change.setting)
                self.refused[f"{shown}: {error}"] = None
        return self._loaded[key]
