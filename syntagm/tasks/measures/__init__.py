"""Measures that users can name, as `NAME` or `NAME(option=value, ...)`.

A measure is defined in the module NAME of this folder, or by another package as an entry point NAME of the group
`syntagm.measures`. It is a frozen dataclass derived from `Measure`; its fields are the options.
"""

import dataclasses
import inspect
import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

from syntagm import registry
from syntagm.errors import UsageError
from syntagm.result import Kind
from syntagm.tasks.measure import Measure

_MEASURE = re.compile(r"(?P<name>\w+)(?:\((?P<options>.*)\))?", re.DOTALL)
_OPTION = re.compile(r"\s*(?P<key>\w+)\s*=\s*(?P<value>[^,]*?)\s*(?:,|$)")


def names() -> list[str]:
    """List the measures that can be named.

    >>> "surprisal" in names()
    True
    """
    return registry.names("tasks.measures")


def parse(text: str) -> Measure:
    """Parse a measure from its name and options.

    Raises:
        UsageError: there is no such measure or option, an option is missing, or a value is not allowed.

    >>> str(parse("surprisal(condition=good, region=verb)"))
    'surprisal(condition=good,region=verb)'
    """
    match = _MEASURE.fullmatch(text.strip())
    if not match:
        raise UsageError("measure", repr(text), "NAME or NAME(option=value, ...)")
    kind = _find(match["name"])
    values = _options(text, match["options"] or "")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if unknown := [key for key in values if key not in fields]:
        raise UsageError(f"measure {text}", f"no option {unknown[0]!r}", _listed(fields))
    required = [name for name, field in fields.items() if field.default is field.default_factory is dataclasses.MISSING]
    if missing := [name for name in required if name not in values]:
        raise UsageError(f"measure {text}", f"no {missing[0]}=", f"{missing[0]}=VALUE")
    types = get_type_hints(kind)
    measure: Measure = kind(**{key: _value(f"measure {text}", key, value, types[key]) for key, value in values.items()})
    return measure


def _find(name: str) -> Any:
    found = registry.find("tasks.measures", name)
    return _only(found, name) if inspect.ismodule(found) else _checked(found, name)


def _only(module: Any, name: str) -> Any:
    """Return the measure that a module defines; it must define exactly one."""
    kinds = [
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Measure) and member.__module__ == module.__name__
    ]
    if len(kinds) != 1:
        raise UsageError(f"measure {name}", f"{len(kinds)} measures in {module.__name__}", "one measure")
    return _checked(kinds[0], name)


def _checked(kind: Any, name: str) -> Any:
    if not (inspect.isclass(kind) and issubclass(kind, Measure) and dataclasses.is_dataclass(kind)):
        raise UsageError(
            f"measure {name}", f"{kind!r}", "a frozen dataclass derived from syntagm.tasks.measure.Measure"
        )
    if not isinstance(getattr(kind, "kind", None), Kind):
        expected = "kind: ClassVar[Kind], one of " + ", ".join(f"Kind.{member.name}" for member in Kind)
        raise UsageError(f"measure {name}", "no kind of its values", expected)
    return kind


def _options(place: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _OPTION.match(text, position)
        if not match or match["key"] in options:
            raise UsageError(f"measure {place}", repr(text[position:]), "option=value, ... with each option once")
        options[match["key"]] = match["value"]
        position = match.end()
    return options


def _value(place: str, key: str, text: str, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise UsageError(place, f"{key}={text}", "one of " + ", ".join(map(str, get_args(kind))))
        return text
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise UsageError(place, f"{key}={text}", f"{key}=NUMBER") from None
    if kind is not str:
        raise UsageError(place, f"an option of type {kind}", "str, int, float or Literal")
    return text


def _listed(fields: dict[str, Any]) -> str:
    return "one of " + ", ".join(f"{name}=" for name in fields) if fields else "no options"
