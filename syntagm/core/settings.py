"""Settings: what users set by name, declared once, and read from text in one way wherever it is written.

    demo?bos=no&batch=8, local:2?threads=1      ADDRESS?NAME=VALUE&NAME=VALUE, of a model, an executor, a corpus: `asked`
    table scores runs/a wide=yes                NAME=VALUE, of a view
    --measure 'surprisal(condition=good)'       NAME(NAME=VALUE, ...), of a measure: `called`
    train lstm --hidden 64 --dtype bf16         flags, of training

A `Setting` has a name, its possible `Values`, a default and a help text. Families of models write it as a record, with
what it affects (`models.family`). Elsewhere, a parameter or a field declares it: its annotation has the type, and may
have a help text.

    measure: Annotated[str, "name of a prediction"] = "first"                      any text
    wide: Annotated[bool, "one column for each model"] = False                     yes or no; also on, off, true, false
    less: float = 0.0                                                              a number
    scale: Annotated[Literal["log", "linear"], "scale of the axis"] = "log"        one of the values
    series: Annotated[tuple[str, ...], "names of the curves"] = ()                 separated by commas
    limit: Annotated[int | None, Reader("number of items, or `all`", count)]       read by `count`

Values that people know by other names may be written so: `bfloat16` is `bf16`. What is recorded is the name here.
"""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

from syntagm.core import renames
from syntagm.core.errors import UsageError

LARGEST = 10**12
_CALL = re.compile(r"(?P<name>\w+)(?:\((?P<settings>.*)\))?", re.DOTALL)
_PAIR = re.compile(r"\s*(?P<key>\w+)\s*=\s*(?P<value>[^,]*?)\s*(?:,|$)")
# The name of a value -> what else people write for it.
_ALSO = {
    "yes": ("on", "true"),
    "no": ("off", "false"),
    "f16": ("float16", "fp16"),
    "bf16": ("bfloat16",),
    "f32": ("float32", "fp32"),
    "f64": ("float64", "fp64"),
}


def whole(place: str, text: str, least: int = 1, most: int = LARGEST, also: str = "") -> int:
    """Parse an integer from `least` to `most`, written in digits.

    >>> whole("--items", "20", least=0)
    20
    """
    # `also`: further values that the caller accepts, for the message.
    if not re.fullmatch("[0-9]{1,18}", text) or not least <= int(text) <= most:
        raise UsageError(
            place, f"{text!r:.60}", f"a whole number from {least:,} to {most:,}" + (f", or {also}" if also else "")
        )
    return int(text)


class Values(ABC):
    """The possible values of a setting: what users may write, and what it stands for."""

    @abstractmethod
    def read(self, place: str, text: str) -> Any:
        """Return the value that a text stands for.

        Arguments:
            place: where it was written, for the message.
            text: the text.

        Raises:
            UsageError: it stands for no value.
        """

    def canonical(self, text: str) -> str:
        """Return the text by which the same value is recorded; other texts than synonyms are returned as they are."""
        return text

    @property
    def texts(self) -> tuple[str, ...]:
        """What may be written, without synonyms; empty if there is too much to list."""
        return ()

    def written(self, value: Any) -> str:
        """Return a value as a user would write it."""
        return str(value)

    def shown(self) -> tuple[str, ...]:
        """Return the values, or a description of them, in Markdown, for tables."""
        return tuple(f"`{name}`" for name in self.texts)


@dataclass(frozen=True, slots=True)
class Value:
    """A value with a name."""

    name: str  # the value as it is written and recorded
    help: str = ""  # its meaning, in Markdown; empty if the help of the setting explains it


@dataclass(frozen=True)
class Choice(Values):
    values: tuple[Value, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.values)

    def canonical(self, text: str) -> str:
        """Return the name of the value that a text stands for; a text that stands for none is returned as it is."""
        meant = (name for name in self.texts if text in _ALSO.get(name, ()))
        return text if text in self.texts else next(meant, text)

    def read(self, place: str, text: str) -> Any:
        if (name := self.canonical(text)) not in self.texts:
            expected = " or ".join(self.texts) if len(self.texts) == 2 else "one of " + ", ".join(self.texts)
            raise UsageError(place, repr(text), expected)
        return name


@dataclass(frozen=True)
class Truth(Choice):
    """Yes or no, as True or False."""

    values: tuple[Value, ...] = (Value("yes"), Value("no"))

    def read(self, place: str, text: str) -> bool:
        return bool(super().read(place, text) == "yes")

    def written(self, value: Any) -> str:
        return "yes" if value else "no"


@dataclass(frozen=True)
class Whole(Values):
    least: int = 1  # `least`, `most`: the smallest and the largest; see `whole`
    most: int = LARGEST

    def read(self, place: str, text: str) -> int:
        return whole(place, text, self.least, self.most)

    def shown(self) -> tuple[str, ...]:
        return ("a number",)


@dataclass(frozen=True)
class Number(Values):
    """Any number that Python can read."""

    kind: type[int] | type[float]

    def read(self, place: str, text: str) -> float:
        try:
            return self.kind(text)
        except ValueError:
            raise UsageError(place, repr(text), "a whole number" if self.kind is int else "a number") from None


@dataclass(frozen=True)
class Text(Values):
    examples: tuple[str, ...] = ()  # example values, in Markdown

    def read(self, place: str, text: str) -> str:
        return text

    def shown(self) -> tuple[str, ...]:
        return self.examples


@dataclass(frozen=True)
class Several(Values):
    """Several values, separated by commas."""

    of: Values

    def read(self, place: str, text: str) -> tuple[Any, ...]:
        return tuple(self.of.read(place, part.strip()) for part in text.split(",")) if text else ()

    def written(self, value: Any) -> str:
        return ",".join(map(self.of.written, value)) if isinstance(value, Sequence) else ""


