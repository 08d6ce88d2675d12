"""Options of model families: names, values, defaults, and what they affect.

A family declares each of its options once, as a record. Parsing of model names, canonical names, scoring settings in
signatures and fingerprints, help, documentation tables, methods paragraphs and citations all derive from these records.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from syntagm.errors import UsageError
from syntagm.io.number import LARGEST, whole
from syntagm.models.contract import QUERIES, Query, Sees

# What an option affects. `scoring`: the numbers; it is part of the canonical name and of signatures. `source`: which numbers
# are read; it is part of the canonical name only. `trees`: the trees of `parse`, but no numbers. `speed`: where or how fast
# numbers are computed.
Effect = Literal["scoring", "source", "trees", "speed"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an option.

    Arguments:
        name: the value as written in a model's name.
        help: its meaning, in Markdown; empty if the option's help explains it.
        words: its name in a methods paragraph; empty if that is `name`.
        references: keys of the bibliography to cite for it.
        sees: what a model with this value sees, if the value decides it.
        can: what a model with this value can do, if that is less than other models of the family can.
    """

    name: str
    help: str = ""
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


class Values(ABC):
    """The possible values of an option."""

    @abstractmethod
    def check(self, place: str, text: str) -> None:
        """Check a value.

        Arguments:
            place: the option, for the message.
            text: the value.

        Raises:
            UsageError: the value is invalid.
        """

    @abstractmethod
    def shown(self) -> tuple[str, ...]:
        """Return the values, or a description of them, for help and tables."""

    def known(self, name: str) -> Value | None:
        """Return the declaration of a value, if there is one."""
        return None


@dataclass(frozen=True, slots=True)
class Choice(Values):
    """A choice between several values."""

    values: tuple[Value, ...]

    def check(self, place: str, text: str) -> None:
        """Raise UsageError for any other value."""
        if text not in (names := [value.name for value in self.values]):
            raise UsageError(place, repr(text), "one of " + ", ".join(names))

    def shown(self) -> tuple[str, ...]:
        """Return the names of the values."""
        return tuple(f"`{value.name}`" for value in self.values)

    def known(self, name: str) -> Value | None:
        """Return the declaration of a value."""
        return next((value for value in self.values if value.name == name), None)


@dataclass(frozen=True, slots=True)
class Whole(Values):
    """A whole number."""

    least: int = 1
    most: int = LARGEST

    def check(self, place: str, text: str) -> None:
        """Raise UsageError unless the text is a whole number within the bounds."""
        whole(place, text, self.least, self.most)

    def shown(self) -> tuple[str, ...]:
        """Return a description of the values."""
        return ("a number",)


@dataclass(frozen=True, slots=True)
class Text(Values):
    """Text that is only checked when the model is loaded.

    Arguments:
        examples: example values, in Markdown.
    """

    examples: tuple[str, ...]

    def check(self, place: str, text: str) -> None:
        """Accept any text."""

    def shown(self) -> tuple[str, ...]:
        """Return the examples."""
        return self.examples


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a model family.

    Arguments:
        name: the option as written in a model's name.
        values: its possible values.
        default: its default; empty if that depends on the model or the machine.
        help: its meaning, in Markdown.
        effect: what it affects.
        depends: description of a default that depends on the model or the machine.
        loading: whether it is about loading weights, and so is invalid for a model already in memory.
        always_named: whether it is part of the canonical name even if it was not given.
        gaps_only: whether it only affects filled gaps.
        texts_only: whether it only affects scored texts.
    """

    name: str
    values: Values
    default: str
    help: str
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

    def check(self, text: str) -> None:
        """Check a value of the option.

        Raises:
            UsageError: the value is invalid.
        """
        self.values.check(f"model option {self.name}", text)

    def meaning(self) -> str:
        """Return the help of the option and of its values, in Markdown."""
        values = self.values.values if isinstance(self.values, Choice) else ()
        return " ".join(
            [self.help, "; ".join(f"`{value.name}`: {value.meaning()}" for value in values if value.help)]
        ).strip()


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
