"""Measures that users can name, as `NAME` or `NAME(option=value, ...)`.

A measure is defined in the module NAME of this folder, or by another package as an entry point NAME of the group
`syntagm.measures`. It is a frozen dataclass derived from `Measure`; its fields are the options.
"""

import dataclasses
import inspect
from typing import Any

from syntagm.core import UsageError, did_you_mean, registry, settings
from syntagm.evaluation.measure import Measure
from syntagm.evaluation.result import Kind


def names() -> list[str]:
    """List the measures that can be named.

    >>> "surprisal" in names()
    True
    """
    return registry.names("measures")


def parse(text: str) -> Measure:
    """Parse a measure from its name and options.

    Raises:
        UsageError: there is no such measure or option, an option is missing, or a value is not allowed.

    >>> str(parse("surprisal(condition=good, region=verb)"))
    'surprisal(condition=good,region=verb)'
    """
    name, texts = settings.called(text, "measure")
    kind = _find(name)
    measure: Measure = kind(**settings.read(settings.of_fields(kind), texts, f"measure {text}"))
    return measure


def _find(name: str) -> Any:
    if name not in (known := names()):
        raise UsageError("measure", f"no such name: {name!r}", "one of " + ", ".join(known), did_you_mean(name, known))
    found = registry.find("measures", name)
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
            f"measure {name}", f"{kind!r}", "a frozen dataclass derived from syntagm.evaluation.measure.Measure"
        )
    if not isinstance(getattr(kind, "kind", None), Kind):
        expected = "kind: ClassVar[Kind], one of " + ", ".join(f"Kind.{member.name}" for member in Kind)
        raise UsageError(f"measure {name}", "no kind of its values", expected)
    return kind