@dataclass(frozen=True)
class Reader(Values):
    """Values that a function reads."""

    help: str  # one line of help text
    function: Callable[[str], object]  # function from text to the value; it may raise UsageError
    default: str = ""  # the default as a user would write it; empty if there is none

    def read(self, place: str, text: str) -> object:
        """Return the value. What the function says of the place, if it says more than the setting, follows `place`."""
        try:
            return self.function(text)
        except UsageError as error:
            more = "" if error.place.endswith("=") else f", {error.place}"
            raise UsageError(f"{place}{more}", error.found, error.expected, error.cure) from None


@dataclass(frozen=True)
class _Unwritable(Values):
    kind: Any

    def read(self, place: str, text: str) -> Any:
        raise UsageError(place, f"the type {self.kind}", "bool, int, float, str, Literal[...] or tuple[str, ...]")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting.

    Arguments:
        name: the name before `=`.
        values: its possible values.
        default: the default as a user would write it; empty if there is none.
        help: its meaning, in Markdown.
        required: whether it must be given.
    """

    name: str
    values: Values
    default: str = ""
    help: str = ""
    required: bool = False

    def read(self, text: str, place: str = "") -> Any:
        """Return the value that a text stands for.

        Arguments:
            place: what it is a setting of, for the message.

        Raises:
            UsageError: it stands for no value.
        """
        return self.values.read(f"{place}, {self.name}=" if place else f"{self.name}=", text)


def of_parameters(function: Callable[..., Any]) -> tuple[Setting, ...]:
    """List the settings of a function, which are the parameters after its first."""
    hints = get_type_hints(function, include_extras=True)
    parameters = [*inspect.signature(function).parameters.values()][1:]
    return tuple(of_annotation(each.name, hints[each.name], each.default, each.empty) for each in parameters)


def of_fields(kind: type[Any]) -> tuple[Setting, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(of_annotation(each.name, hints[each.name], _default(each), MISSING) for each in fields(kind))


def of_annotation(name: str, hint: Any, default: object, empty: object = MISSING) -> Setting:
    """Return the setting that a parameter or a field declares.

    >>> of_annotation("wide", Annotated[bool, "one column for each model"], False).default
    'no'
    """
    kind, said = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, "")
    values = said if isinstance(said, Values) else _values_of(_without_none(kind))
    help = said if isinstance(said, str) else getattr(values, "help", "")
    written = getattr(values, "default", "") or ("" if default is empty or default is None else values.written(default))
    return Setting(name, values, written, help, required=default is empty)


def read(settings: Iterable[Setting], texts: Mapping[str, str], place: str) -> dict[str, Any]:
    known = {setting.name: setting for setting in settings}
    texts = renames.renewed(renames.OPTION, texts, known, place)
    if unknown := [name for name in texts if name not in known]:
        expected = "one of " + ", ".join(f"{name}=" for name in sorted(known)) if known else "no options"
        raise UsageError(place, f"no option {unknown[0]!r}", expected)
    if missing := [name for name, setting in known.items() if setting.required and name not in texts]:
        listed = ", ".join(known[missing[0]].values.texts)
        raise UsageError(place, f"no {missing[0]}=", f"{missing[0]}=VALUE" + (f", one of {listed}" if listed else ""))
    return {name: known[name].read(text, place) for name, text in texts.items()}


def called(text: str, place: str) -> tuple[str, dict[str, str]]:
    """Split NAME or NAME(NAME=VALUE, ...) into the name and the settings.

    >>> called("surprisal(condition=good, region=*)", "measure")
    ('surprisal', {'condition': 'good', 'region': '*'})
    """
    if not (call := _CALL.fullmatch(text.strip())):
        raise UsageError(place, repr(text), "NAME or NAME(option=value, ...)")
    inside, settings, position = call["settings"] or "", dict[str, str](), 0
    while position < len(inside):
        pair = _PAIR.match(inside, position)
        if not pair or pair["key"] in settings:
            found = repr(inside[position:])
            raise UsageError(f"{place} {text}", found, "option=value, ... with each option once")
        settings[pair["key"]] = pair["value"]
        position = pair.end()
    return call["name"], settings


def asked(text: str, place: str) -> tuple[str, dict[str, str]]:
    """Split ADDRESS or ADDRESS?NAME=VALUE&NAME=VALUE into the address and the settings; `%20` stands for a blank.

    >>> asked("org/name@main?bos=no&batch=8", "model")
    ('org/name@main', {'bos': 'no', 'batch': '8'})
    """
    address, _, query = text.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise UsageError(f"{place} {text}", f"options {query!r}", "option=value&option=value") from None
    if len(settings := dict(pairs)) < len(pairs):
        raise UsageError(f"{place} {text}", "an option given twice", "each option once")
    return address, settings


def _values_of(kind: Any) -> Values:
    if kind is bool:
        return Truth()
    if get_origin(kind) is tuple:
        return Several(_values_of(get_args(kind)[0]))
    if get_origin(kind) is Literal:
        return Choice(tuple(map(Value, get_args(kind))))
    if kind in (int, float):
        return Number(kind)
    return Text() if kind is str else _Unwritable(kind)


def _default(field: "Field[Any]") -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _without_none(kind: Any) -> Any:
    """Return a type without `None`: a user leaves the setting out instead."""
    if get_origin(kind) in (Union, UnionType):
        kinds = [member for member in get_args(kind) if member is not NoneType]
        return kinds[0] if len(kinds) == 1 else kind
    return kind
