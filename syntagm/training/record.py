"""What a folder says of the training that ended in it, and the refusal of another training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.errors import RunError, UsageError
from syntagm.io import json

FILE = "training.json"


def finished(folder: Path, family: str = "") -> dict[str, Any] | None:
    """What `training.json` says of a training that has ended; None if none has ended here.

    Arguments:
        family: the family that the folder may be of; "" for any.

    Raises:
        UsageError: a model of another family.
        RunError: the file is damaged.
    """
    path = folder / FILE
    if not path.exists():
        return None
    made = json.record(path, RunError, "what a training wrote", "Choose another folder.")
    if family and made.get("family") != family:
        raise UsageError(str(folder), f"a model of the family {made.get('family')}", "a new folder")
    return made


def refuse_another(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse to go on with a training of other settings or another text; the first difference is named.

    Raises:
        RunError: a value of `wanted` is another in `found`.
    """
    for key, value in wanted.items():
        if (other := found.get(key)) != value:
            if isinstance(value, dict) and isinstance(other, dict):
                part = next(k for k in {**value, **other} if other.get(k) != value.get(k))
                key, other, value = f"{key}.{part}", other.get(part), value.get(part)
            raise RunError(
                str(folder), f"another training, with {key} = {other!r}", f"{key} = {value!r}",
                "Give the same command to go on with it, or choose another folder.",
            )  # fmt: skip


def refuse_small(options: object, *names: str) -> None:
    """Refuse an option below 1.

    Raises:
        UsageError: the first that is.
    """
    for name in names:
        if (value := getattr(options, name)) < 1:
            raise UsageError(name, str(value), "at least 1")
