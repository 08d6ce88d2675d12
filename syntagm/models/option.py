"""Options of model families: names, values, defaults, and what they affect.

A family declares each of its options once, as a record. Parsing of model names, canonical names, scoring settings in
signatures and fingerprints, help, documentation tables, methods paragraphs and citations all derive from these records.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from syntagm.core import Setting, Text, settings
from syntagm.models.contract import QUERIES, Query, Sees

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
