"""Declarations of model families. Importing them loads no heavy libraries."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from syntagm.core import NONE, Permissions, Setting, Text, UsageError, bibliography, settings
from syntagm.models.contract import QUERIES, LanguageModel, Query, Sees

# A family declares each of its options once, as a record. Parsing of model names, canonical names, scoring settings in
# signatures and fingerprints, help, documentation tables, methods paragraphs and citations all derive from these
# records.

# What an option affects. `scoring`: the numbers; it is part of the canonical name and of signatures. `source`: which numbers
# are read; it is part of the canonical name only. `trees`: the trees of `parse`, but no numbers. `speed`: where or how fast
# numbers are computed.
Effect = Literal["scoring", "source", "trees", "speed"]


@dataclass(frozen=True, slots=True)
class Value(settings.Value):
    """A value of an option.

    Arguments:
        name, help: as for `settings.Value`.
        words: its name in a methods paragraph; empty if that is `name`.
        references: keys of the bibliography to cite for it.
        sees: what a model with this value sees, if the value decides it.
        can: what a model with this value can do, if that is less than other models of the family can.
    """

    words: str = ""
    references: tuple[str, ...] = ()
    sees: Sees | None = None
    can: tuple[Query, ...] | None = None

    def meaning(self) -> str:
        """Return the help, with what the models can still do if that is less."""
        if not self.can:
            return self.help
        *others, last = [QUERIES[query] for query in self.can]
        listed = f"{', '.join(others)} and {last}" if others else last
        return f"{self.help} (such a model can only {listed})"


@dataclass(frozen=True)
class Choice(settings.Choice):
    """A choice between several values."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Option(Setting):
    """An option of a model family: a setting, and what it affects. Its value is text for the model, in its canonical form.

    Arguments:
        name, values, default, help: as for `Setting`; the default is empty if it depends on the model or the machine.
        effect: what it affects.
        depends: description of a default that depends on the model or the machine.
        loading: whether it is about loading weights, and so is invalid for a model already in memory.
        always_named: whether it is part of the canonical name even if it was not given.
        gaps_only: whether it only affects filled gaps.
        texts_only: whether it only affects scored texts.
    """

    effect: Effect = "scoring"
    depends: str = ""
    loading: bool = False
    always_named: bool = False
    gaps_only: bool = False
    texts_only: bool = False

    @property
    def in_name(self) -> bool:
        """Whether the option is part of the canonical name."""
        return self.effect in ("scoring", "source")

    def checked(self, text: str) -> str:
        """Return the canonical form of a value of the option.

        Raises:
            UsageError: the value is invalid.
        """
        self.values.read(f"model option {self.name}", text)
        return self.values.canonical(text)

    @property
    def declared(self) -> tuple[Value, ...]:
        """The declarations of the values, if it is a choice."""
        return self.values.values if isinstance(self.values, Choice) else ()

    def known(self, name: str) -> Value | None:
        """Return the declaration of a value, if there is one."""
        return next((value for value in self.declared if value.name == name), None)

    def meaning(self) -> str:
        """Return the help of the option and of its values, in Markdown."""
        meanings = (f"`{value.name}`: {value.meaning()}" for value in self.declared if value.help)
        return f"{self.help} {'; '.join(meanings)}".strip()


@dataclass(frozen=True, slots=True)
class Fixed:
    """A scoring setting that is the same for all models of a family. It is part of signatures, but not an option."""

    name: str
    value: Value


def choice(names: Iterable[str]) -> Choice:
    """Return a choice between values that need no separate help.

    >>> choice(["no", "yes"]).shown()
    ('`no`', '`yes`')
    """
    return Choice(tuple(map(Value, names)))


