"""Language models that are classes in a Python file.

`python:FILE.py` runs the file, if that is allowed, in a process of its own: it can neither stop Syntagm nor print among its
output, and it is treated as any other program.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from syntagm.errors import ModelError
from syntagm.models.program.answers import KEYS
from syntagm.models.program.model import ProgramModel, Start, refuse_unless_allowed, sources
from syntagm.models.python.family import FAMILY

_SERVE = str(Path(__file__).with_name("serve.py"))


def check(name: str, path: str, chosen: Mapping[str, str], allow_exec: bool = False) -> None:
    """Refuse a program without permission, and a file that does not exist; see `Family.checks`."""
    refuse_unless_allowed(place := f"{name}:{path}", allow_exec)
    if not Path(path).is_file():
        raise ModelError(place, "no such file", "a Python file with a class that has the method score")


def load(path: str, allow_exec: bool = False, **options: str) -> ProgramModel:
    """Start the class in the file `path`.

    Raises:
        UsageError: an option is invalid.
        ModelError: the permission is missing, there is no such file, or it has no class that can be started.
    """
    place, file = f"python:{path}", Path(path).resolve()
    check(FAMILY.name, path, FAMILY.choose(options), allow_exec)
    try:
        digest = sources(Start([file.name], file.parent))
    except OSError as error:
        raise ModelError(place, f"the file can't be read ({error.strerror})", "a readable file") from None
    return ProgramModel(FAMILY, place, Start([sys.executable, _SERVE, str(file), *KEYS], file.parent), digest)
