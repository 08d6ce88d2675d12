"""Settings: what users set by name, with its type, default and help, read from text in one way wherever it is written.

    table scores runs/a wide=yes                NAME=VALUE, of a view
    --measure 'surprisal(condition=good)'       NAME(NAME=VALUE, ...), of a measure: `called`
    demo?bos=no&batch=8, local:2?threads=1      ADDRESS?NAME=VALUE&NAME=VALUE, of a model, an executor, a corpus: `asked`

The last is only split here: options of models are declared in `models.option`, those of training in `training.options`.

A setting is declared by a parameter or a field, whose annotation has the type and may have a help text:

    measure: Annotated[str, "name of a prediction"] = "first"                      any text
    wide: Annotated[bool, "one column for each model"] = False                     yes or no; also on, off, true, false
    less: float = 0.0                                                              a number
    scale: Annotated[Literal["log", "linear"], "scale of the axis"] = "log"        one of the values
    series: Annotated[tuple[str, ...], "names of the curves"] = ()                 separated by commas
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

from syntagm.errors import UsageError

_CALL = re.compile(r"(?P<name>\w+)(?:\((?P<settings>.*)\))?", re.DOTALL)
_PAIR = re.compile(r"\s*(?P<key>\w+)\s*=\s*(?P<value>[^,]*?)\s*(?:,|$)")
# What people write for yes and no.
_TRUTHS = {"yes": True, "no": False, "on": True, "off": False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting.

    Arguments:
        name: the name before `=`.
        default: the default as a user would write it; empty if there is none.
        help: one line of help text.
        values: the allowed values; empty if there are too many to list.
        read: text -> value; it raises UsageError.
        required: whether it must be given.
    """

    name: str
    default: str
    help: str
    values: tuple[str, ...]
    read: Callable[[str], Any]
    required: bool = False


def of_parameters(function: Callable[..., Any]) -> tuple[tuple[Setting, Any], ...]:
    """List the settings of a function after its first parameter; beside each is what its annotation says of it."""
    hints = get_type_hints(function, include_extras=True)
    parameters = [*inspect.signature(function).parameters.values()][1:]
    return tuple(_declared(each.name, hints[each.name], each.default, each.empty) for each in parameters)


def of_fields(kind: type[Any]) -> tuple[Setting, ...]:
    """List the settings that are the fields of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_declared(each.name, hints[each.name], _default(each), MISSING)[0] for each in fields(kind))


def values(settings: Iterable[Setting], texts: Mapping[str, str], place: str) -> dict[str, Any]:
    """Read the settings that a user has given.

    Arguments:
        texts: name -> text.
        place: what they are settings of, for error messages.

    Raises:
        UsageError: there is no such setting, one is missing, or a value is not allowed.
    """
    known = {setting.name: setting for setting in settings}
    if unknown := [name for name in texts if name not in known]:
        expected = "one of " + ", ".join(f"{name}=" for name in sorted(known)) if known else "no options"
        raise UsageError(place, f"no option {unknown[0]!r}", expected)
    if missing := [name for name, setting in known.items() if setting.required and name not in texts]:
        raise UsageError(place, f"no {missing[0]}=", f"{missing[0]}=VALUE")
    return {name: _read(known[name], text, place) for name, text in texts.items()}


def _read(setting: Setting, text: str, place: str) -> Any:
    try:
        return setting.read(text)
    except UsageError as error:
        raise UsageError(f"{place}, {error.place}", error.found, error.expected, error.cure) from None


def called(text: str, place: str) -> tuple[str, dict[str, str]]:
    """Split NAME or NAME(NAME=VALUE, ...) into the name and the settings.

    Raises:
        UsageError: it is something else, or a setting is given twice.

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

    Raises:
        UsageError: what follows the question mark is something else, or a setting is given twice.

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


def one_of(name: str, values: Mapping[str, object], shown: Iterable[str] = ()) -> Callable[[str], object]:
    """Return a reader of texts that stand for values.

    Arguments:
        name: the setting, for error messages.
        shown: the texts that a message names; by default all.
    """
    texts = [*shown] or [*values]

    def read(text: str) -> object:
        if text not in values:
            expected = " or ".join(texts) if len(texts) == 2 else "one of " + ", ".join(texts)
            raise UsageError(f"{name}=", repr(text), expected)
        return values[text]

    return read


def _declared(name: str, hint: Any, default: object, empty: object) -> tuple[Setting, Any]:
    kind, said = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, "")
    help, required = said if isinstance(said, str) else "", default is empty
    default, kind = "" if required or default is None else default, _plain(kind)
    if kind is bool:
        read = one_of(name, _TRUTHS, ("yes", "no"))
        return Setting(name, "yes" if default else "no", help, ("yes", "no"), read, required), said
    if get_origin(kind) is tuple:
        return Setting(name, ",".join(default if isinstance(default, tuple) else ()), help, (), _list, required), said
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        read = one_of(name, {choice: choice for choice in choices})
        return Setting(name, str(default or ""), help, choices, read, required), said
    if kind in (int, float):
        return Setting(name, str(default), help, (), _number(name, kind), required), said
    read = str if kind is str or not isinstance(said, str) else _nothing_of(name, kind)
    return Setting(name, str(default), help, (), read, required), said


def _default(field: "Field[Any]") -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _plain(kind: Any) -> Any:
    """Return a type without `None`: a user leaves the setting out instead."""
    if get_origin(kind) in (Union, UnionType):
        kinds = [member for member in get_args(kind) if member is not NoneType]
        return kinds[0] if len(kinds) == 1 else kind
    return kind


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()


def _nothing_of(name: str, kind: Any) -> Callable[[str], object]:
    def read(text: str) -> object:
        raise UsageError(f"{name}=", f"the type {kind}", "bool, int, float, str, Literal[...] or tuple[str, ...]")

    return read


def _number(name: str, kind: type) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return kind(text)
        except ValueError:
            raise UsageError(f"{name}=", repr(text), "a whole number" if kind is int else "a number") from None

    return read
