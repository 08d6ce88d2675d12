"""Language models that are classes in a Python file.

`python:FILE.py` runs the file, if that is allowed, in a process of its own: it can neither stop Syntagm nor print among its
output, and it is treated as any other program. An object of such a class that is already in memory answers where it is.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.core import ModelError
from syntagm.models.program.answers import KEYS
from syntagm.models.program.model import ProgramModel, Start, refuse_unless_allowed, sources
from syntagm.models.python import serve
from syntagm.models.python.family import FAMILY


def check(name: str, path: str, chosen: Mapping[str, str], allow_exec: bool = False) -> None:
    """Refuse a program without permission, and a file that does not exist; see `Family.checks`."""
    refuse_unless_allowed(place := f"{name}:{path}", allow_exec)
    if not Path(path).is_file():
        raise ModelError(place, "no such file", "a Python file with a class that has the method score")


def load(path: str, allow_exec: bool = False, **options: str) -> ProgramModel:
    """Start the class in the file `path`."""
    place, file = f"python:{path}", Path(path).resolve()
    check(FAMILY.name, path, FAMILY.choose(options), allow_exec)
    try:
        digest = sources(Start([file.name], file.parent))
    except OSError as error:
        raise ModelError(place, f"the file can't be read ({error.strerror})", "a readable file") from None
    return ProgramModel(FAMILY, place, Start([sys.executable, serve.__file__, str(file), *KEYS], file.parent), digest)


def of_object(own: Any) -> ProgramModel:
    """Return the model that an object in memory is. Its attributes and answers are those of the class in a file."""
    # Nothing is known of what its numbers depend on besides the fingerprint that it states.
    place = f"an object of the class {type(own).__name__}"
    return ProgramModel(FAMILY, place, Start([], Path()), "in memory", _InMemory(own, place))


class _InMemory:
    """An object that is asked where it is; `Process` explains the methods."""

    running = True

    def __init__(self, own: Any, place: str) -> None:
        self._own, self._place = own, place

    def ask(self, request: Mapping[str, Any], subject: str) -> dict[str, Any]:
        try:
            reply = serve.answer(self._own, request, KEYS)
            # As between processes: arrays and tensors become lists.
            plain: dict[str, Any] = json.loads(json.dumps(reply, default=serve.plain), parse_constant=_undefined)
        except Exception as error:
            raise self.refused(f"{type(error).__name__}: {error}", f"an answer to {subject}") from error
        return plain

    def refused(self, found: str, expected: str, cure: str = "") -> ModelError:
        return ModelError(self._place, found, expected, cure)


def _undefined(name: str) -> None:
    """Read nan as None, which JSON has; refuse infinite numbers."""
    if name != "NaN":
        raise ValueError(f"an infinite number ({name})")
