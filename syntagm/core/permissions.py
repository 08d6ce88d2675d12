"""Permissions to read pickles, to start programs, and to run code that comes with a model.

Only the user gives them: as options of the command line, or as arguments in Python. They are never part of a name, a
pattern, a file or a record, because those may come from somebody else.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields

from syntagm.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the user permits besides reading data.

    Arguments:
        allow_pickle: load pickled weights, which can run arbitrary code, and read pickled suites without running them.
        allow_exec: start the program of a model.
        trust_remote_code: run Python code that comes with a model.

    Raises:
        UsageError: a value is neither True nor False; any text, even "no", would count as true.
    """

    allow_pickle: bool = False
    allow_exec: bool = False
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        for name in NAMES:
            if not isinstance(value := getattr(self, name), bool):
                raise UsageError(f"the permission {name}", repr(value), "True or False")

    def only(self, names: Collection[str]) -> dict[str, bool]:
        """Return some of the permissions as keyword arguments.

        >>> Permissions(allow_pickle=True).only(["allow_pickle"])
        {'allow_pickle': True}
        """
        return {name: getattr(self, name) for name in NAMES if name in names}

    @property
    def flags(self) -> list[str]:
        """The options of the command line that give these permissions."""
        return [flag(name) for name in NAMES if getattr(self, name)]


NAMES = tuple(field.name for field in fields(Permissions))
HELP = {
    "allow_pickle": "load pickled weights, which can run arbitrary code; read pickled suites, without running them",
    "allow_exec": "start the program of a model (exec:, python:)",
    "trust_remote_code": "run Python code that comes with the model",
}
NONE = Permissions()
# transformers and its users write the permission in several ways.
_SYNONYMS = {"remote_code": "trust_remote_code"}


def flag(name: str) -> str:
    """Return the option of the command line that gives a permission.

    >>> flag("allow_pickle")
    '--allow-pickle'
    """
    return f"--{name.replace('_', '-')}"


def of_flags(flags: Collection[str]) -> Permissions:
    """Return the permissions that options of the command line give.

    >>> of_flags(["--allow-exec"]).only(NAMES)
    {'allow_pickle': False, 'allow_exec': True, 'trust_remote_code': False}
    """
    return Permissions(*(flag(name) in flags for name in NAMES))


def how_to_give(name: str) -> str:
    """Return how the user gives a permission.

    >>> how_to_give("allow_exec")
    'On the command line: --allow-exec; in Python: allow_exec=True.'
    """
    return f"On the command line: {flag(name)}; in Python: {name}=True."


def refuse(place: str, options: Iterable[str]) -> None:
    for option in options:
        name = option.strip().lower().replace("-", "_")
        if (name := _SYNONYMS.get(name, name)) in NAMES:
            raise UsageError(place, f"the permission {option!r} in a name", "a name without it", how_to_give(name))
