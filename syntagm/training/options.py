"""Declarations of training options as fields of dataclasses: settings (`syntagm.core.settings`) that are flags of `train`.

    @dataclass(frozen=True, slots=True)
    class Size:
        layers: int = option("layers", 2)

    @dataclass(frozen=True, slots=True)
    class Settings:
        size: Size = part(MODEL, Size())

declares `--layers`. Its default is the value in the family's settings, which may differ from the default of the class.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, TypeVar, get_type_hints

from syntagm.core import Choice, Setting, UsageError, of_annotation

# The titles under which `--help` lists options.
TRAINING, MODEL = "training", "model and text"
_OPTION, _PART = "option", "part"

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Flag(Setting):
    """A training option: a setting, and how the command line shows it. Its name is that of the field."""

    flag: str = ""  # the name on the command line, without dashes
    value: Any = None  # the value if the option is not given
    metavar: str = ""  # the placeholder of the value in `--help`; "" for the flag in capitals
    group: str = ""  # the title under which `--help` lists the option; "" for none


def option(help: str, default: Any = MISSING, *, name: str = "", metavar: str = "", group: str = "") -> Any:
    """Declare a field of settings as an option."""
    declared = {"help": help, "name": name, "metavar": metavar, "group": group}
    return field(default=default, metadata={_OPTION: declared})


def part(title: str, default: Any) -> Any:
    """Declare a field of settings that contains further settings with their own options."""
    return field(default=default, metadata={_PART: title})


def options(settings: object) -> tuple[Flag, ...]:
    """List the options of a family's settings, with the values of the settings as defaults."""
    return tuple(_options(settings, ""))


def _options(settings: Any, group: str) -> Iterator[Flag]:
    hints = get_type_hints(type(settings), include_extras=True)
    for item in fields(settings):
        value = getattr(settings, item.name)
        if _PART in item.metadata:
            yield from _options(value, item.metadata[_PART])
        elif _OPTION in item.metadata:
            declared, setting = item.metadata[_OPTION], of_annotation(item.name, hints[item.name], value)
            yield Flag(
                setting.name, setting.values, setting.default, declared["help"], False,
                declared["name"] or item.name.replace("_", "-"), value, declared["metavar"], declared["group"] or group,
            )  # fmt: skip


def changed(settings: S, values: Mapping[str, object], place: str = "") -> S:
    """Return a copy of settings with new values for some fields, in any part of the settings."""
    original: Any = settings
    hints = get_type_hints(type(settings), include_extras=True)
    changes: dict[str, object] = {}
    for item in fields(original):
        if _PART in item.metadata:
            changes[item.name] = changed(getattr(original, item.name), values, place)
        elif item.name in values:
            value, allowed = values[item.name], of_annotation(item.name, hints[item.name], None).values
            # An unknown name would otherwise be treated as one of the known ones.
            if isinstance(value, str) and isinstance(allowed, Choice):
                value = allowed.read(f"{place}{item.name}", value)
            changes[item.name] = value
    return replace(original, **changes)  # type: ignore[no-any-return]


def refuse_small(settings: object, *names: str) -> None:
    """Refuse a setting below 1."""
    for name in names:
        if (value := getattr(settings, name)) < 1:
            raise UsageError(name, str(value), "at least 1")
