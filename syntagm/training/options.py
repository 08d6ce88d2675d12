"""Options of trainings, declared as fields of their settings: the command line, experiments and refusals read them there.

    @dataclass(frozen=True, slots=True)
    class Size:
        layers: int = option("layers", 2)

    @dataclass(frozen=True, slots=True)
    class Settings:
        size: Size = part(MODEL, Size())

declares `--layers`. Its default is that of the family's settings, which may differ from that of the class.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from syntagm.errors import UsageError

# The titles under which `--help` lists options.
TRAINING, MODEL = "training", "model and text"
_OPTION, _PART = "option", "part"

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a training.

    Arguments:
        field: the field of the settings that it sets.
        name: its spelling on the command line, without dashes.
        kind: the type of its value, or of each of its values.
        several: does it take several values?
        choices: the values it may have; empty for any.
        default: its value unless it is given.
        help: what it says, in a few words.
        metavar: what stands for its value in `--help`.
        group: the title under which `--help` lists it; "" for none.
    """

    field: str
    name: str
    kind: type
    several: bool
    choices: tuple[str, ...]
    default: Any
    help: str
    metavar: str
    group: str


def option(help: str, default: Any = MISSING, *, name: str = "", metavar: str = "", group: str = "") -> Any:
    """Declare a field of settings as an option.

    Arguments:
        help: what it says, in a few words; the default is added.
        default: of the field; none: it has to be given.
        name: its spelling, if it is not that of the field with hyphens.
        metavar: what stands for its value in `--help`, if not its name in capitals.
        group: its title in `--help`, if it is no field of a part.
    """
    declared = {"help": help, "name": name, "metavar": metavar, "group": group}
    return field(default=default, metadata={_OPTION: declared})


def part(title: str, default: Any) -> Any:
    """Declare a field of settings as a part of them, with options of its own.

    Arguments:
        title: under which `--help` lists its options; "" for none.
        default: the part with the defaults of the family.
    """
    return field(default=default, metadata={_PART: title})


def options(settings: object) -> tuple[Option, ...]:
    """List the options of a family's settings; their values there are the defaults."""
    return tuple(_options(settings, ""))


def _options(settings: Any, group: str) -> Iterator[Option]:
    hints = get_type_hints(type(settings))
    for one in fields(settings):
        value = getattr(settings, one.name)
        if _PART in one.metadata:
            yield from _options(value, one.metadata[_PART])
        elif _OPTION in one.metadata:
            declared, hint = one.metadata[_OPTION], hints[one.name]
            several = get_origin(hint) is tuple
            kind = get_args(hint)[0] if several else hint
            choices = get_args(kind) if get_origin(kind) is Literal else ()
            yield Option(
                one.name, declared["name"] or one.name.replace("_", "-"), str if choices else kind, several, choices, value,
                declared["help"], declared["metavar"], declared["group"] or group,
            )  # fmt: skip


def changed(settings: S, values: Mapping[str, object], place: str = "") -> S:
    """Return settings with other values of some fields, whatever part they are in; values of no field are passed over.

    Arguments:
        place: what stands before the name of a field in a refusal.

    Raises:
        UsageError: a value that can't be taken.
    """
    made: Any = settings
    hints = get_type_hints(type(settings))
    changes: dict[str, object] = {}
    for one in fields(made):
        if _PART in one.metadata:
            changes[one.name] = changed(getattr(made, one.name), values, place)
        elif one.name in values:
            changes[one.name] = value = values[one.name]
            # A name that no training knows would be read as one of those it knows.
            if get_origin(hints[one.name]) is Literal and value not in get_args(hints[one.name]):
                expected = "one of " + ", ".join(get_args(hints[one.name]))
                raise UsageError(f"{place}{one.name}", repr(value), expected)
    return replace(made, **changes)  # type: ignore[no-any-return]


def refuse_small(settings: object, *names: str) -> None:
    """Refuse a setting below 1.

    Raises:
        UsageError: the first that is.
    """
    for name in names:
        if (value := getattr(settings, name)) < 1:
            raise UsageError(name, str(value), "at least 1")
