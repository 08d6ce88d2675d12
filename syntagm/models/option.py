"""Options of a model family: names, values, defaults, and what they change.

A family declares each of its options once, as a record. What may stand in a model's name, the canonical name, the scoring
settings of signatures and fingerprints, help, the tables in the documentation, the methods paragraph and its citations derive
from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from syntagm.errors import UsageError
from syntagm.io.number import LARGEST, whole

# What an option changes. `scoring`: numbers; it stands in the canonical name and in signatures. `source`: which numbers are
# read; it stands in the canonical name only. `speed`: where or how fast they are computed. `permission`: what may be run as you.
Effect = Literal["scoring", "source", "speed", "permission"]


@dataclass(frozen=True, slots=True)
class Value:
    """One of the values that an option can have.

    Arguments:
        name: as it stands in a model's name.
        help: what it means, in Markdown; empty if the option's help says it.
        words: how a methods paragraph calls it; empty: by its name.
        references: keys of the bibliography, of what it rests on.
    """

    name: str
    help: str = ""
    words: str = ""
    references: tuple[str, ...] = ()


class Values(ABC):
    """What an option can be."""

    @abstractmethod
    def check(self, place: str, text: str) -> None:
        """Refuse what the option can't be.

        Raises:
            UsageError: `text` is no value of the option `place`.
        """

    @abstractmethod
    def shown(self) -> tuple[str, ...]:
        """Return the values as they are written, or what they are, for help and tables."""

    def known(self, name: str) -> Value | None:
        """Return what is said of a value, if anything."""
        return None


@dataclass(frozen=True, slots=True)
class Choice(Values):
    """One of several values."""

    values: tuple[Value, ...]

    def check(self, place: str, text: str) -> None:
        """Refuse any other value."""
        if text not in (names := [value.name for value in self.values]):
            raise UsageError(place, repr(text), "one of " + ", ".join(names))

    def shown(self) -> tuple[str, ...]:
        """Return the names of the values."""
        return tuple(f"`{value.name}`" for value in self.values)

    def known(self, name: str) -> Value | None:
        """Return the value of that name."""
        return next((value for value in self.values if value.name == name), None)


@dataclass(frozen=True, slots=True)
class Whole(Values):
    """A whole number."""

    least: int = 1
    most: int = LARGEST

    def check(self, place: str, text: str) -> None:
        """Refuse what is no whole number within the bounds."""
        whole(place, text, self.least, self.most)

    def shown(self) -> tuple[str, ...]:
        """Return that it is a number."""
        return ("a number",)


@dataclass(frozen=True, slots=True)
class Text(Values):
    """Text that only the model can check when it is loaded, with some examples in Markdown."""

    examples: tuple[str, ...]

    def check(self, place: str, text: str) -> None:
        """Refuse nothing."""

    def shown(self) -> tuple[str, ...]:
        """Return the examples."""
        return self.examples


@dataclass(frozen=True, slots=True)
class Option:
    """An option in the name of a model.

    Arguments:
        name: as it stands in a model's name.
        values: what it can be.
        default: the value if none is given; empty if that depends on the model or the machine.
        help: what it means, in Markdown.
        effect: what it changes.
        depends: the default in words, where it depends on something.
        loading: is it about loading weights, so that a model already in memory can't be given it?
        always_named: does it stand in the canonical name even where it was not given?
        gaps_only: does it matter only where a gap is filled?
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

    @property
    def in_name(self) -> bool:
        """Does it stand in the canonical name?"""
        return self.effect in ("scoring", "source")

    def check(self, text: str) -> None:
        """Refuse what the option can't be.

        Raises:
            UsageError: another value was given.
        """
        self.values.check(f"model option {self.name}", text)

    def meaning(self) -> str:
        """Return the help, and that of the values that have their own, in Markdown."""
        values = self.values.values if isinstance(self.values, Choice) else ()
        return " ".join(
            [self.help, "; ".join(f"`{value.name}`: {value.help}" for value in values if value.help)]
        ).strip()


@dataclass(frozen=True, slots=True)
class Fixed:
    """A scoring setting that is the same for all models of a family: it stands in signatures, and can't be chosen."""

    name: str
    value: Value


def choice(names: Iterable[str]) -> Choice:
    """Return a choice between values that the option's help explains.

    >>> choice(["no", "yes"]).shown()
    ('`no`', '`yes`')
    """
    return Choice(tuple(map(Value, names)))


NO_YES, YES_NO = choice(["no", "yes"]), choice(["yes", "no"])
DEVICE = Option(
    "device", Text(("`auto`", "`cpu`", "`cuda`", "`cuda:1`", "...")), "auto",
    "where to compute. `auto`: on a graphics card if there is one", effect="speed", loading=True,
)  # fmt: skip
