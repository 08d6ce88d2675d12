"""What a model family declares of itself, without loading anything heavy."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from syntagm.errors import UsageError
from syntagm.models.contract import LanguageModel, Sees
from syntagm.models.option import Fixed, Option, Value


@dataclass(frozen=True, slots=True)
class Program:
    """A program that computes the numbers of a family.

    Arguments:
        key: under which a model's record has its version.
        name: as a methods paragraph calls it.
        references: keys of the bibliography.
    """

    key: str
    name: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a family scores a text, as a methods paragraph says it.

    Arguments:
        words: a sentence without its full stop; `{masking}` stands for what the values of the setting `masking` are called.
        references: keys of the bibliography.
        settings: which settings the words name so.
    """

    words: str
    references: tuple[str, ...]
    settings: tuple[str, ...] = ()


SURPRISAL = Scoring(
    "The surprisal of a token is the negative binary logarithm of its probability after what stands before it",
    ("hale-2001-probabilistic", "levy-2008-expectation"),
)


@dataclass(frozen=True, slots=True)
class Family:
    """A model family.

    Arguments:
        name: what stands before the colon in a model's name.
        summary: what models it has, in one line.
        module: the module whose `load(path, **options)` makes a model; imported when one is loaded.
        settings: its options, and the scoring settings that can't be chosen, in the order of signatures.
        sees: what a token's surprisal depends on; `recorded` models say it one by one.
        exact: is the surprisal that of the model's own distribution?
        scoring: how a text is scored.
        references: keys of the bibliography, of what every model of the family rests on.
        architectures: what `architecture` in a model's record is called -> keys of the bibliography.
        programs: what computes the numbers.
        bundled: plain names of models in this package -> their paths.
    """

    name: str
    summary: str
    module: str
    settings: tuple[Option | Fixed, ...] = ()
    sees: Sees = "left"
    exact: bool = True
    scoring: Scoring = SURPRISAL
    references: tuple[str, ...] = ()
    architectures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    programs: tuple[Program, ...] = ()
    bundled: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Option]:
        """The options by name."""
        return {one.name: one for one in self.settings if isinstance(one, Option)}

    @property
    def permissions(self) -> frozenset[str]:
        """The options that let something be run."""
        return frozenset(name for name, option in self.options.items() if option.effect == "permission")

    @property
    def gaps_only(self) -> frozenset[str]:
        """The options that matter only where a gap is filled."""
        return frozenset(name for name, option in self.options.items() if option.gaps_only)

    def load(self, path: str, given: Mapping[str, str]) -> LanguageModel:
        """Load a model.

        Raises:
            UsageError: an option can't be taken.
            ModelError: the model can't be loaded.
        """
        model: LanguageModel = importlib.import_module(self.module).load(path, **given)
        return model

    def choose(self, given: Mapping[str, str], loaded: bool = False) -> dict[str, str]:
        """Return the value of each option that was given or has a default.

        Arguments:
            loaded: is the model in memory already? Then it can't be given options about loading.

        Raises:
            UsageError: there is no such option, or it can't be that. A misspelt one must not change a number unseen.
        """
        known = {name: option for name, option in self.options.items() if not (loaded and option.loading)}
        if others := sorted(given.keys() - known.keys()):
            place = f"model family {self.name}" + (", around a live model" if loaded else "")
            expected = "one of " + ", ".join(sorted(known)) if known else "none: the family has no options"
            cure = f"`syntagm models {self.name}` says what they mean."
            raise UsageError(place, f"no such option: {others[0]!r}", expected, cure)
        for name, text in given.items():
            known[name].check(text)
        return {name: option.default for name, option in known.items() if option.default} | dict(given)

    def canonical(self, label: str, given: Mapping[str, str]) -> str:
        """Return the name as it stands in results: options sorted, less those that say only where or how fast to compute."""
        shown = {
            name: given.get(name, option.default)
            for name, option in sorted(self.options.items())
            if option.in_name and (name in given or option.always_named)
        }
        query = "&".join(f"{name}={value}" for name, value in shown.items())
        return f"{self.name}:{label}" + (f"?{query}" if query else "")

    def scoring_settings(self, chosen: Mapping[str, str], **resolved: str | None) -> dict[str, str]:
        """Return the scoring settings in the order of signatures.

        Arguments:
            chosen: options, as `choose` returns them.
            resolved: what became of some with this model; None for those that this model doesn't have.
        """
        found: dict[str, str | None] = {}
        for one in self.settings:
            if isinstance(one, Fixed):
                found[one.name] = one.value.name
            elif one.effect == "scoring":
                found[one.name] = resolved[one.name] if one.name in resolved else chosen[one.name]
        return {name: value for name, value in found.items() if value is not None}

    def known(self, setting: str, value: str) -> Value | None:
        """Return what is said of a value of a scoring setting, if anything."""
        for one in self.settings:
            if one.name == setting:
                return one.value if isinstance(one, Fixed) else one.values.known(value)
        return None

    def words(self, setting: str, value: str) -> str:
        """Return what a methods paragraph calls a value of a scoring setting."""
        known = self.known(setting, value)
        return known.words if known and known.words else value

    def cites(self, record: Mapping[str, object]) -> list[str]:
        """Return the keys of what a model rests on: its family, its architecture, the programs that computed it.

        Arguments:
            record: the model's.
        """
        keys = [*self.references, *self.architectures.get(str(record.get("architecture", "")), ())]
        return keys + [key for program in self.programs if program.key in record for key in program.references]