NO_YES, YES_NO = choice(["no", "yes"]), choice(["yes", "no"])
DEVICE = Option(
    "device", Text(("`auto`", "`cpu`", "`cuda`", "`cuda:1`", "...")), "auto",
    "the device to compute on. `auto`: the GPU if there is one, else the CPU", effect="speed", loading=True,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Program:
    """A program that computes the numbers of a family."""

    key: str  # key of its version in a model's record
    name: str  # its name in a methods paragraph
    references: tuple[str, ...] = ()  # keys of the bibliography


@dataclass(frozen=True, slots=True)
class Scoring:
    """The description of a family's scoring in a methods paragraph.

    Arguments:
        words: a sentence without its full stop; `{masking}`, for example, is replaced by the words for the value of the
            setting `masking`.
        references: keys of the bibliography.
        settings: the settings that have such placeholders in `words`.
    """

    words: str
    references: tuple[str, ...]
    settings: tuple[str, ...] = ()


SURPRISAL = Scoring(
    "The surprisal of a token is the negative binary logarithm of its probability given the text before it",
    ("hale-2001-probabilistic", "levy-2008-expectation"),
)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a family says of a model by its name alone. It is a `contract.Described`."""

    # What only a loaded model can tell is missing: an n-gram model in a binary file can do less than its family
    # declares, and a recording or a program says itself what it sees.

    name: str
    sees: Sees  # `sees`, `can`: as for `LanguageModel`
    can: frozenset[Query]
    settings: Mapping[str, str]  # the fixed settings, and the values of the options that were given or have a default


@dataclass(frozen=True, slots=True)
class Family:
    """The declaration of a model family.

    Arguments:
        name: the part of a model's name before the colon.
        summary: one line about the models of this family.
        module: module whose `load(path, **options)` loads a model; it is imported when a model is loaded.
        checks: module whose `check(name, path, chosen)` refuses a model as far as that can be told without weights, for
            example because there is no such file. It loads no heavy libraries. Empty: nothing but options is checked.
        endings: endings of the names of files that are models of this family, with the dot: such a file needs no family in
            its name.
        permissions: the permissions that its models may need, such as `allow_exec`; see `syntagm.core.permissions`. `load` and
            `check` get each of them as a keyword argument, True or False.
        settings: options and fixed scoring settings, in the order in which signatures list them.
        can: what its models can do, or the most that one of them can; a value of an option may decide that it is less.
        sees: the context that a token's surprisal depends on, if no value of an option decides it; each `recorded` model
            has its own value.
        exact: whether surprisals are those of the model's own distribution.
        scoring: how a text is scored.
        filling: how a gap is filled, if `scoring` does not describe it.
        references: keys of the bibliography to cite for every model of the family.
        architectures: value of `architecture` in a model's record -> keys of the bibliography.
        programs: programs that compute the numbers.
        bundled: names of bundled models -> their paths.
        taught: names of bundled models -> a sentence on their training, where scores can't be understood without it.
        bibliography: BibTeX entries of the works that a family of another package cites and `references.bib` lacks.
    """

    name: str
    summary: str
    module: str
    checks: str = ""
    endings: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    settings: tuple[Option | Fixed, ...] = ()
    can: tuple[Query, ...] = ("score",)
    sees: Sees = "left"
    exact: bool = True
    scoring: Scoring = SURPRISAL
    filling: Scoring | None = None
    references: tuple[str, ...] = ()
    architectures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    programs: tuple[Program, ...] = ()
    bundled: Mapping[str, str] = field(default_factory=dict)
    taught: Mapping[str, str] = field(default_factory=dict)
    bibliography: str = ""

    @property
    def options(self) -> dict[str, Option]:
        """The options by name."""
        return {setting.name: setting for setting in self.settings if isinstance(setting, Option)}

    @property
    def gaps_only(self) -> frozenset[str]:
        """The options that only affect filled gaps."""
        return frozenset(name for name, option in self.options.items() if option.gaps_only)

    @property
    def texts_only(self) -> frozenset[str]:
        """The options that only affect scored texts."""
        return frozenset(name for name, option in self.options.items() if option.texts_only)

    def declared(self, name: str, given: Mapping[str, str]) -> Declared:
        """Return what is known of a model before it is loaded.

        Arguments:
            name: the name of the model, for messages.
            given: options that the user gave.

        Raises:
            UsageError: an option is invalid.
        """
        chosen = self.choose(given)
        fixed = {setting.name: setting.value.name for setting in self.settings if isinstance(setting, Fixed)}
        return Declared(name, self.seen(chosen), self.able(chosen), fixed | chosen)

    def seen(self, chosen: Mapping[str, str]) -> Sees:
        """Return what a model with these option values sees; see `sees`."""
        return next((value.sees for value in self._values(chosen) if value.sees), self.sees)

    def able(self, chosen: Mapping[str, str]) -> frozenset[Query]:
        """Return what a model with these option values can do; see `can`."""
        return frozenset(self.can).intersection(*(value.can for value in self._values(chosen) if value.can is not None))

    def _values(self, chosen: Mapping[str, str]) -> Iterator[Value]:
        yield from (value for name, text in chosen.items() if (value := self.known(name, text)))

    def check(self, path: str, given: Mapping[str, str], permissions: Permissions = NONE) -> None:
        """Check all of a model that can be checked without reading its weights.

        Arguments:
            path: the part of the model's name after the colon, without options.
            given: options that the user gave.
            permissions: what the user permits; those that the family doesn't need are not an error, because they may be
                meant for a suite, or for another model.

        Raises:
            UsageError: an option is invalid.
            ModelError: there is no such file or folder, or it may not be read.
        """
        chosen = self.choose(given)
        if self.checks:
            importlib.import_module(self.checks).check(self.name, path, chosen, **permissions.only(self.permissions))

    def load(self, path: str, given: Mapping[str, str], permissions: Permissions = NONE) -> LanguageModel:
        """Check and load a model.

        Arguments:
            path: the part of the model's name after the colon, without options.
            given: options that the user gave.
            permissions: what the user permits, as for `check`.

        Raises:
            UsageError: an option is invalid.
            ModelError: the model can't be loaded.
        """
        self.check(path, given, permissions)
        granted, chosen = permissions.only(self.permissions), self.choose(given)
        canonical = {name: chosen[name] for name in given}
        model: LanguageModel = importlib.import_module(self.module).load(path, **canonical, **granted)
        return model

    def choose(self, given: Mapping[str, str], loaded: bool = False) -> dict[str, str]:
        """Return the value of each option that was given or has a default.

        Arguments:
            given: options that the user gave.
            loaded: whether the model is already in memory, so that options about loading are invalid.

        Raises:
            UsageError: there is no such option, or its value is invalid.
        """
        options = {name: option for name, option in self.options.items() if not (loaded and option.loading)}
        if unknown := sorted(given.keys() - options.keys()):
            place = f"model family {self.name}" + (", for a model in memory" if loaded else "")
            expected = "one of " + ", ".join(sorted(options)) if options else "none: the family has no options"
            cure = f"`syntagm models {self.name}` explains the options."
            raise UsageError(place, f"no such option: {unknown[0]!r}", expected, cure)
        chosen = {name: options[name].checked(text) for name, text in given.items()}
        return {name: option.default for name, option in options.items() if option.default} | chosen

    def canonical(self, label: str, given: Mapping[str, str]) -> str:
        """Return the model's name as in results, with sorted options, and without options that only affect speed.

        Arguments:
            label: name of the model without family and options.
            given: options that the user gave.
        """
        shown = {
            name: option.values.canonical(given.get(name, option.default))
            for name, option in sorted(self.options.items())
            if option.in_name and (name in given or option.always_named)
        }
        query = "&".join(f"{name}={value}" for name, value in shown.items())
        return f"{self.name}:{label}" + (f"?{query}" if query else "")

    def scoring_settings(self, chosen: Mapping[str, str], **resolved: str | None) -> dict[str, str]:
        """Return the scoring settings in the order in which signatures list them.

        Arguments:
            chosen: option values, as returned by `choose`.
            resolved: values that depend on the model, such as that of `bos=auto`; None if the model lacks the setting.
        """
        values: dict[str, str | None] = {}
        for setting in self.settings:
            if isinstance(setting, Fixed):
                values[setting.name] = setting.value.name
            elif setting.effect == "scoring":
                name = setting.name
                values[name] = resolved[name] if name in resolved else chosen[name]
        return {name: value for name, value in values.items() if value is not None}

    def known(self, name: str, value: str) -> Value | None:
        """Return the declaration of a value of a scoring setting, if there is one."""
        for setting in self.settings:
            if setting.name == name:
                return setting.value if isinstance(setting, Fixed) else setting.known(value)
        return None

    def words(self, setting: str, value: str) -> str:
        """Return the words for a value of a scoring setting in a methods paragraph."""
        declared = self.known(setting, value)
        return declared.words if declared and declared.words else value

    @property
    def brought(self) -> dict[str, str]:
        """The entries of `bibliography` by key; UsageError if they can't be read."""
        return bibliography.parsed(self.bibliography, f"model family {self.name}, bibliography")

    def refuse_unknown_works(self) -> None:
        """Refuse a family that cites what is in no bibliography, before `syntagm cite` and reports need the entry.

        Raises:
            UsageError: an entry is missing, or can't be read.
        """
        declared = [one.value for one in self.settings if isinstance(one, Fixed)]
        declared += [value for option in self.options.values() for value in option.declared]
        ways: list[Scoring | Program | Value] = [self.scoring, *filter(None, [self.filling]), *self.programs, *declared]
        keys = [key for way in ways for key in way.references]
        keys += [*self.references, *(key for some in self.architectures.values() for key in some)]
        if unknown := [key for key in keys if key not in self.brought | bibliography.entries()]:
            place, cure = f"model family {self.name}", "Add the entry to the family's `bibliography`, as BibTeX."
            raise UsageError(place, f"cites {unknown[0]!r}", "a key of a bibliography", cure)

    def cites(self, record: Mapping[str, object]) -> list[str]:
        """Return the bibliography keys to cite for a model: those of its family, architecture and programs.

        Arguments:
            record: the model's record.
        """
        keys = [*self.references, *self.architectures.get(str(record.get("architecture", "")), ())]
        return keys + [key for program in self.programs if program.key in record for key in program.references]
